"""The PettingZoo API: agent selection, masks, terminal rewards, illegal actions, copies, snapshots and seeds."""

import copy
import json
import pickle
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from helpers.configurations import ONE_BY_ONE
from helpers.positions import EMPTY, position
from tetrarchia_env import outcome_name, tetrarchia_v0
from tetrarchia_env.batch import legal_masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.envs.aec import TetrarchiaAEC
from tetrarchia_env.notation import Snapshot, snapshot
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_env.tetrarchia_v0 import raw_env

FIVE = {"GAETVLIA": "maximian", "BRITANNIA": "constantius", "GERMANIA MAGNA": "galerius", "SARMATIA": "galerius", "PERSIA": "galerius"}
IMPERIVM = {"variants": ["imperivm"]}
ATTACKED = {
    "armies": [["PANNONIA INFERIOR", "III", "army"]],
    "tokens": {"PANNONIA INFERIOR": "revolt"},
    "emperors": {"galerius": "NORICVM"},
}
BLOCKADE = {"armies": [["GERMANIA INFERIOR", "II", "army"]], "tokens": {"GERMANIA INFERIOR": "revolt"}}
BLOCKADE |= {"emperors": {"constantius": "GERMANIA SVPERIOR"}}
ENDINGS: dict[str, tuple[dict[str, Any], str, str, float, int]] = {  # position one step before the end, action, outcome, reward, turn
    "won": ({"tokens": FIVE, "emperors": {"diocletian": "LIBYA"}}, "secure", "won", 1.0, 8),
    "lost": ({"dice": (4, 5), "reserve": {"unrest": 0}}, "end", "reserve empty", -1.0, 8),
    "truncated": ({"dice": (4, 5), "rules": {"max_turns": 9}}, "end", "truncated", 0.0, 9),
}
every_ending = pytest.mark.parametrize(("changes", "text", "outcome", "reward", "turn"), ENDINGS.values(), ids=ENDINGS)
COPIERS: dict[str, Callable[[Any], Any]] = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
COPIERS["clone"] = lambda env: env.clone()


def env_at(**changes: Any) -> TetrarchiaAEC:
    """Return an environment at a position given by its changes to the empty one."""
    env = raw_env()
    env.restore(snapshot(position(**changes)))
    return env


def act(env: Any, *texts: str) -> None:
    for text in texts:
        env.step(env.unwrapped.action_id(text))


def play_random_actions(env: Any, steps: int, seed: int = 0) -> list[bytes]:
    """Play random legal actions and return the bytes of the game after each."""
    chooser, games = random.Random(seed), []
    for _ in range(steps):
        if not env.unwrapped.legal_actions():
            break
        env.step(chooser.choice(env.unwrapped.legal_actions()))
        games.append(env.unwrapped.position.tobytes())
    return games


def midgame_env(**arguments: Any) -> TetrarchiaAEC:
    """Return an environment after twenty random actions."""
    env = raw_env(**arguments)
    env.reset(seed=4)
    assert len(play_random_actions(env, 20)) == 20
    return env


def masks(env: Any) -> dict[str, Any]:
    """Return the action mask of each agent; check that it is in the observation and not in the info."""
    assert not any("action_mask" in info for info in env.infos.values())
    return {agent: env.observe(agent)["action_mask"] for agent in EMPERORS}


# Agent selection


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_same_agent_acts_all_turn_and_only_that_agent_has_legal_actions(name: str) -> None:
    """Galerius and Constantius decide their own reactions; the Emperor whose turn it is decides everything else."""
    env, chooser = raw_env(**ONE_BY_ONE[name].arguments()), random.Random(1)
    env.reset(seed=11)
    turns: list[str] = []
    while env.legal_actions():
        now = env.snapshot()
        turns.append(now["emperor"])
        assert env.agents == env.possible_agents == list(EMPERORS)
        assert env.agent_selection == {"boost": "galerius", "block": "constantius"}.get(now["phase"], now["emperor"])
        for agent, mask in masks(env).items():
            np.testing.assert_array_equal(mask, legal_masks(env.position)[0] if agent == env.agent_selection else 0)
        env.step(chooser.choice(env.legal_actions()))
    changes = [(one, two) for one, two in pairwise(turns) if one != two]
    assert all(EMPERORS.index(two) == (EMPERORS.index(one) + 1) % 4 for one, two in changes)
    assert len(turns) > 2 * len(changes) > 8
    assert not any(mask.any() for mask in masks(env).values())


@pytest.mark.parametrize(
    ("changes", "dice", "reactor", "answers"),
    [(ATTACKED, (5, 1, 3, 3), "galerius", ["boost", "boost"]), (ATTACKED, (5, 1, 3, 3), "galerius", ["accept"])]
    + [(BLOCKADE, (5, 1, 1, 6), "constantius", [answer]) for answer in ("block", "accept")],
)
def test_reacting_agent_is_selected_then_the_next_emperor(changes: Any, dice: Any, reactor: str, answers: list[str]) -> None:
    """R10.1: reactions occur in the Barbarian phase after Maximian's turn; Diocletian's turn follows."""
    env = env_at(rules=IMPERIVM, emperor="maximian", dice=dice, **changes)
    assert env.agent_selection == "maximian"
    act(env, "end")
    for answer in answers:
        assert (env.agent_selection, env.snapshot()["emperor"]) == (reactor, "maximian")
        assert [agent for agent, mask in masks(env).items() if mask.any()] == [reactor]
        act(env, answer)
    assert (env.agent_selection, env.agents) == ("diocletian", list(EMPERORS))


def test_observation_is_from_the_perspective_of_its_agent() -> None:
    env = midgame_env()
    for seat, agent in enumerate(EMPERORS):
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        view = seen["observation"].view(OBSERVATION)[0]
        assert view.identity.tolist() == [float(seat == place) for place in range(4)]
        assert view.turn_of.argmax() == (EMPERORS.index(env.agent_selection) - seat) % 4
    np.testing.assert_array_equal(env.state(), env.observe("diocletian")["observation"])


# End of the game


@every_ending
def test_game_ends_for_all_four_agents_at_once(changes: Any, text: str, outcome: str, reward: float, turn: int) -> None:
    env = env_at(**changes)
    assert not any([*env.terminations.values(), *env.truncations.values(), *env.rewards.values()])
    act(env, text)
    is_cut = outcome == "truncated"
    assert env.agents == list(EMPERORS)
    assert env.rewards == dict.fromkeys(EMPERORS, reward)
    assert (env.terminations, env.truncations) == (dict.fromkeys(EMPERORS, not is_cut), dict.fromkeys(EMPERORS, is_cut))
    for info in env.infos.values():
        assert (outcome_name(info["outcome"]), info["score"], info["turn"]) == (outcome, env.snapshot()["score"], turn)
    assert not any(mask.any() for mask in masks(env).values())


@every_ending
def test_steps_after_the_end_accept_only_none_and_pay_each_agent_once(
    changes: Any, text: str, outcome: str, reward: float, turn: int
) -> None:
    env = env_at(**changes)
    act(env, text)
    game = env.position.tobytes()
    with pytest.raises(ValueError, match="None"):
        env.step(0)
    paid: dict[str, float] = {}
    for agent in env.agent_iter():
        _, paid[agent], terminated, truncated, _ = env.last()
        assert (terminated, truncated) == (outcome != "truncated", outcome == "truncated")
        env.step(None)
    assert (paid, env.agents, env.position.tobytes()) == (dict.fromkeys(EMPERORS, reward), [], game)


@pytest.mark.parametrize(("max_turns", "emperor"), [(1, "diocletian"), (3, "constantius"), (4, "maximian")])
def test_truncated_game_keeps_the_emperor_whose_turn_ended(max_turns: int, emperor: str) -> None:
    env = raw_env(level="5000", max_turns=max_turns)
    env.reset(seed=2)
    while not any(env.truncations.values()):
        act(env, "end") if 0 in env.legal_actions() else env.step(env.legal_actions()[0])
    now = env.snapshot()
    assert (now["turn"], now["emperor"], now["outcome"], now["phase"]) == (max_turns, emperor, "truncated", "over")
    assert not any(env.terminations.values())


def test_infos_of_a_running_game() -> None:
    env = midgame_env()
    expected = {name: env.snapshot()[name] for name in ("score", "turn")}
    expected |= {"outcome": 0, "agent": EMPERORS.index(env.agent_selection), "illegal_action": 0}
    assert env.infos == dict.fromkeys(EMPERORS, expected)


# Illegal actions


@pytest.mark.parametrize("action", [0, 454, None, -1, 455, 10**6, np.int64(300), 1.5, "fleet AEGAEVM"])
def test_illegal_action_is_refused_and_changes_nothing(action: Any) -> None:
    env = raw_env()
    env.reset(seed=3)  # the legal actions are three fleet placements
    before = pickle.dumps((env.position.tobytes(), env.masks.tobytes(), env.agents, env.rewards, env._cumulative_rewards))
    with pytest.raises(ValueError, match="fleet ATLANTICVM, fleet INTERNVM, fleet AEGAEVM") as error:
        env.step(action)
    given = env.action_text(action) if action in (0, 300, 454) else str(action)
    assert given in str(error.value)
    assert "\n" not in str(error.value)
    assert pickle.dumps((env.position.tobytes(), env.masks.tobytes(), env.agents, env.rewards, env._cumulative_rewards)) == before


def test_step_before_reset_is_refused() -> None:
    with pytest.raises(ValueError, match="reset"):
        raw_env().step(0)


@pytest.mark.filterwarnings("ignore")
def test_pettingzoo_wrapper_ends_the_game_on_an_illegal_action() -> None:
    env = tetrarchia_v0.env()
    env.reset(seed=3)
    game = env.unwrapped.position.tobytes()
    with pytest.raises(AssertionError):
        env.step(455)
    env.step(0)
    assert env.rewards == dict.fromkeys(EMPERORS, 0) | {"diocletian": -1}
    assert all(env.terminations.values())
    assert [info["illegal_action"] for info in env.infos.values()] == [1] * 4
    assert env.unwrapped.position.tobytes() == game


# Copies, snapshots, seeds


@pytest.mark.parametrize("copier", COPIERS.values(), ids=COPIERS)
def test_copy_is_exact_and_independent_and_continues_identically(copier: Callable[[Any], Any]) -> None:
    env = midgame_env(variants=VARIANTS, modules=MODULES, reward="shaped")
    before = (env.position.tobytes(), env.masks.tobytes(), dict(env.rewards), dict(env._cumulative_rewards), env.agent_selection)
    twin = copier(env)
    there = play_random_actions(twin, 60)
    assert len(there) > 10
    assert (env.position.tobytes(), env.masks.tobytes(), env.rewards, env._cumulative_rewards, env.agent_selection) == before
    assert play_random_actions(env, 60) == there
    assert (twin.rewards, twin._cumulative_rewards, twin.agents) == (env.rewards, env._cumulative_rewards, env.agents)
    for one in (env, twin):
        one.reset()
    assert twin.position.tobytes() == env.position.tobytes()


@pytest.mark.parametrize("name", ["deepcopy", "pickle"])
def test_copy_of_the_wrapped_environment_continues_identically(name: str) -> None:
    env = tetrarchia_v0.env()
    env.reset(seed=4)
    play_random_actions(env, 15)
    twin = COPIERS[name](env)
    assert play_random_actions(twin, 10) == play_random_actions(env, 10) != []


def test_snapshot_continues_identically_in_another_environment() -> None:
    env, other = midgame_env(variants=VARIANTS, modules=MODULES), raw_env(level="2000")
    other.restore(json.loads(json.dumps(env.snapshot())))
    assert (other.position.tobytes(), other.agent_selection) == (env.position.tobytes(), env.agent_selection)
    np.testing.assert_array_equal(other.masks, env.masks)
    assert play_random_actions(other, 60) == play_random_actions(env, 60)


@pytest.mark.parametrize("level", ["4211", ["5100", "4211"]])
def test_snapshot_without_rules_uses_the_rules_of_the_environment(level: Any) -> None:
    env = raw_env(level=level, variants=["imperivm"], max_turns=9)
    env.restore({name: value for name, value in EMPTY.items() if name != "rules"} | {"dice": int(position(dice=(5, 6))["dice"][0])})
    act(env, "imperivm", "end")
    assert outcome_name(env.infos["galerius"]["outcome"]) == "truncated"


def test_restored_finished_game_has_zero_rewards() -> None:
    env = env_at(**ENDINGS["won"][0])
    act(env, "secure")
    other = raw_env(reward="glory")
    other.restore(env.snapshot())
    assert (all(other.terminations.values()), other.rewards) == (True, dict.fromkeys(EMPERORS, 0.0))


def test_reseed_changes_only_the_dice() -> None:
    env = midgame_env()
    before, legal = env.snapshot(), env.legal_actions()
    rng = 5 + 0x9E3779B97F4A7C15  # SplitMix64, section 2 of the interface
    rng = (rng ^ rng >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    rng = (rng ^ rng >> 27) * 0x94D049BB133111EB % 2**64
    env.reseed(5)
    assert env.snapshot() == before | {"dice": rng ^ rng >> 31}
    assert env.legal_actions() == legal


def test_same_seed_gives_the_same_sequence_of_games() -> None:
    """Resets without a seed continue the sequence that the last seed determines."""

    def three() -> list[Snapshot]:
        env, games = raw_env(), []
        for seed in (9, None, None):
            env.reset(seed=seed)
            games.append(env.snapshot())
        return games

    first, second, third = three()
    assert three() == [first, second, third]
    assert len({now["dice"] for now in (first, second, third)}) == 3
