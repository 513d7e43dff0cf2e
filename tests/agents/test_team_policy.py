"""Tests of TeamPolicy: agents receive copies without the future dice, and only the games of their Emperors (R13.1)."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from helpers.positions import play, position
from tetrarchia_agents import Actions, Agent, EnvIds, TeamPolicy, make_agent, make_agents
from tetrarchia_env.batch import Games, Masks, agents_to_act, legal_masks, new_games, playout, reseed, step
from tetrarchia_env.engine.state import MODULES, OVER, VARIANTS
from tetrarchia_env.options import Options

PLANNER = "planner:beam=4:ends=2:attacks=1"
EVERYTHING = Options(level="4212", variants=VARIANTS, modules=MODULES)
ENV_ID = np.zeros(1, dtype=np.int64)


def first_legal(masks: Masks) -> Actions:
    actions: Actions = masks.argmax(axis=1)
    return actions


@dataclass
class Witness(Agent):
    """Agent that plays the first legal action and records its input."""

    begun: list[list[int]] = field(default_factory=list)
    given: list[Games] = field(default_factory=list)

    def begin(self, env_ids: EnvIds) -> None:
        self.begun.append(env_ids.tolist())

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        self.given.append(games.copy())
        return first_legal(masks)


class Vandal(Agent):
    """Agent that overwrites its input."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        actions = first_legal(masks)
        games["ip"], games["revolts"], games["dice"], masks[:], env_ids[:] = 0, 0, 0, 1, 0
        return actions


def midgame(options: Options, number: int) -> tuple[Games, Masks]:
    """Return running games after random steps."""
    games, masks = new_games(options, range(5 * number))
    playout(games, masks, np.arange(1, 1 + len(games), dtype=np.uint64), 30)
    running = np.flatnonzero(games["phase"] != OVER)[:number]
    assert len(running) == number
    return games[running], masks[running]


def choices(team: TeamPolicy, seeds: list[int], env_ids: EnvIds, steps: int) -> dict[int, list[int]]:
    """Return the actions chosen in games with these seeds, each in its environment."""
    games, masks = new_games(EVERYTHING, seeds)
    chosen: dict[int, list[int]] = {seed: [] for seed in seeds}
    team.begin(env_ids, seeds)
    for _ in range(steps):
        running, actions = np.flatnonzero(games["phase"] != OVER), np.zeros(len(games), dtype=np.int64)
        actions[running] = team.act(games[running], masks[running], env_ids[running])
        for i in running:
            chosen[seeds[i]].append(int(actions[i]))
        step(games, actions, masks)
    return chosen


# Future dice


@pytest.mark.parametrize("options", [Options(level="4222"), EVERYTHING], ids=["base", "everything"])
@pytest.mark.parametrize("name", ["random", "greedy", PLANNER])
def test_actions_do_not_depend_on_future_dice(name: str, options: Options) -> None:
    games, masks = midgame(options, 40)
    env_ids, others = np.arange(len(games)), games.copy()
    reseed(others, range(1000, 1000 + len(games)))
    chosen = []
    for real in (games, others):
        team = TeamPolicy(make_agents(name), len(real), seed=5)
        team.begin(env_ids, env_ids)
        chosen.append(team.act(real, masks, env_ids).tolist())
    assert chosen[0] == chosen[1]


@pytest.mark.parametrize("name", ["random", "greedy", PLANNER])
def test_the_same_rng_states_give_the_same_actions(name: str) -> None:
    games, masks = midgame(EVERYTHING, 20)
    env_ids, agent = np.arange(len(games)), make_agent(name)
    first = agent.act(games.copy(), masks.copy(), env_ids)
    assert (agent.act(games.copy(), masks.copy(), env_ids[::-1].copy()) == first).all()
    assert (make_agent(name).act(games[::-1].copy(), masks[::-1].copy(), env_ids)[::-1] == first).all()


def test_agent_rng_states_are_unique_and_differ_from_those_of_the_games() -> None:
    witness = Witness()
    team, env_ids, real = TeamPolicy([witness] * 4, 8), np.arange(8), []
    games, masks = new_games(Options(), range(8))
    team.begin(env_ids, range(8))
    for _ in range(50):
        real += games["dice"].tolist()
        running = np.flatnonzero(games["phase"] != OVER)
        actions = np.zeros(8, dtype=np.int64)
        actions[running] = team.act(games[running], masks[running], running)
        step(games, actions, masks)
    given = [rng for copies in witness.given for rng in copies["dice"].tolist()]
    assert set(given).isdisjoint(real)
    assert len(set(given)) == len(given)


def test_agents_receive_everything_except_the_dice() -> None:
    games, masks = midgame(EVERYTHING, 20)
    witness = Witness()
    TeamPolicy([witness] * 4, len(games)).act(games, masks, np.arange(len(games)))
    (copies,) = witness.given
    copies["dice"] = games["dice"]
    assert copies.tobytes() == games.tobytes()


def test_changes_to_the_copies_do_not_affect_the_games() -> None:
    games, masks = midgame(Options(), 10)
    env_ids = np.arange(len(games))
    kept = [array.tobytes() for array in (games, masks, env_ids)]
    TeamPolicy([Vandal()] * 4, len(games)).act(games, masks, env_ids)
    assert [array.tobytes() for array in (games, masks, env_ids)] == kept


@pytest.mark.parametrize(("name", "steps"), [("random", 200), (PLANNER, 40)])
def test_a_game_does_not_depend_on_environment_order_or_batch(name: str, steps: int) -> None:
    seeds = list(range(6))
    together = choices(TeamPolicy(make_agents(name), 6, seed=3), seeds, np.arange(6), steps)
    elsewhere = choices(TeamPolicy(make_agents(name), 20, seed=3), [9, *seeds[::-1], 8], np.array([3, 19, 1, 0, 7, 5, 11, 2]), steps)
    alone = choices(TeamPolicy(make_agents(name), 1, seed=3), [4], ENV_ID, steps)
    assert {seed: elsewhere[seed] for seed in seeds} == together
    assert alone[4] == together[4]


def test_an_environment_can_be_reused() -> None:
    team = TeamPolicy(make_agents("random"), 4)
    first = choices(team, [0, 1, 2, 3], np.arange(4), 30)
    assert choices(team, [2], np.array([0]), 30)[2] == first[2]
    assert team.decisions.sum(axis=1).tolist() == [30, 30, 30, 30]


# The agent protocol


def test_begin_is_called_once_per_agent() -> None:
    east, west = Witness(), Witness()
    team = TeamPolicy([east, east, west, west], 10)
    team.begin(np.array([2, 5, 7]), [1, 2, 3])
    assert east.begun == west.begun == [[2, 5, 7]]


def test_each_agent_decides_only_for_its_emperors() -> None:
    """R13.1, R10.1: the Emperor to act determines the agent."""
    agents = [Witness() for _ in range(4)]
    choices(TeamPolicy(agents, 6), list(range(6)), np.arange(6), 120)
    for emperor, agent in enumerate(agents):
        assert {decider for games in agent.given for decider in agents_to_act(games).tolist()} == {emperor}


def test_reactions_are_decided_by_the_reacting_emperors_agent() -> None:
    """R10.1: in Diocletian's turn, Constantius may block the attack of an army."""
    game = position(
        rules={"variants": ["imperivm"]},
        armies=[["GERMANIA INFERIOR", "II", "army"]],
        emperors={"constantius": "GERMANIA SVPERIOR"},
        dice=(5, 6),
    )
    assert play(game, "end")["phase"] == "block"
    agents = [Witness() for _ in range(4)]
    team = TeamPolicy(agents, 1)
    team.act(game, legal_masks(game), ENV_ID)
    assert [len(agent.given) for agent in agents] == [0, 0, 1, 0]
    assert team.decisions.tolist() == [[0, 0, 1, 0]]
