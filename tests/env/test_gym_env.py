"""The Gymnasium API (one player for all four Emperors), and the registries and arguments of all APIs."""

import random
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest

from helpers.configurations import ONE_BY_ONE
from helpers.positions import position
from tetrarchia_env import agent_name, outcome_name, tetrarchia_v0
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.envs.aec import TetrarchiaAEC
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv
from tetrarchia_env.envs.rewards import REWARDS
from tetrarchia_env.envs.spaces import VECTOR_RENDER_MODES
from tetrarchia_env.notation import snapshot

FIVE = {"GAETVLIA": "maximian", "BRITANNIA": "galerius", "GERMANIA MAGNA": "galerius", "SARMATIA": "galerius", "PERSIA": "galerius"}
ENDINGS: list[tuple[dict[str, Any], str, str]] = [
    ({"tokens": FIVE, "emperors": {"diocletian": "LIBYA"}}, "secure", "won"),
    ({"dice": (4, 5), "reserve": {"unrest": 0}}, "end", "reserve empty"),
    ({"dice": (4, 5), "rules": {"max_turns": 9}}, "end", "truncated"),
]


def started_env(seed: int = 3, **arguments: Any) -> TetrarchiaEnv:
    env = TetrarchiaEnv(**arguments)
    env.reset(seed=seed)
    return env


def env_at(changes: dict[str, Any], **arguments: Any) -> TetrarchiaEnv:
    """Return an environment at a position given by its changes to the empty one."""
    env = TetrarchiaEnv(**arguments)
    env.restore(snapshot(position(**changes)))
    return env


def same(seen: dict[str, Any], other: dict[str, Any]) -> bool:
    return set(seen) == set(other) and all(seen[name].tobytes() == other[name].tobytes() for name in seen)


def test_gymnasium_make() -> None:
    env = gymnasium.make("Tetrarchia-v0", level="5311", variants=["diarchia"], reward="score", render_mode="ansi")
    seen, info = env.reset(seed=1)
    assert isinstance(env.unwrapped, TetrarchiaEnv)
    assert env.unwrapped.snapshot()["rules"]["level"] == "5311"
    assert (env.action_space, env.observation_space.contains(seen)) == (gymnasium.spaces.Discrete(455), True)
    assert (agent_name(info["agent"]), outcome_name(info["outcome"]), info["turn"]) == ("diocletian", "running", 0)
    assert isinstance(env.render(), str)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_steps_match_the_aec_environment_seen_by_the_acting_agent(name: str, reward: str) -> None:
    """The same seed and actions give the same game, observation, mask, end and info, and the mean of the four rewards."""
    arguments = ONE_BY_ONE[name].arguments() | {"reward": reward}
    single, aec, chooser = gymnasium.make("Tetrarchia-v0", **arguments), tetrarchia_v0.raw_env(**arguments), random.Random(name)
    seen, info = single.reset(seed=21)
    aec.reset(seed=21)
    for _ in range(2000):
        agent = aec.agent_selection
        assert (info.pop("rewards", None) is not None) == (reward == "glory")
        assert info == aec.infos[agent]
        if not aec.legal_actions():
            break
        assert same(seen, aec.observe(agent))
        action = chooser.choice(aec.legal_actions())
        seen, gain, terminated, truncated, info = single.step(action)
        aec.step(action)
        assert gain == pytest.approx(sum(aec.rewards.values()) / 4, abs=1e-12)
        assert (terminated, truncated) == (aec.terminations[agent], aec.truncations[agent])
        assert single.unwrapped.position.tobytes() == aec.position.tobytes()
    assert terminated or truncated
    assert seen["observation"].tobytes() == aec.observe(agent)["observation"].tobytes()


def test_action_masks_are_the_legal_actions() -> None:
    env, chooser = started_env(variants=VARIANTS, modules=MODULES), random.Random(1)
    for _ in range(30):
        mask = env.action_masks()
        assert (mask.dtype, mask.shape, np.flatnonzero(mask).tolist()) == (np.bool_, (455,), env.legal_actions())
        mask[:] = True  # must not change the environment
        env.step(chooser.choice(env.legal_actions()))


def test_illegal_action_changes_nothing_and_is_reported() -> None:
    env = started_env(reward="shaped")
    before, game, (seen, _) = env.masks.tobytes(), env.position.tobytes(), env._observe()
    seen_again, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["illegal_action"]) == (0.0, False, False, 1)
    assert (env.position.tobytes(), env.masks.tobytes(), same(seen_again, seen)) == (game, before, True)
    assert env.step(env.legal_actions()[0])[4]["illegal_action"] == 0


@pytest.mark.parametrize("action", [-1, 455, None, 1.5, "end", np.array([8])])
def test_action_outside_the_space_is_refused(action: Any) -> None:
    env = started_env()
    game = env.position.tobytes()
    with pytest.raises(ValueError, match="0 to 454") as error:
        env.step(action)
    assert repr(action) in str(error.value)
    assert env.position.tobytes() == game


@pytest.mark.parametrize(("changes", "text", "outcome"), ENDINGS, ids=[row[2] for row in ENDINGS])
def test_step_that_ends_the_game(changes: dict[str, Any], text: str, outcome: str) -> None:
    env = env_at(changes)
    seen, reward, terminated, truncated, info = env.step(env.action_id(text))
    assert (reward, terminated, truncated) == ({"won": 1, "truncated": 0}.get(outcome, -1), outcome != "truncated", outcome == "truncated")
    assert (outcome_name(info["outcome"]), info["score"], info["turn"]) == (outcome, env.snapshot()["score"], env.snapshot()["turn"])
    assert [np.flatnonzero(mask).tolist() for mask in (seen["action_mask"], env.action_masks())] == [[0], [0]]  # can be sampled
    assert env.legal_actions() == []


def test_step_before_reset_or_after_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="reset the environment first"):
        TetrarchiaEnv().step(0)
    env = env_at(ENDINGS[0][0])
    env.step(env.action_id("secure"))
    game = env.position.tobytes()
    with pytest.raises(ValueError, match="reset the environment first"):
        env.step(0)
    assert env.position.tobytes() == game


def test_reward_is_the_mean_of_the_four_emperors() -> None:
    """R10.5: Galerius with four borders is the Great and gets 2; the others get 1 each."""
    env = env_at({**ENDINGS[0][0], "rules": {"variants": ["the_great"]}}, reward="glory")
    assert env.step(env.action_id("secure"))[1] == (1 + 2 + 1 + 1) / 4


def test_same_seed_gives_the_same_sequence_of_games() -> None:
    """The first game is that of the AEC API; resets without a seed continue the sequence that the last seed determines."""

    def three() -> list[bytes]:
        env, games = TetrarchiaEnv(), []
        for seed in (9, None, None):
            env.reset(seed=seed)
            games.append(env.position.tobytes())
        return games

    aec = tetrarchia_v0.raw_env()
    aec.reset(seed=9)
    games = three()
    assert three() == games
    assert (len(set(games)), games[0]) == (3, aec.position.tobytes())


# All APIs: registries and arguments


@pytest.mark.skipif(not hasattr(pettingzoo, "make"), reason="this PettingZoo has no registry")
def test_pettingzoo_make() -> None:
    aec = pettingzoo.make("aec", "tetrarchia-v0", level="5311")
    parallel = pettingzoo.make("parallel", "tetrarchia-v0", level="5311")
    aec.reset(seed=3)
    seen, infos = parallel.reset(seed=3)
    assert (list(seen), list(infos), parallel.possible_agents) == ([*EMPERORS], [*EMPERORS], [*EMPERORS])
    assert isinstance(aec.unwrapped, TetrarchiaAEC)
    assert aec.unwrapped.snapshot()["rules"]["level"] == "5311"
    assert all(seen[agent]["observation"].tobytes() == aec.observe(agent)["observation"].tobytes() for agent in EMPERORS)


APIS: dict[str, Callable[..., Any]] = {
    "raw_env": tetrarchia_v0.raw_env,
    "env": tetrarchia_v0.env,
    "parallel_env": tetrarchia_v0.parallel_env,
    "gymnasium": lambda **arguments: gymnasium.make("Tetrarchia-v0", **arguments),
    "vector_env": lambda **arguments: tetrarchia_v0.vector_env(num_envs=2, **arguments),
}
# test_options.py has all invalid rules; one of them shows that an API validates them.
WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"scenario": "danube_wars", "level": "4122"}, ["'danube_wars'", "level"]),
    ({"reward": "gold"}, ["'gold'", *REWARDS]),
    ({"reward": None}, ["None", *REWARDS]),
    ({"mask": "both"}, ["mask", "'both'", "observation, info"]),
    ({"render_mode": "hologram"}, ["render_mode", "'hologram'", *VECTOR_RENDER_MODES]),
]


@pytest.mark.filterwarnings("ignore:.*render_mode")  # Gymnasium warns before the environment raises
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[str(arguments) for arguments, _ in WRONG])
def test_invalid_argument_error_names_the_value_and_the_choices(arguments: dict[str, Any], words: list[str], api: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        APIS[api](**arguments)
    assert [word for word in words if word not in str(error.value)] == []
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("arguments", [{name: None} for name in ("level", "scenario", "render_mode")], ids=str)
def test_none_is_the_same_as_the_default(arguments: dict[str, Any], api: str) -> None:
    given, left_out = APIS[api](**arguments), APIS[api]()
    assert given.unwrapped.metadata == left_out.unwrapped.metadata
    given.reset(seed=1)
