"""The Gymnasium API: one player controls all four Emperors."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tetrarchia_env.checks import ERR_CONCURRENT_USE, check_no_options, checked_seed
from tetrarchia_env.engine.actions import ACTIONS, END
from tetrarchia_env.engine.state import OVER, RUNNING, TRUNCATED
from tetrarchia_env.envs.env_state import EnvState
from tetrarchia_env.envs.illegal_actions import IGNORE, RAISE, check_illegal, punish
from tetrarchia_env.envs.infos import info_of
from tetrarchia_env.envs.spaces import RENDER_FPS, RENDER_MODES, Obs, observation_space
from tetrarchia_env.errors import TetrarchiaError

HERE = np.array([0])  # the row of an only game


class TetrarchiaEnv(EnvState, gymnasium.Env[Obs, np.int64]):
    """`Tetrarchia-v0`: the observation is that of the Emperor who is to act; the reward is the mean of the four's.

    `action_space.sample(mask)` draws a legal action, with the mask of the observation or the info; `illegal` says what
    happens to another, and "illegal_action" in the info is 1 then.
    """

    also = ("illegal",)
    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(self, *, illegal: str = IGNORE, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.illegal = check_illegal(illegal)
        self.ignored = np.zeros(1, dtype=np.int64)  # illegal actions of this game
        self.observation_space = observation_space(self.mask_in)
        self.action_space = spaces.Discrete(ACTIONS)

    def _forget(self) -> None:
        super()._forget()
        self.ignored[:] = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """A new game; the seed fixes every die of it, and of those that follow without one."""
        check_no_options(options)
        chosen = None if seed is None else checked_seed(seed)
        with self.thread_guard:
            super().reset(seed=chosen)
            self.begin(int(self.np_random.integers(2**63)) if chosen is None else chosen)
            self.show_unasked(begins=True)
            return self._look()

    def step(self, action: np.int64 | int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """One decision of whichever Emperor is to act."""
        if not self.thread_guard.acquire(False):
            raise TetrarchiaError(ERR_CONCURRENT_USE)
        try:
            return self._step(action)
        finally:
            self.thread_guard.release()

    def _step(self, action: np.int64 | int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise TetrarchiaError(f"an action is a whole number from 0 to {ACTIONS - 1}, not {action!r}")
        self.check_under_way()
        is_legal = bool(self.masks[0, action])
        reward = self.play(int(action)) if is_legal or self.illegal == RAISE else self._not_played()
        obs, info = self._look(illegal_action=int(not is_legal))
        self.show_unasked()
        return obs, reward, info["outcome"] not in (RUNNING, TRUNCATED), bool(info["outcome"] == TRUNCATED), info

    def _not_played(self) -> float:
        """An illegal action: a step like any other for the reward."""
        self.ignored += 1
        punish(self.game, self.masks, HERE, self.ignored, self.illegal)
        return float(self.reward(self.game)[0])

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, as MaskablePPO asks for them."""
        return self._legal().astype(bool)

    def _legal(self) -> NDArray[np.int8]:
        """After the end `end` alone: a library may choose from the last mask too, to no effect."""
        mask: NDArray[np.int8] = self.masks[0].copy()
        mask[END] |= self.game["phase"][0] == OVER
        return mask

    def _look(self, illegal_action: int = 0) -> tuple[Obs, dict[str, Any]]:
        """What the Emperor to act observes, and the info."""
        status, mask = self.status(), self._legal()
        obs = self.observed_by(status[0])
        numbers = [np.int64(number) for number in status]  # with a dtype: TorchRL makes its specs from it
        if self.mask_in == "info":
            return obs, info_of(numbers, np.int64(illegal_action), mask)
        return {"observation": obs, "action_mask": mask}, info_of(numbers, np.int64(illegal_action))
