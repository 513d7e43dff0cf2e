"""Simulated protocol results with chosen win rates."""

from collections.abc import Callable, Mapping, Sequence

from tetrarchia_eval.protocol import FORMAT, Case, Declaration, PlayedCase, ProtocolResult, SplitName, load_protocol


def made_up_result(
    name: str,
    win_rate: Callable[[Case], float],
    agents: Mapping[str, str] | None = None,
    *,
    split: SplitName = "reporting",
    tracks: Sequence[str] = ("planning", "teamwork"),
    partners: Sequence[str] = (),
) -> ProtocolResult:
    """Return a result of v1 in which the first games of each case are won.

    Args:
        name: The declared name, and the agent if no others are given.
        win_rate: The share of games won in each case.
        agents: Fingerprints by agent.
        split: The split.
        tracks: The tracks.
        partners: Some of the partners; by default all.
    """
    definition = load_protocol("v1")
    known, agents = definition.split(split).partners, agents or {name: "0123456789ab"}
    chosen = {partner: known[partner] for partner in partners or known} if "teamwork" in tracks else {}
    games = {track: definition.tracks[track].games[split] for track in tracks}

    def played(case: Case) -> PlayedCase:
        total = games[case.track]
        won = round(win_rate(case) * total)
        return PlayedCase(**case._asdict(), outcomes="w" * won + "r" * (total - won), scores=(-10,) * total, turns=(99,) * total)

    return ProtocolResult(
        format=FORMAT,
        protocol="v1",
        protocol_digest=definition.digest,
        environment_digest=definition.environment_digest,
        split=split,
        first_seed=definition.split(split).first_seed,
        games=games,
        agents=dict(agents),
        partners=chosen,
        declaration=Declaration(name=name, search=False, timesteps=10, training_hours=1.5, teachers=(), training_runs=len(agents)),
        ms_per_decision=dict.fromkeys(games, 1.0),
        seconds_per_game=dict.fromkeys(games, 1.0),
        versions={},
        machine={},
        cases=tuple(map(played, definition.cases(agents, games, list(chosen)))),
    )
