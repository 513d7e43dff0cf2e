"""What an agent is given: copies that do not show the dice to come, and the games of its Emperors alone (R13.1)."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from helpers.positions import play, position
from tetrarchia_agents import Actions, Agent, EnvIds, TeamPolicy, make_agent, make_agents
from tetrarchia_agents.random import RandomAgent
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
    """Does the first legal action, and keeps what it was given."""

    begun: list[list[int]] = field(default_factory=list)
    given: list[Games] = field(default_factory=list)

    def begin(self, env_ids: EnvIds) -> None:
        self.begun.append(env_ids.tolist())

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        self.given.append(games.copy())
        return first_legal(masks)


class Forgetful(Agent):
    """Has no memory, so no `begin`, and nothing that it is made of."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return first_legal(masks)


class Vandal(Agent):
    """Spoils all that it is given."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        actions = first_legal(masks)
        games["ip"], games["revolts"], games["dice"], masks[:], env_ids[:] = 0, 0, 0, 1, 0
        return actions


def middle_of_games(options: Options, number: int) -> tuple[Games, Masks]:
    """Some random steps in; none of them over."""
    games, masks = new_games(options, range(5 * number))
    playout(games, masks, np.arange(1, 1 + len(games), dtype=np.uint64), 30)
    running = np.flatnonzero(games["phase"] != OVER)[:number]
    assert len(running) == number
    return games[running], masks[running]


def choices(team: TeamPolicy, seeds: list[int], env_ids: EnvIds, steps: int) -> dict[int, list[int]]:
    """What is chosen in games of these seeds, each in its env_id."""
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


# The dice to come


@pytest.mark.parametrize("options", [Options(level="4222"), EVERYTHING], ids=["base", "everything"])
@pytest.mark.parametrize("name", ["random", "greedy", PLANNER])
def test_choices_do_not_depend_on_the_dice_to_come(name: str, options: Options) -> None:
    games, masks = middle_of_games(options, 40)
    env_ids, others = np.arange(len(games)), games.copy()
    reseed(others, range(1000, 1000 + len(games)))
    chosen = []
    for real in (games, others):
        team = TeamPolicy(make_agents(name), len(real), seed=5)
        team.begin(env_ids, env_ids)
        chosen.append(team.act(real, masks, env_ids).tolist())
    assert chosen[0] == chosen[1]


def test_the_random_agent_lives_on_the_rng_state_it_is_given() -> None:
    """So the test above is not empty: with the real RNG states it would choose otherwise."""
    games, masks = middle_of_games(Options(), 40)
    others = games.copy()
    reseed(others, range(1000, 1000 + len(games)))
    env_ids = np.arange(len(games))
    assert RandomAgent().act(games, masks, env_ids).tolist() != RandomAgent().act(others, masks, env_ids).tolist()


@pytest.mark.parametrize("name", ["random", "greedy", PLANNER])
def test_the_same_rng_states_give_the_same_choices(name: str) -> None:
    games, masks = middle_of_games(EVERYTHING, 20)
    env_ids, agent = np.arange(len(games)), make_agent(name)
    first = agent.act(games.copy(), masks.copy(), env_ids)
    assert (agent.act(games.copy(), masks.copy(), env_ids[::-1].copy()) == first).all()
    assert (make_agent(name).act(games[::-1].copy(), masks[::-1].copy(), env_ids)[::-1] == first).all()


def test_no_rng_state_given_is_the_games_own_or_given_twice() -> None:
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


def test_all_but_the_dice_is_given() -> None:
    games, masks = middle_of_games(EVERYTHING, 20)
    witness = Witness()
    TeamPolicy([witness] * 4, len(games)).act(games, masks, np.arange(len(games)))
    (copies,) = witness.given
    copies["dice"] = games["dice"]
    assert copies.tobytes() == games.tobytes()


def test_what_an_agent_does_to_its_copies_does_not_touch_the_games() -> None:
    games, masks = middle_of_games(Options(), 10)
    env_ids = np.arange(len(games))
    kept = [array.tobytes() for array in (games, masks, env_ids)]
    TeamPolicy([Vandal()] * 4, len(games)).act(games, masks, env_ids)
    assert [array.tobytes() for array in (games, masks, env_ids)] == kept


@pytest.mark.parametrize(("name", "steps"), [("random", 200), (PLANNER, 40)])
def test_a_game_is_the_same_in_any_lane_order_and_company(name: str, steps: int) -> None:
    seeds = list(range(6))
    together = choices(TeamPolicy(make_agents(name), 6, seed=3), seeds, np.arange(6), steps)
    elsewhere = choices(TeamPolicy(make_agents(name), 20, seed=3), [9, *seeds[::-1], 8], np.array([3, 19, 1, 0, 7, 5, 11, 2]), steps)
    alone = choices(TeamPolicy(make_agents(name), 1, seed=3), [4], ENV_ID, steps)
    assert {seed: elsewhere[seed] for seed in seeds} == together
    assert alone[4] == together[4]


def test_another_run_seed_is_another_chance() -> None:
    first, second = (choices(TeamPolicy(make_agents("random"), 2, seed=seed), [0, 1], np.arange(2), 30) for seed in (0, 1))
    assert first != second


def test_a_lane_begins_anew() -> None:
    team = TeamPolicy(make_agents("random"), 4)
    first = choices(team, [0, 1, 2, 3], np.arange(4), 30)
    assert choices(team, [2], np.array([0]), 30)[2] == first[2]
    assert team.decisions.sum(axis=1).tolist() == [30, 30, 30, 30]


# The protocol


def test_every_agent_is_told_once_of_new_games_in_lanes() -> None:
    east, west = Witness(), Witness()
    team = TeamPolicy([east, east, west, west], 10)
    team.begin(np.array([2, 5, 7]), [1, 2, 3])
    assert east.begun == west.begun == [[2, 5, 7]]


def test_an_agent_without_begin_plays() -> None:
    chosen = choices(TeamPolicy([Forgetful()] * 4, 3), [0, 1, 2], np.arange(3), 20)
    assert all(len(actions) == 20 for actions in chosen.values())


def test_each_agent_is_asked_for_its_emperors_alone() -> None:
    """R13.1, R10.1: by who is to act."""
    agents = [Witness() for _ in range(4)]
    choices(TeamPolicy(agents, 6), list(range(6)), np.arange(6), 120)
    for emperor, agent in enumerate(agents):
        assert {decider for games in agent.given for decider in agents_to_act(games).tolist()} == {emperor}


def test_reactions_are_decided_by_the_agent_of_him_who_reacts() -> None:
    """R10.1: in Diocletian's turn the army's attack is Constantius' to block."""
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
