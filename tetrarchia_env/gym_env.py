"""The Gymnasium API: one player controls all four Emperors."""

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import BUSY, check_no_options, checked_seed
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.engine.state import OUTCOMES, RUNNING, TRUNCATED
from tetrarchia_env.env_state import EnvState
from tetrarchia_env.spaces import RENDER_FPS, RENDER_MODES, dict_space

Obs = dict[str, NDArray[Any]]


class TetrarchiaEnv(EnvState, gymnasium.Env[Obs, np.int64]):
    """`Tetrarchia-v0`: the observation is that of the Emperor who is to act; the reward is the mean of the four's.

    An illegal action changes nothing: reward 0 and "illegal_action" in the info. `action_space.sample(mask)` draws a
    legal one, with the mask of the observation or the info.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.observation_space = dict_space()
        self.action_space = spaces.Discrete(ACTIONS)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """A new game; the seed fixes every die of it, and of those that follow without one."""
        check_no_options(options)
        chosen = None if seed is None else checked_seed(seed)
        with self.one_thread:
            super().reset(seed=chosen)
            self.begin(int(self.np_random.integers(2**63)) if chosen is None else chosen)
            self.show_unasked(begins=True)
            return self._look()

    def step(self, action: np.int64 | int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """One decision of whichever Emperor is to act."""
        if not self.one_thread.acquire(False):
            raise ValueError(BUSY)
        try:
            return self._step(action)
        finally:
            self.one_thread.release()

    def _step(self, action: np.int64 | int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise ValueError(f"an action is a whole number from 0 to {ACTIONS - 1}, not {action!r}")
        self.check_under_way()
        is_legal = bool(self.masks[0, action])
        reward = self.play(int(action)) if is_legal else 0.0
        obs, info = self._look()
        over = info["outcome"] != OUTCOMES[RUNNING]
        truncated = info["outcome"] == OUTCOMES[TRUNCATED]
        if not is_legal:
            info["illegal_action"] = True
        self.show_unasked()
        return obs, reward, over and not truncated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, as MaskablePPO asks for them."""
        legal: NDArray[np.bool_] = self.masks[0].astype(bool)
        return legal

    def _look(self) -> tuple[Obs, dict[str, Any]]:
        """What the Emperor to act observes, and the info."""
        to_act, outcome, score, turn = self.status()
        mask = self.masks[0].copy()
        info = {"outcome": OUTCOMES[outcome], "score": score, "turn": turn, "agent": EMPERORS[to_act], "action_mask": mask}
        return {"observation": self.observed_by(to_act), "action_mask": mask}, info
