"""`vector_env` does what Gymnasium's SyncVectorEnv of the single environment does, step by step, and its wrappers work on it."""

from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.batch import is_over, rng_states
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv
from tetrarchia_env.envs.vector import TetrarchiaVector

NUMBER, STEPS = 4, 260
RULES: dict[str, Any] = {"level": "4200", "max_turns": 7, "reward": "shaped", "gamma": 0.9}
MODES = list(AutoresetMode)
every_mode = pytest.mark.parametrize("mode", MODES, ids=[mode.name for mode in MODES])
every_mask = pytest.mark.parametrize("mask", ["observation", "info"])


class SameSeeds(TetrarchiaEnv):
    """Without a seed, continue with the seed of the vector environment: the RNG state that the last game began with."""

    last = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.last = int(rng_states(np.array([self.last], dtype=np.uint64))[0]) if seed is None else seed
        return super().reset(seed=self.last, options=options)


def both(mode: AutoresetMode, **arguments: Any) -> tuple[TetrarchiaVector, SyncVectorEnv]:
    ours = tetrarchia_v0.vector_env(NUMBER, autoreset_mode=mode, **RULES, **arguments)
    return ours, SyncVectorEnv([lambda: SameSeeds(**RULES, **arguments)] * NUMBER, autoreset_mode=mode)


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Equal values, kinds and keys, all the way down, but for how long an episode took."""
    assert type(one) is type(other), where
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in set(one) - {"t"}:
            assert_same(one[key], other[key], f"{where} {key}")
    elif isinstance(one, tuple | list) or (isinstance(one, np.ndarray) and one.dtype == object):
        for i, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{where} {i}")
    else:
        left, right = np.asarray(one), np.asarray(other)
        assert left.dtype == right.dtype, where
        np.testing.assert_array_equal(left, right, where)


def legal(masks: np.ndarray, step: int) -> np.ndarray:
    """Of each game; every tenth action is any."""
    chance = np.random.default_rng(step)
    chosen = (masks * chance.random(masks.shape)).argmax(axis=1)
    return np.where(chance.random(len(chosen)) < 0.1, chance.integers(masks.shape[1], size=len(chosen)), chosen)


def played(env: Any) -> Iterator[tuple[Any, ...]]:
    """What each reset and step gives; where nothing else does, finished games are reset one by one."""
    obs, infos = env.reset(seed=5)
    yield obs, infos
    masks = obs["action_mask"] if isinstance(obs, dict) else infos["action_mask"]
    for step in range(STEPS):
        obs, reward, terminated, truncated, infos = env.step(legal(masks, step))
        yield obs, reward, terminated, truncated, infos
        masks = (obs["action_mask"] if isinstance(obs, dict) else infos["action_mask"]).copy()
        over = terminated | truncated
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and over.any():
            obs, told = env.reset(seed=100 + step, options={"reset_mask": over})
            yield obs, told
            masks = obs["action_mask"] if isinstance(obs, dict) else np.where(over[:, None], told["action_mask"], masks)


@every_mode
@every_mask
@pytest.mark.parametrize("illegal", ["ignore", "lose"])
def test_the_same_step_by_step(mode: AutoresetMode, mask: str, illegal: str) -> None:
    """Observations, rewards, ends and infos, with their kinds and keys; games end, are reset, and receive illegal actions."""
    ours, theirs = both(mode, mask=mask, illegal=illegal)
    endings = 0
    for step, (one, other) in enumerate(zip(played(ours), played(theirs), strict=True)):
        assert_same(one, other, f"step {step}")
        endings += int((one[2] | one[3]).sum()) if len(one) == 5 else 0
    assert endings > 2 * NUMBER
    assert ours.autoreset_mode == ours.metadata["autoreset_mode"] == mode


@every_mode
def test_a_reset_mask_leaves_the_others_alone(mode: AutoresetMode) -> None:
    ours, theirs = both(mode)
    for env in (ours, theirs):
        obs, _ = env.reset(seed=5)
        for step in range(6):
            obs, *_ = env.step(legal(obs["action_mask"], step))
    flags = np.array([True, False, True, False])
    kept = ours.batched.games[~flags].tobytes()

    one = ours.reset(seed=[3, None, 4, None], options={"reset_mask": flags})
    other = theirs.reset(seed=[3, None, 4, None], options={"reset_mask": flags.copy()})

    assert_same(one, other, "reset")
    assert ours.batched.games[~flags].tobytes() == kept
    assert one[1]["_turn"].tolist() == flags.tolist()


def test_no_seed_among_others_is_a_drawn_one() -> None:
    env = tetrarchia_v0.vector_env(3)
    games = []
    for _ in range(2):
        env.reset(seed=[1, None, np.int64(3)])
        games.append(env.batched.games.copy())
    alone = tetrarchia_v0.vector_env(3)
    alone.reset(seed=1)
    assert [game.tobytes() for game in games[0][[0, 2]]] == [game.tobytes() for game in alone.batched.games[[0, 2]]]
    assert games[0][[0, 2]].tobytes() == games[1][[0, 2]].tobytes()
    assert games[0][1].tobytes() != games[1][1].tobytes()


def test_step_of_a_finished_game_is_refused() -> None:
    env = tetrarchia_v0.vector_env(2, autoreset_mode="Disabled", illegal="lose")
    obs, _ = env.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    _, rewards, terminated, _, infos = env.step(np.array([0, actions[1]]))
    assert (rewards.tolist(), terminated.tolist(), infos["illegal_action"].tolist()) == ([-1, 0], [True, False], [1, 0])
    before = env.batched.games.tobytes()
    with pytest.raises(ValueError, match=r"games \[0\] are over: reset them"):
        env.step(actions)
    assert env.batched.games.tobytes() == before


def test_a_refused_step_changes_nothing_where_games_wait_for_the_next() -> None:
    """NEXT_STEP: the games that ended are still those when an action of another is refused."""
    env = tetrarchia_v0.vector_env(2, illegal="lose")
    obs, _ = env.reset(seed=1)
    actions = obs["action_mask"].argmax(axis=1)
    env.step(np.array([0, actions[1]]))
    before = env.batched.games.tobytes()
    with pytest.raises(ValueError, match="action 455 is not legal in game 1"):
        env.step(np.array([0, 455]))
    assert env.batched.games.tobytes() == before
    _, rewards, terminated, _, infos = env.step(np.array([455, 8]))  # the action of a reset step is ignored
    assert (rewards[0], terminated[0], infos["outcome"][0], infos["illegal_action"][0]) == (0, False, 0, 0)


@pytest.mark.parametrize("mode", ["next", None, 1])
def test_an_unknown_autoreset_mode_is_refused(mode: Any) -> None:
    with pytest.raises(ValueError, match="autoreset_mode must be one of NextStep, SameStep, Disabled"):
        tetrarchia_v0.vector_env(2, autoreset_mode=mode)


def test_gymnasium_makes_it() -> None:
    env = gymnasium.make_vec("Tetrarchia-v0", 3, vectorization_mode="vector_entry_point", level="4200", mask="info")
    obs, infos = env.reset(seed=1)
    assert isinstance(env.unwrapped, TetrarchiaVector)
    assert (env.observation_space.contains(obs), infos["action_mask"].shape) == (True, (3, 455))


Wrap = Callable[[Any], Any]
IN_DICT: dict[str, Wrap] = {  # wrappers of a Dict observation
    "FlattenObservation": wrappers.FlattenObservation,
    "FilterObservation": lambda env: wrappers.FilterObservation(env, ["action_mask", "observation"]),
    "DictInfoToList": wrappers.DictInfoToList,
}
IN_BOX: dict[str, Wrap] = {  # of a Box, as SuperSuit's want it too
    "NormalizeObservation": wrappers.NormalizeObservation,
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(env, (2, 672)),
    "TransformObservation": lambda env: wrappers.TransformObservation(env, lambda obs: obs * 1),
}
ANY: dict[str, Wrap] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "NormalizeReward": wrappers.NormalizeReward,
    "ClipReward": lambda env: wrappers.ClipReward(env, -0.5, 0.5),
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda reward: reward * 2),
}
REFUSED = {(name, AutoresetMode.SAME_STEP) for name in ("FlattenObservation", "FilterObservation", *IN_BOX)}
REFUSED |= {("NormalizeObservation", AutoresetMode.DISABLED)}
WRAPPERS = [(name, wrap, "observation") for name, wrap in (IN_DICT | ANY).items()]
WRAPPERS += [(name, wrap, "info") for name, wrap in (IN_BOX | ANY).items()]


@every_mode
@pytest.mark.parametrize(("name", "wrap", "mask"), WRAPPERS, ids=[f"{name}-{mask}" for name, _, mask in WRAPPERS])
def test_gymnasiums_wrappers_do_the_same(name: str, wrap: Wrap, mask: str, mode: AutoresetMode) -> None:
    """Unmodified, and equal to the same wrapper around Gymnasium's own; what refuses a mode refuses it on both."""
    ours, theirs = both(mode, mask=mask)
    if (name, mode) in REFUSED:
        for env in (ours, theirs):
            with pytest.raises(ValueError, match="autoreset_mode"):
                wrap(env)
        return
    batched, ours, theirs = ours.batched, wrap(ours), wrap(theirs)
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    for step in range(150):
        actions = legal(batched.legal(), step)
        assert_same(ours.step(actions), theirs.step(actions), f"step {step}")
        if mode == AutoresetMode.DISABLED and is_over(batched.games).any():
            assert_same(ours.reset(seed=9 + step), theirs.reset(seed=9 + step))
