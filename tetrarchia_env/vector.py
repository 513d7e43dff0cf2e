"""The Gymnasium vector API: many games in one compiled call."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.batched_games import BatchedGames
from tetrarchia_env.checks import check_no_options, checked_seed
from tetrarchia_env.engine.state import OUTCOMES, TRUNCATED
from tetrarchia_env.render.modes import Drawing
from tetrarchia_env.spaces import RENDER_FPS, RENDER_MODES_OF_MANY, dict_space

Obs = dict[str, NDArray[Any]]


class TetrarchiaVector(VectorEnv):
    """As `Tetrarchia-v0`, `num_envs` times. A game that ends is followed by the next one in the same step.

    `infos` always has "agent", the number of the Emperor to act in each game. After a step that ended games it also
    has "final_obs" and "final_info" (outcome, score, turn, level, episode), as Gymnasium's same-step autoreset does,
    with "_final_obs" and "_final_info" for which games. With copy=False an observation is only good until the step
    after the next.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES_OF_MANY),
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(self, num_envs: int = 1, *, copy: bool = True, **arguments: Any) -> None:
        self.batched = BatchedGames(num_envs, **arguments)
        self.num_envs = num_envs
        self.render_mode = self.batched.render_mode
        self.copy = copy
        width = self.batched.masks.shape[1]
        self.single_observation_space, self.single_action_space = dict_space(width), Discrete(width)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """New games: `seed` for the first, the numbers after it for the others; or a seed for each."""
        if options and "reset_mask" in options:
            raise ValueError("reset_mask is not known here: a game that ends is followed by the next one in the same step")
        check_no_options(options)
        with self.batched.one_thread:
            return self._reset(seed)

    def _reset(self, seed: int | Sequence[int] | None) -> tuple[Obs, dict[str, Any]]:
        if seed is None:
            seeds = self.np_random.integers(2**63, size=self.num_envs)
        else:
            seeds = batch.seed_array(self._seeds(seed))
            super().reset(seed=int(seeds[0]))
        obs = self.batched.begin(seeds)
        return self._obs(obs), self._info()

    def step(self, actions: NDArray[np.int64]) -> tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One action in each game."""
        with self.batched.one_thread:
            return self._step(actions)

    def _step(self, actions: NDArray[np.int64]) -> tuple[Obs, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        obs = self.batched.play(actions)
        episodes = self.batched.episodes
        ended = episodes["ended"].astype(bool)
        truncated = ended & (episodes["outcome"] == TRUNCATED)
        info = self._info() | (self._final_info(ended) if ended.any() else {})
        return self._obs(obs), episodes["reward"].copy(), ended & ~truncated, truncated, info

    def render(self) -> tuple[Drawing, ...] | None:
        """A drawing of each game."""
        return self.batched.draw()

    def _seeds(self, seed: int | Sequence[int]) -> Sequence[int]:
        """One for each game."""
        if isinstance(seed, Sequence | np.ndarray) and np.ndim(seed):
            seeds: Sequence[int] = list(seed)
        else:
            first = checked_seed(seed)
            seeds = range(first, first + self.num_envs)
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed is one number or {self.num_envs} of them, not {len(seeds)}")
        return seeds

    def _obs(self, observations: NDArray[np.float32]) -> Obs:
        masks = self.batched.masks.copy()
        return {"observation": observations.copy() if self.copy else observations, "action_mask": masks}

    def _info(self) -> dict[str, Any]:
        return {"agent": self.batched.episodes["to_act"].copy()}

    def _final_info(self, ended: NDArray[np.bool_]) -> dict[str, Any]:
        episodes = self.batched.episodes
        final_obs = np.full(self.num_envs, None, dtype=object)
        nothing_legal = np.zeros(self.batched.masks.shape[1], dtype=np.int8)
        for i in np.flatnonzero(ended):
            final_obs[i] = {"observation": self.batched.final_obs[i].copy(), "action_mask": nothing_legal}
        final_info = {
            "outcome": np.array(OUTCOMES)[episodes["outcome"]],
            "score": episodes["score"].copy(),
            "turn": episodes["turn"].copy(),
            "level": episodes["level"].copy(),
            "episode": {"r": episodes["final_total"].copy(), "l": episodes["final_steps"].copy()},
        }
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended}
