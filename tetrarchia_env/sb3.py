"""The Stable-Baselines3 API: many games as one VecEnv, with action masks for MaskablePPO."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tetrarchia_env.batched_games import BatchedGames
from tetrarchia_env.checks import check_no_options, checked_seed, seed_array
from tetrarchia_env.engine.state import OUTCOMES, TRUNCATED
from tetrarchia_env.spaces import RENDER_FPS, vector_space

Indices = None | int | Iterable[int]


class TetrarchiaVecEnv(VecEnv):
    """The observation is the vector alone; masks come from `env_method("action_masks")`.

    The info of a step that ended a game has "terminal_observation", "TimeLimit.truncated" and "episode" as SB3
    expects them, and outcome, score, turn and level.
    """

    def __init__(self, num_envs: int = 1, *, seed: int | None = None, **arguments: Any) -> None:
        self.batched = BatchedGames(num_envs, **arguments)
        self.render_mode = self.batched.render_mode
        super().__init__(num_envs, vector_space(), Discrete(self.batched.masks.shape[1]))
        self.metadata["render_fps"] = RENDER_FPS  # for SB3's video recorder
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._began = time.time()
        self.seed(seed)

    def reset(self) -> NDArray[np.float32]:
        """New games everywhere; after `seed(s)` environment i begins with seed s + i, else with one drawn."""
        with self.batched.one_thread:
            seeds = [int(self._random.integers(2**63)) if seed is None else seed for seed in self._seeds]
            self._reset_seeds()
            return self.batched.begin(seeds)

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

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them."""
        with self.batched.one_thread:
            return self._step()

    def _step(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        obs = self.batched.play(self._actions)
        episodes = self.batched.episodes
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(episodes["ended"]):
            infos[i] = self._final_info(int(i))
        return obs, episodes["reward"].astype(np.float32), episodes["ended"].astype(bool), infos

    def _final_info(self, i: int) -> dict[str, Any]:
        episode = self.batched.episodes[i]
        elapsed = round(time.time() - self._began, 6)
        return {
            "terminal_observation": self.batched.final_obs[i].copy(),
            "TimeLimit.truncated": bool(episode.outcome == TRUNCATED),
            "episode": {"r": float(episode.final_total), "l": int(episode.final_steps), "t": elapsed},
            "outcome": OUTCOMES[episode.outcome],
            "score": int(episode.score),
            "turn": int(episode.turn),
            "level": "".join(str(digit) for digit in episode.level),
        }

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
