"""The Gymnasium vector API: many games in one compiled call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.checks import check_no_options, checked_seed
from tetrarchia_env.engine.state import TRUNCATED
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.envs.illegal_actions import IGNORE
from tetrarchia_env.envs.infos import info_of, only_in, with_rows
from tetrarchia_env.envs.spaces import RENDER_FPS, RENDER_MODES_OF_MANY, Obs, check_mask, observation_space
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.render.modes import Drawing
from tetrarchia_env.schema import truncate_repr

Info = dict[str, Any]
Flags = NDArray[np.bool_]
Seed = int | Sequence[int | None] | None


class TetrarchiaVector(VectorEnv):
    """As `num_envs` of `Tetrarchia-v0` in Gymnasium's SyncVectorEnv, with the same autoreset modes, infos and `reset_mask`.

    One seed fixes all games of an environment that follow without another. With copy=False an observation is only good until
    the step after the next.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        mask: str = "observation",
        illegal: str = IGNORE,
        copy: bool = True,
        **arguments: Any,
    ) -> None:
        self.batched = BatchedGames(num_envs, illegal=illegal, **arguments)
        self.num_envs, self.copy, self.mask_in = num_envs, copy, check_mask(mask)
        self.render_mode = self.batched.render_mode
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(RENDER_MODES_OF_MANY), "render_fps": RENDER_FPS, "autoreset_mode": self.autoreset_mode}
        width = self.batched.masks.shape[1]
        self.single_observation_space, self.single_action_space = observation_space(mask, width), Discrete(width)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        """New games: `seed` for the first, the numbers after it for the others; or a seed for each, None for a drawn one.

        options={"reset_mask": flags} begins anew only where it says so; the infos are only of those games.
        """
        others = {name: value for name, value in (options or {}).items() if name != "reset_mask"}
        check_no_options(others)
        with self.batched.thread_guard:
            flags = self._reset_mask(options) if options and "reset_mask" in options else np.ones(self.num_envs, dtype=np.bool_)
            rows = np.flatnonzero(flags)
            self.batched.begin(self._seeds(seed)[rows], rows)
            masks = self.batched.legal()
            return self._obs(masks), only_in(self._info(masks), flags)

    def step(self, actions: NDArray[np.int64]) -> tuple[Obs, NDArray[np.float64], Flags, Flags, Info]:
        """One action in each game; where the mode is NEXT_STEP and a game was finished, the next one begins instead."""
        with self.batched.thread_guard:
            return self._step(actions)

    def _step(self, actions: NDArray[np.int64]) -> tuple[Obs, NDArray[np.float64], Flags, Flags, Info]:
        batched, same_step = self.batched, self.autoreset_mode == AutoresetMode.SAME_STEP
        batched.advance(actions, None if same_step else self._finished())
        ended = batched.episodes["ended"] != 0
        truncated = ended & (batched.games["outcome"] == TRUNCATED)
        final = self._follow_up(ended) if same_step and ended.any() else {}
        batched.observe()
        masks = batched.legal()
        infos = with_rows(self._info(masks), np.ones(self.num_envs, dtype=np.bool_))
        return self._obs(masks), batched.episodes["reward"].copy(), ended & ~truncated, truncated, infos | final

    def render(self) -> tuple[Drawing, ...] | None:
        """A drawing of each game."""
        return self.batched.draw()

    def _finished(self) -> Flags:
        """Where the step is to begin the next game."""
        over = batch.is_over(self.batched.games)
        if self.autoreset_mode == AutoresetMode.DISABLED and over.any():
            raise TetrarchiaError(
                f"games {np.flatnonzero(over).tolist()} are finished: reset them with options={{'reset_mask': ...}} first"
            )
        return over

    def _follow_up(self, ended: Flags) -> Info:
        """The next games in the same step; what is told of those that ended."""
        masks, rows = self.batched.legal(), np.flatnonzero(ended)
        info = only_in(self._info(masks), ended)
        self.batched.follow_up(rows)
        final_obs = np.full(self.num_envs, None, dtype=object)
        for i, obs in zip(rows, self.batched.final_obs[rows], strict=True):
            final_obs[i] = obs if self.mask_in == "info" else {"observation": obs, "action_mask": masks[i]}
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": info, "_final_info": ended.copy()}

    def _reset_mask(self, options: dict[str, Any]) -> Flags:
        flags = options["reset_mask"]
        if not isinstance(flags, np.ndarray) or flags.dtype != np.bool_ or flags.shape != (self.num_envs,) or not flags.any():
            raise TetrarchiaError(f"reset_mask is an array of {self.num_envs} bools, at least one of them True, not {truncate_repr(flags)}")
        if not flags.all() and not self.batched.episodes["rng"].all():
            raise TetrarchiaError("no game is under way: reset all of them first")
        return flags.copy()

    def _seeds(self, seed: Seed) -> NDArray[np.uint64]:
        """One for each game; where none is given, one drawn as the last seed fixes it."""
        given = self._listed(seed)
        if None in given:
            drawn = self.np_random.integers(2**63, size=self.num_envs)
            return batch.seed_array([int(other) if one is None else one for one, other in zip(given, drawn, strict=True)])
        seeds = batch.seed_array(given)
        super().reset(seed=int(seeds[0]))
        return seeds

    def _listed(self, seed: Seed) -> Sequence[Any]:
        if isinstance(seed, Sequence) or (isinstance(seed, np.ndarray) and seed.ndim):
            if len(seed) != self.num_envs:
                raise TetrarchiaError(f"seed is one number or {self.num_envs} of them, not {len(seed)}")
            return list(seed)
        return [None] * self.num_envs if seed is None else [checked_seed(seed) + i for i in range(self.num_envs)]

    def _obs(self, masks: batch.Masks) -> Obs:
        obs = self.batched.obs.copy() if self.copy else self.batched.obs
        return obs if self.mask_in == "info" else {"observation": obs, "action_mask": masks}

    def _info(self, masks: batch.Masks) -> Info:
        return info_of(self.batched.status(), self.batched.illegal_actions.copy(), masks.copy() if self.mask_in == "info" else None)


def _checked_mode(mode: object) -> AutoresetMode:
    """Gymnasium's, by itself or by its value."""
    known = {one.value: one for one in AutoresetMode}
    if not isinstance(mode, AutoresetMode) and mode not in known:
        raise TetrarchiaError(f"unknown autoreset_mode {truncate_repr(mode)}: choose one of {', '.join(known)}")
    return mode if isinstance(mode, AutoresetMode) else known[str(mode)]
