"""The Gymnasium API: one player controls all four Emperors."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import ERR_CONCURRENT_USE, check_no_options, checked_seed
from tetrarchia_env.engine.actions import END
from tetrarchia_env.engine.state import OVER, RUNNING, TRUNCATED
from tetrarchia_env.envs.base import BaseEnv
from tetrarchia_env.envs.illegal_actions import IllegalRule, apply_illegal, check_illegal
from tetrarchia_env.envs.infos import info_of
from tetrarchia_env.envs.partners import PartnersArgument, Seat, make_partners
from tetrarchia_env.envs.rewards import Reward, RewardName, pays_each_emperor, step_rewards
from tetrarchia_env.envs.spaces import RENDER_FPS, RENDER_MODES, MaskPlace, Obs, RenderMode, observation_space
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import ROW_0
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.options import Options


class TetrarchiaEnv(BaseEnv, gymnasium.Env[Obs, np.int64]):
    """`Tetrarchia-v0`: observations of the Emperor to act, and the mean of the four Emperors' rewards.

    Args:
        level: four digits (R2.1), "4211" by default; or a list of levels, one of which is drawn per game
        variants: any names of `constants.VARIANTS` (R10)
        modules: any names of `constants.MODULES` (R11)
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules
        fixed_setup: place the initial Revolts in province 3 of each region (R2.7)
        revolts: the number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8)
        secured: the number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8)
        task: a name of `constants.TASKS`, which sets level, revolts and secured
        max_turns: truncate a game after this many turns
        reward: "outcome", "score", "shaped", "glory", "borders", or a reward object (`tetrarchia_env.envs.rewards`)
        gamma: the learner's discount per step, for `reward="shaped"`
        view_radius: `None` for full observations; 0 to 12: an Emperor observes only spaces within this number of links (R14)
        last_seen: with `view_radius`: spaces out of view show what was seen there last, and its age (R14.6)
        message_tokens: with `view_radius`: the number of tokens that an Emperor can say once a turn, 0 to 16 (R14.7)
        render_mode: `None`, "ansi", "rgb_array", "human" or "svg"
        seat: the learner's Emperor; `partners` decide for the other three, and only its decisions are steps
        partners: an agent (a name or an object) for the other seats, a dict by seat, or a list of these, one drawn per game
        mask: "observation" (a dict of vector and mask) or "info" (the vector alone, and the mask in `info["action_mask"]`)
        illegal: the effect of an illegal action: "raise", "ignore" (no effect; the 1000th of a game truncates it) or "lose";
            `info["illegal_action"]` is 1 after one

    >>> import gymnasium, tetrarchia_env
    >>> env = gymnasium.make("Tetrarchia-v0", level="4200")
    >>> obs, info = env.reset(seed=7)
    >>> action = env.action_space.sample(obs["action_mask"])  # a random legal action
    >>> obs, reward, terminated, truncated, info = env.step(action)
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(
        self,
        *,
        level: str | Sequence[str] | None = None,
        variants: Iterable[str] = (),
        modules: Iterable[str] = (),
        scenario: str | None = None,
        fixed_setup: bool = False,
        revolts: int | Sequence[int] = 6,
        secured: int | Sequence[int] = 0,
        task: str | None = None,
        max_turns: int = 400,
        reward: RewardName | Reward = "outcome",
        gamma: float = 1.0,
        view_radius: int | None = None,
        last_seen: bool = False,
        message_tokens: int = 0,
        render_mode: RenderMode | None = None,
        seat: Seat | None = None,
        partners: PartnersArgument | None = None,
        mask: MaskPlace = "observation",
        illegal: IllegalRule = "ignore",
    ) -> None:
        options = Options(level, variants, modules, scenario, fixed_setup, max_turns, revolts, secured, task)
        local, others = LocalOptions(view_radius, last_seen, message_tokens), make_partners(seat, partners)
        super().__init__(options, reward, gamma, local, render_mode, mask, others)
        self.illegal = check_illegal(illegal)
        self.ignored = np.zeros(1, dtype=np.int64)  # illegal actions of this game
        self.rewards: NDArray[np.float64] | None = None  # of each Emperor for the last step, if the reward object has them
        self._pays_each_emperor: bool | None = None  # unknown before the first game
        self.observation_space = observation_space(self.mask_in, self.local_options.actions, self.local_options.size)
        self.action_space = spaces.Discrete(self.local_options.actions)

    def _clear(self) -> None:
        super()._clear()
        self.ignored[:] = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Obs, dict[str, Any]]:
        """Begin a new game; the seed determines its dice and those of the following games without a seed."""
        check_no_options(options)
        chosen = None if seed is None else checked_seed(seed)
        with self.thread_guard:
            super().reset(seed=chosen)
            self.begin(int(self.np_random.integers(2**63)) if chosen is None else chosen)
            if self._pays_each_emperor is None:
                self._pays_each_emperor = pays_each_emperor(self.reward, self.position)
            self.rewards = np.zeros(len(EMPERORS)) if self._pays_each_emperor else None
            self.auto_render(begins=True)
            return self._observe()

    def step(self, action: np.int64 | int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Play an action of the Emperor to act."""
        if not self.thread_guard.acquire(False):
            raise TetrarchiaError(ERR_CONCURRENT_USE)
        try:
            if not self.action_space.contains(action):
                raise TetrarchiaError(f"action must be an integer from 0 to {self.action_space.n - 1}; got {action!r}")
            self.check_running()
            is_legal = bool(self.masks[0, action])
            if not is_legal and self.illegal == "raise":
                self.check_legal(action)
            if is_legal:
                _, paid = self.play(int(action))
            else:
                self.ignored += 1
                apply_illegal(self.position, self.masks, ROW_0, self.ignored, self.illegal)
                is_over = bool(self.position["phase"][0] == OVER)
                paid = step_rewards(self.reward, self.position)[0] if is_over or self.pays_every_step else 0.0
            if self.rewards is not None:
                self.rewards[:] = paid
            if isinstance(paid, np.ndarray):
                paid = paid.mean() if self.partners is None else paid[self.partners.seats[0]]
            obs, info = self._observe(illegal_action=int(not is_legal))
            self.auto_render()
            return obs, float(paid), info["outcome"] not in (RUNNING, TRUNCATED), bool(info["outcome"] == TRUNCATED), info
        finally:
            self.thread_guard.release()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, as MaskablePPO requests them."""
        return self._legal().astype(bool)

    def _legal(self) -> NDArray[np.int8]:
        """Return the mask; after the end only `end` is set, because a library may sample from the last mask, without effect."""
        mask: NDArray[np.int8] = self.masks[0].copy()
        mask[END] |= self.position["phase"][0] == OVER
        return mask

    def _observe(self, illegal_action: int = 0) -> tuple[Obs, dict[str, Any]]:
        """Return the observation of the Emperor to act, and the info."""
        status, mask = self.status(), self._legal()
        obs = self.observed_by(status[0] if self.partners is None else self.partners.seats[0])
        rewards = None if self.rewards is None else self.rewards.copy()
        numbers = [np.int64(number) for number in status]  # with a dtype: TorchRL makes its specs from it
        if self.mask_in == "info":
            return obs, info_of(numbers, np.int64(illegal_action), mask, rewards)
        return {"observation": obs, "action_mask": mask}, info_of(numbers, np.int64(illegal_action), None, rewards)
