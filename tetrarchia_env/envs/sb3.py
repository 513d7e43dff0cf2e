"""The Stable-Baselines3 API: many games as one VecEnv, with action masks for MaskablePPO."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tetrarchia_env.checks import check_no_options, checked_seed, seed_array
from tetrarchia_env.engine.state import TRUNCATED
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.envs.infos import infos_of
from tetrarchia_env.envs.spaces import RENDER_FPS, Obs, check_mask, observation_space

ALL = slice(None)
Indices = None | int | Iterable[int]


class TetrarchiaVecEnv(VecEnv):
    """The observation is the vector alone unless `mask` says otherwise; masks come from `env_method("action_masks")`.

    The info of a step that ended a game is of that game, and has "terminal_observation", "TimeLimit.truncated" and
    "episode" (with its level) beside, as SB3 expects them. With copy=False an observation is only good until the step
    after the next.
    """

    def __init__(self, num_envs: int = 1, *, seed: int | None = None, mask: str | None = None, copy: bool = True, **arguments: Any) -> None:
        self.batched = BatchedGames(num_envs, **arguments)
        self.render_mode = self.batched.render_mode
        self.mask_in, self.copy = mask and check_mask(mask), copy
        width = self.batched.masks.shape[1]
        super().__init__(num_envs, observation_space(mask or "info", width), Discrete(width))
        self.metadata["render_fps"] = RENDER_FPS  # for SB3's video recorder
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._began = time.time()
        self.seed(seed)

    def reset(self) -> Obs:
        """New games everywhere; after `seed(s)` environment i begins with seed s + i, else with one drawn."""
        with self.batched.thread_guard:
            seeds = [int(self._random.integers(2**63)) if seed is None else seed for seed in self._seeds]
            self._reset_seeds()
            self.batched.begin(seeds)
            self.reset_infos = self._infos()
            return self._obs()

    def set_options(self, options: Any = None) -> None:
        """There are none to set."""
        each = [options] if isinstance(options, dict) else options or []
        check_no_options(next(filter(None, each), None))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Fix all games from the next reset on."""
        first = None if seed is None else checked_seed(seed)
        self._seeds = [None] * self.num_envs if first is None else seed_array(range(first, first + self.num_envs)).tolist()
        self._random = np.random.default_rng(first)
        return self._seeds

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them."""
        with self.batched.thread_guard:
            return self._step()

    def _step(self) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        self.batched.advance(self._actions)
        infos, episodes = self._infos(), self.batched.episodes
        ended = np.flatnonzero(episodes["ended"])
        if len(ended):
            self._follow_up(ended, infos)
        self.batched.observe()
        return self._obs(), episodes["reward"].astype(np.float32), episodes["ended"].astype(bool), infos

    def _follow_up(self, ended: NDArray[np.int64], infos: list[dict[str, Any]]) -> None:
        """The next games in the same step; what is told of those that ended."""
        masks = self.batched.legal()[ended] if self.mask_in == "observation" else None
        self.batched.follow_up(ended)
        final_obs = self.batched.final_obs[ended]
        for place, (i, told, begun) in enumerate(zip(ended.tolist(), self._episodes(ended), self._infos(ended), strict=True)):
            obs = final_obs[place]
            infos[i]["terminal_observation"] = obs if masks is None else {"observation": obs, "action_mask": masks[place]}
            infos[i] |= told
            self.reset_infos[i] = begun

    def _episodes(self, ended: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
        """As SB3's Monitor tells them, with the level as a number."""
        rows, elapsed = self.batched.episodes[ended], round(time.time() - self._began, 6)
        levels, truncated = rows["level"] @ (1000, 100, 10, 1), rows["outcome"] == TRUNCATED
        columns = (rows["final_total"], rows["final_steps"], levels, truncated)
        for total, steps, level, cut in zip(*(column.tolist() for column in columns), strict=True):
            yield {"TimeLimit.truncated": cut, "episode": {"r": total, "l": steps, "t": elapsed, "level": level}}

    def _infos(self, rows: Any = ALL) -> list[dict[str, Any]]:
        """Of each game, or of those in these rows."""
        infos = infos_of(self.batched.status()[:, rows], self.batched.illegal_actions[rows])
        if self.mask_in == "info":
            for info, mask in zip(infos, self.batched.legal()[rows], strict=True):
                info["action_mask"] = mask
        return infos

    def _obs(self) -> Obs:
        obs = self.batched.obs.copy() if self.copy else self.batched.obs
        return {"observation": obs, "action_mask": self.batched.legal()} if self.mask_in == "observation" else obs

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of all games."""
        legal: NDArray[np.bool_] = self.batched.masks.astype(bool)
        return legal

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> Any:
        """Only `action_masks` (a row for each) and `render` are methods of the single games."""
        if method_name == "render":
            return [self._drawings()[i] for i in self._get_indices(indices)]
        if method_name != "action_masks":
            raise AttributeError(f"a game of this VecEnv has the methods action_masks and render, not {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """The pixels of every game in the mode `rgb_array`, as SB3's `render` asks for them."""
        return self._drawings() if self.render_mode == "rgb_array" else [None] * self.num_envs

    def _drawings(self) -> Sequence[Any]:
        return self.batched.draw() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The same for all games: what this VecEnv has."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Nothing can be set for one game only; `batched.set_initial_states` changes how games begin."""
        raise AttributeError(f"{attr_name!r} cannot be set for single games")

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """No wrappers; but episodes are reported as SB3's Monitor does."""
        monitored = wrapper_class.__name__ == "Monitor"
        return [monitored] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Nothing is held open."""
