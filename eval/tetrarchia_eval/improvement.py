"""How much a better choice of turns could still gain: `python -m tetrarchia_eval.improvement FILE AGENT LEVEL [GAMES]`.

In some turns of the agent's games, the candidate turns that its search would propose are played to the end of the game by its policy,
many times with the same dice. The best candidate and the turn that the policy plays are then compared with new dice, so that the
difference in games won, the gain, is not overestimated. To first order, the win rate of a policy that always played the best candidate
is higher by the sum of the gains over the turns of a game (Kakade and Langford, Approximately optimal approximate reinforcement learning,
ICML 2002). What it would still lose is left to the dice, to turns that are not proposed, and to plans over several turns.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from rich.progress import track

from tetrarchia_agents import TeamPolicy, make_agent
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_agents.rollouts import make_team
from tetrarchia_agents.turn_search import TurnSearch, distinct_candidates
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions, EnvIds
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import MAX_TURNS, Options
from tetrarchia_eval.result_files import read_json, write_json
from tetrarchia_eval.statistics import bootstrap_mean
from tetrarchia_eval.tables import Cell, Column, Table, percent, percentage_points

IMPROVEMENT_FILE = "improvement.json"  # in the folder of results
FIRST_SEED = 2_000_000  # different from the other results
DEFAULT_GAMES, TURNS_PER_GAME, CANDIDATES = 200, 4, 32
SELECTION_SAMPLES, COMPARISON_SAMPLES = 1, 2  # sets of 36 dice


class PlayedGame(Struct, frozen=True):
    """A game of the agent, and the gains in some of its turns, drawn at random."""

    won: bool
    turns: int
    gains: tuple[float, ...]

    @property
    def total_gain(self) -> float:
        """The estimated sum of the gains over all turns."""
        return self.turns * float(np.mean(self.gains))


class Improvement(Struct, frozen=True):
    """The gains of an agent at a level."""

    agent: str
    fingerprint: str
    level: str
    first_seed: int
    candidates: int
    games: tuple[PlayedGame, ...]


def measure(name: str, level: str, games: int = DEFAULT_GAMES) -> Improvement:
    """Play games of an agent and estimate the gains in some of their turns.

    Args:
        name: The agent, a checkpoint without search such as "ppo".
        level: The level.
        games: The number of games.

    Raises:
        TetrarchiaError: The agent is not a checkpoint with full information that plays without search.
    """
    agent = make_agent(name)
    if not isinstance(agent, PPOAgent) or agent.candidates or agent.local:
        raise TetrarchiaError(f"agent must be a checkpoint without search, such as ppo; got {name!r}")
    positions, masks, ended = play_turns(agent, level, range(FIRST_SEED, FIRST_SEED + games))
    search = replace(make_agent(f"{name}:candidates={CANDIDATES}").search, value_fn=batch.is_won, rollout_turns=MAX_TURNS)  # type: ignore[attr-defined]
    rng, played = np.random.default_rng(0), []
    for some, legal, won in track(zip(positions, masks, batch.is_won(ended), strict=True), f"{name} at {level}", total=games):
        chosen = rng.choice(len(some), min(TURNS_PER_GAME, len(some)), replace=False)
        gains = turn_gains(search, some[chosen], legal[chosen])
        played.append(PlayedGame(bool(won), len(some), tuple(np.round(gains, 4).tolist())))
    return Improvement(name, fingerprint(agent), level, FIRST_SEED, CANDIDATES, tuple(played))


def play_turns(agent: PPOAgent, level: str, seeds: Sequence[int]) -> tuple[list[Games], list[Masks], Games]:
    """Play one game per seed; return the positions at the beginning of each turn with their legal actions, and the final positions."""
    games, masks = batch.new_games(Options(level), np.array(seeds))
    policy, found = TeamPolicy(make_team(agent), len(games)), [list[tuple[Games, Masks]]() for _ in seeds]
    turns = np.full(len(games), -1)
    policy.begin(np.arange(len(games)), seeds)

    def act(running: Games, legal: Masks, env_ids: EnvIds) -> Actions:
        for row in np.flatnonzero(running["turn"] != turns[env_ids]):
            found[env_ids[row]].append((running[row : row + 1].copy(), legal[row : row + 1].copy()))
        turns[env_ids] = running["turn"]
        return policy.act(running, legal, env_ids)

    batch.play_to_end(games, masks, act)
    return [np.concatenate([one[0] for one in game]) for game in found], [np.concatenate([one[1] for one in game]) for game in found], games


def turn_gains(search: TurnSearch, games: Games, masks: Masks) -> NDArray[np.float64]:
    """Return by how much the best candidate turn of each game has a higher value than the greedy one."""
    proposed = search.propose(games, masks)
    distinct, inverse = distinct_candidates(proposed)
    indexes = inverse.reshape(len(games), search.candidates)
    best = indexes[np.arange(len(games)), search.rollout_values(proposed, distinct, SELECTION_SAMPLES)[indexes].argmax(axis=1)]
    compared = np.unique(np.concatenate([best, indexes[:, 0]]))
    values = np.zeros(len(distinct))
    values[compared] = search.rollout_values(proposed, distinct[compared], COMPARISON_SAMPLES, skip=SELECTION_SAMPLES)
    return np.asarray(values[best] - values[indexes[:, 0]])


def improvement_table(kept: Sequence[Improvement]) -> Table:
    """Return for each agent and level the games won, the gain per game, and the win rate that both add up to."""
    columns = [Column("agent"), Column("level"), Column("games"), Column("games won", percent), Column("turns per game")]
    columns += [
        Column("gain per game", percentage_points),
        Column("in won games", percentage_points),
        Column("in lost games", percentage_points),
    ]
    rows: list[list[Cell]] = []
    for one in kept:
        won = np.array([game.won for game in one.games])
        gains = np.array([game.total_gain for game in one.games])
        turns = f"{np.mean([game.turns for game in one.games]):.1f}"
        estimates = [
            bootstrap_mean(some, np.random.default_rng(0)) if len(some) else None for some in (won, gains, gains[won], gains[~won])
        ]
        rows.append([one.agent, one.level, len(won), estimates[0], turns, *estimates[1:]])
    return Table(columns, rows)


def main() -> None:
    """Measure an agent at a level, and add it to the file."""
    try:
        match sys.argv[1:]:
            case [file, agent, level]:
                games = DEFAULT_GAMES
            case [file, agent, level, number] if number.isdecimal() and int(number) > 0:
                games = int(number)
            case _:
                raise TetrarchiaError("usage: python -m tetrarchia_eval.improvement FILE AGENT LEVEL [GAMES]")
        path = Path(file)
        kept = read_json(path, list[Improvement]) if path.is_file() else []
        found = measure(agent, level, games)
        others = [one for one in kept if (one.agent, one.level) != (agent, level)]
        write_json(path, [*others, found])
        print(improvement_table([found]).markdown())
    except TetrarchiaError as error:
        print(f"improvement: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
