"""`vector_env` equals Gymnasium's SyncVectorEnv of single environments at every step, also inside Gymnasium's vector wrappers."""

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
    """A single environment that continues without a seed as the vector environment does: from the RNG state of the last game's start."""

    last = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.last = int(rng_states(np.array([self.last], dtype=np.uint64))[0]) if seed is None else seed
        return super().reset(seed=self.last, options=options)


def our_env_and_sync_env(mode: AutoresetMode, **arguments: Any) -> tuple[TetrarchiaVector, SyncVectorEnv]:
    ours = tetrarchia_v0.vector_env(NUMBER, autoreset_mode=mode, **RULES, **arguments)
    return ours, SyncVectorEnv([lambda: SameSeeds(**RULES, **arguments)] * NUMBER, autoreset_mode=mode)


def assert_same(one: Any, other: Any, where: str = "") -> None:
    """Check that values, types and keys are equal at every level of nesting, except for the elapsed time of an episode."""
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


def choose_actions(masks: np.ndarray, step: int) -> np.ndarray:
    """Return an action for each game: legal in nine of ten cases, else any."""
    chance = np.random.default_rng(step)
    chosen = (masks * chance.random(masks.shape)).argmax(axis=1)
    return np.where(chance.random(len(chosen)) < 0.1, chance.integers(masks.shape[1], size=len(chosen)), chosen)


def play_results(env: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the results of each reset and step; without autoreset, finished games are reset with a mask."""
    obs, infos = env.reset(seed=5)
    yield obs, infos
    masks = obs["action_mask"] if isinstance(obs, dict) else infos["action_mask"]
    for step in range(STEPS):
        obs, reward, terminated, truncated, infos = env.step(choose_actions(masks, step))
        yield obs, reward, terminated, truncated, infos
        masks = (obs["action_mask"] if isinstance(obs, dict) else infos["action_mask"]).copy()
        over = terminated | truncated
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and over.any():
            obs, reset_infos = env.reset(seed=100 + step, options={"reset_mask": over})
            yield obs, reset_infos
            masks = obs["action_mask"] if isinstance(obs, dict) else np.where(over[:, None], reset_infos["action_mask"], masks)


@every_mode
@every_mask
@pytest.mark.parametrize("illegal", ["ignore", "lose"])
def test_every_step_equals_sync_vector_env(mode: AutoresetMode, mask: str, illegal: str) -> None:
    """Compare observations, rewards, ends and infos, with types and keys, over games that end and receive illegal actions."""
    ours, theirs = our_env_and_sync_env(mode, mask=mask, illegal=illegal)
    endings = 0
    for step, (one, other) in enumerate(zip(play_results(ours), play_results(theirs), strict=True)):
        assert_same(one, other, f"step {step}")
        endings += int((one[2] | one[3]).sum()) if len(one) == 5 else 0
    assert endings > 2 * NUMBER
    assert ours.autoreset_mode == ours.metadata["autoreset_mode"] == mode


@every_mode
def test_reset_mask_leaves_the_other_games_unchanged(mode: AutoresetMode) -> None:
    ours, theirs = our_env_and_sync_env(mode)
    for env in (ours, theirs):
        obs, _ = env.reset(seed=5)
        for step in range(6):
            obs, *_ = env.step(choose_actions(obs["action_mask"], step))
    flags = np.array([True, False, True, False])
    kept = ours.batched.games[~flags].tobytes()

    one = ours.reset(seed=[3, None, 4, None], options={"reset_mask": flags})
    other = theirs.reset(seed=[3, None, 4, None], options={"reset_mask": flags.copy()})

    assert_same(one, other, "reset")
    assert ours.batched.games[~flags].tobytes() == kept
    assert one[1]["_turn"].tolist() == flags.tolist()


def test_none_in_a_list_of_seeds_draws_a_random_seed() -> None:
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


def test_refused_step_in_next_step_mode_changes_nothing() -> None:
    """Finished games still wait for their reset step after the action of another game is refused."""
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
def test_unknown_autoreset_mode_is_refused(mode: Any) -> None:
    with pytest.raises(ValueError, match="autoreset_mode must be one of NextStep, SameStep, Disabled"):
        tetrarchia_v0.vector_env(2, autoreset_mode=mode)


def test_gymnasium_make_vec() -> None:
    env = gymnasium.make_vec("Tetrarchia-v0", 3, vectorization_mode="vector_entry_point", level="4200", mask="info")
    obs, infos = env.reset(seed=1)
    assert isinstance(env.unwrapped, TetrarchiaVector)
    assert (env.observation_space.contains(obs), infos["action_mask"].shape) == (True, (3, 455))


Wrap = Callable[[Any], Any]
DICT_WRAPPERS: dict[str, Wrap] = {  # wrappers that need a Dict observation
    "FlattenObservation": wrappers.FlattenObservation,
    "FilterObservation": lambda env: wrappers.FilterObservation(env, ["action_mask", "observation"]),
    "DictInfoToList": wrappers.DictInfoToList,
}
BOX_WRAPPERS: dict[str, Wrap] = {  # wrappers that need a Box observation, as those of SuperSuit do
    "NormalizeObservation": wrappers.NormalizeObservation,
    "ReshapeObservation": lambda env: wrappers.ReshapeObservation(env, (2, 672)),
    "TransformObservation": lambda env: wrappers.TransformObservation(env, lambda obs: obs * 1),
}
ANY_SPACE_WRAPPERS: dict[str, Wrap] = {
    "RecordEpisodeStatistics": wrappers.RecordEpisodeStatistics,
    "NormalizeReward": wrappers.NormalizeReward,
    "ClipReward": lambda env: wrappers.ClipReward(env, -0.5, 0.5),
    "TransformReward": lambda env: wrappers.TransformReward(env, lambda reward: reward * 2),
}
REFUSED = {(name, AutoresetMode.SAME_STEP) for name in ("FlattenObservation", "FilterObservation", *BOX_WRAPPERS)}
REFUSED |= {("NormalizeObservation", AutoresetMode.DISABLED)}
WRAPPERS = [(name, wrap, "observation") for name, wrap in (DICT_WRAPPERS | ANY_SPACE_WRAPPERS).items()]
WRAPPERS += [(name, wrap, "info") for name, wrap in (BOX_WRAPPERS | ANY_SPACE_WRAPPERS).items()]


@every_mode
@pytest.mark.parametrize(("name", "wrap", "mask"), WRAPPERS, ids=[f"{name}-{mask}" for name, _, mask in WRAPPERS])
def test_gymnasium_vector_wrappers_give_equal_results(name: str, wrap: Wrap, mask: str, mode: AutoresetMode) -> None:
    """A wrapper gives the same results on both environments, or refuses an autoreset mode on both."""
    ours, theirs = our_env_and_sync_env(mode, mask=mask)
    if (name, mode) in REFUSED:
        for env in (ours, theirs):
            with pytest.raises(ValueError, match="autoreset_mode"):
                wrap(env)
        return
    batched, ours, theirs = ours.batched, wrap(ours), wrap(theirs)
    assert_same(ours.reset(seed=5), theirs.reset(seed=5))
    for step in range(150):
        actions = choose_actions(batched.legal(), step)
        assert_same(ours.step(actions), theirs.step(actions), f"step {step}")
        if mode == AutoresetMode.DISABLED and is_over(batched.games).any():
            assert_same(ours.reset(seed=9 + step), theirs.reset(seed=9 + step))
