"""Infos in every API: numbers only, the same keys from reset to end, the mask in one place, and the agent to act."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from helpers.configurations import ONE_BY_ONE
from tetrarchia_env import agent_name, outcome_name, tetrarchia_v0
from tetrarchia_env.board import EMPERORS

KEYS = {"turn", "score", "outcome", "agent", "illegal_action"}
SB3_END_KEYS = {"terminal_observation", "TimeLimit.truncated", "episode"}  # only in the step that ends a game
Infos = Iterator[dict[str, Any]]


def aec(**arguments: Any) -> Infos:
    for make in (tetrarchia_v0.env, tetrarchia_v0.raw_env):
        env = make(**arguments)
        env.reset(seed=4)
        yield from env.infos.values()
        for _ in env.agent_iter():
            *_, terminated, truncated, info = env.last()
            yield info
            env.step(None if terminated or truncated else env.unwrapped.legal_actions()[-1])
            yield from env.infos.values()


def parallel(**arguments: Any) -> Infos:
    env = tetrarchia_v0.parallel_env(**arguments)
    _, infos = env.reset(seed=4)
    while env.agents:
        yield from infos.values()
        actions = dict.fromkeys(EMPERORS, 0) | {agent_name(infos["galerius"]["agent"]): env.unwrapped.legal_actions()[-1]}
        *_, infos = env.step(actions)
    yield from infos.values()


def single(**arguments: Any) -> Infos:
    env = gymnasium.make("Tetrarchia-v0", **arguments)
    _, info = env.reset(seed=4)
    over = False
    while not over:
        yield info
        *_, terminated, truncated, info = env.step(env.unwrapped.legal_actions()[-1])
        over = terminated or truncated
    yield info


def vector(**arguments: Any) -> Infos:
    """Yield the infos of one game without the `_key` flags of Gymnasium's vector infos."""
    for mode in ("NextStep", "SameStep"):
        env = tetrarchia_v0.vector_env(2, autoreset_mode=mode, **arguments)
        _, infos = env.reset(seed=4)
        for _ in range(200):
            values = {key: value for key, value in infos.items() if not key.startswith("_") and key not in ("final_obs", "final_info")}
            for one in [values, *([infos["final_info"]] if "final_info" in infos else [])]:
                assert all(one[key].dtype.kind == "i" for key in KEYS)
                yield {key: value[0] for key, value in one.items() if not key.startswith("_")}
            *_, infos = env.step(env.batched.legal().argmax(axis=1))


def sb3(**arguments: Any) -> Infos:
    pytest.importorskip("stable_baselines3")
    env = tetrarchia_v0.sb3_vec_env(2, seed=4, **arguments)
    env.reset()
    ended = False
    while not ended:
        yield from env.reset_infos
        _, _, over, infos = env.step(env.action_masks().argmax(axis=1))
        ended = over.any()
        assert [set(info) >= SB3_END_KEYS for info in infos] == over.tolist()
        yield from ({key: value for key, value in info.items() if key not in SB3_END_KEYS} for info in infos)


APIS: list[Callable[..., Infos]] = [aec, parallel, single, vector, sb3]
every_api = pytest.mark.parametrize("api", APIS, ids=[api.__name__ for api in APIS])


@every_api
@pytest.mark.parametrize("mask", ["observation", "info"])
def test_infos_are_numbers_with_the_same_keys_from_reset_to_end(api: Callable[..., Infos], mask: str) -> None:
    endings = set()
    for info in api(mask=mask, max_turns=9):
        assert set(info) == KEYS | ({"action_mask"} if mask == "info" else set())
        assert all(isinstance(info[key], int | np.integer) for key in KEYS)
        assert (agent_name(info["agent"]) in EMPERORS, info["illegal_action"]) == (True, 0)
        if mask == "info":
            assert (info["action_mask"].dtype, info["action_mask"].shape, info["action_mask"].flags.writeable) == (np.int8, (455,), True)
        endings.add(outcome_name(info["outcome"]))
    assert "running" in endings
    assert len(endings) > 1


@pytest.mark.parametrize("call", [outcome_name, agent_name])
@pytest.mark.parametrize("code", [-1, 5, True, "won", None, 1.0])
def test_unknown_code_is_refused(call: Callable[[Any], str], code: Any) -> None:
    with pytest.raises(ValueError, match=r"integer from 0 to [34]; got"):
        call(code)


@pytest.mark.parametrize("mask", ["observation", "info"])
def test_masks_are_writable_copies(mask: str) -> None:
    aec_env, gym_env = tetrarchia_v0.raw_env(mask=mask), gymnasium.make("Tetrarchia-v0", mask=mask)
    many, parallel_env = tetrarchia_v0.vector_env(2, mask=mask), tetrarchia_v0.parallel_env(mask=mask)
    aec_env.reset(seed=1)
    seen = [(aec_env.observe(agent), aec_env.infos[agent]) for agent in EMPERORS]
    seen += [gym_env.reset(seed=1), many.reset(seed=1)]
    observations, infos = parallel_env.reset(seed=1)
    seen += [(observations[agent], infos[agent]) for agent in EMPERORS]
    for obs, info in seen:
        holder, other = (obs, info) if mask == "observation" else (info, {})
        assert "action_mask" not in other
        holder["action_mask"][:] = 1
    assert [env.unwrapped.legal_actions() for env in (aec_env, gym_env, parallel_env)] == [[8, 9, 10]] * 3
    assert many.batched.masks.sum(axis=1).tolist() == [3, 3]


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_parallel_matches_aec_and_idle_agents_have_one_legal_id(name: str, mask: str) -> None:
    """An action is sampled from every agent's mask at every step, as libraries do; only the acting agent's action has an effect."""
    arguments = ONE_BY_ONE[name].arguments() | {"mask": mask, "max_turns": 12}
    env, plain, chance = tetrarchia_v0.parallel_env(**arguments), tetrarchia_v0.raw_env(**arguments), np.random.default_rng(3)
    observations, infos = env.reset(seed=8)
    plain.reset(seed=8)
    paid = dict.fromkeys(EMPERORS, 0.0)
    while True:
        masks = {agent: (observations[agent] if mask == "observation" else infos[agent])["action_mask"] for agent in EMPERORS}
        idle = [agent for agent in EMPERORS if agent != plain.agent_selection or not plain.legal_actions()]
        assert all(np.flatnonzero(masks[agent]).tolist() == [0] for agent in idle)
        if not env.agents:
            break
        to_act = agent_name(infos["diocletian"]["agent"])
        actions = {agent: int(chance.choice(np.flatnonzero(masks[agent]))) for agent in EMPERORS}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert to_act == plain.agent_selection
        plain.step(actions[to_act])
        assert env.unwrapped.position.tobytes() == plain.position.tobytes()
        assert (rewards, terminations, truncations) == (plain.rewards, plain.terminations, plain.truncations)
        paid = {agent: paid[agent] + rewards[agent] for agent in EMPERORS}
    assert outcome_name(infos["maximian"]["outcome"]) != "running"
    assert paid == plain.rewards
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_parallel_step_without_the_acting_agents_action_is_refused() -> None:
    env = tetrarchia_v0.parallel_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"diocletian; got \['maximian'\]"):
        env.step({"maximian": 0})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("make", [tetrarchia_v0.env, tetrarchia_v0.parallel_env])
def test_pettingzoo_wrapper_finds_the_mask_in_observation_or_info(make: Callable[..., Any], mask: str) -> None:
    env = make(mask=mask)
    env.reset(seed=1)
    is_parallel = make is tetrarchia_v0.parallel_env
    if is_parallel:
        env.step({"diocletian": 8})
        _, rewards, terminations, _, infos = env.step({"diocletian": 454})
    else:
        env.step(8)
        env.step(454)
        rewards, terminations, infos = env.rewards, env.terminations, env.infos
    assert (rewards, all(terminations.values())) == (dict.fromkeys(EMPERORS, 0) | {"diocletian": -1}, True)
    assert [info["illegal_action"] for info in infos.values()] == [1] * 4
