"""The Gymnasium vector API: many games in one compiled call."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from gymnasium.spaces import Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.checks import check_no_options, checked_seed
from tetrarchia_env.engine.state import TRUNCATED
from tetrarchia_env.envs.batched_games import ActionSet, BatchedGames, rule_sets
from tetrarchia_env.envs.illegal_actions import IllegalRule
from tetrarchia_env.envs.infos import info_of, mask_info, with_presence
from tetrarchia_env.envs.partners import PartnersArgument, Seat
from tetrarchia_env.envs.rewards import Reward, RewardName
from tetrarchia_env.envs.spaces import RENDER_FPS, VECTOR_RENDER_MODES, MaskPlace, Obs, VectorRenderMode, check_mask, observation_space
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.modes import Drawing
from tetrarchia_env.schema import truncate_repr

Info = dict[str, Any]
Flags = NDArray[np.bool_]
Seed = int | Sequence[int | None] | None


class TetrarchiaVector(VectorEnv):
    """A Gymnasium VectorEnv that plays all games in one compiled call per step.

    It behaves like `num_envs` copies of `Tetrarchia-v0` in Gymnasium's SyncVectorEnv, with the same infos and `reset_mask`.

    Args:
        num_envs: the number of games
        level: four digits (R2.1), "4211" by default; or a list of levels, one of which is drawn per game
        variants: any names of `constants.VARIANTS` (R10)
        modules: any names of `constants.MODULES` (R11)
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules
        fixed_setup: place the initial Revolts in province 3 of each region (R2.7)
        revolts: the number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8)
        secured: the number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8)
        task: a name of `constants.TASKS`, which sets level, revolts and secured
        max_turns: truncate a game after this many turns
        rules: sets of the arguments above, which override them; the environments are divided into blocks of equal size
        actions: "all" for `Discrete(455)`, or "base" for the `Discrete(109)` of the base game
        initial_states: snapshots from which games begin, with new dice
        initial_state_share: the share of games that begin from `initial_states`
        reward: "outcome", "score", "shaped", "glory", "borders", or a reward object (`tetrarchia_env.envs.rewards`)
        gamma: the learner's discount per step, for `reward="shaped"`
        view_radius: `None` for full observations; 0 to 12: an Emperor observes only spaces within this number of links (R14)
        last_seen: with `view_radius`: spaces out of view show what was seen there last, and its age (R14.6)
        message_tokens: with `view_radius`: the number of tokens that an Emperor can say once a turn, 0 to 16 (R14.7)
        render_mode: `None`, "ansi", "rgb_array" or "svg"
        seat: the learner's Emperor; `partners` decide for the other three, and only its decisions are steps
        partners: an agent (a name or an object) for the other seats, a dict by seat, or a list of these, one drawn per game
        mask: "observation" (a dict of vector and mask) or "info" (the vector alone, and the mask in `info["action_mask"]`)
        illegal: the effect of an illegal action: "raise", "ignore" (no effect; the 1000th of a game truncates it) or "lose"
        autoreset_mode: Gymnasium's "NextStep", "SameStep" or "Disabled"
        copy: return copies; otherwise an observation is valid until the step after the next

    >>> envs = TetrarchiaVector(512, level=["4200", "4211"])
    >>> observations, infos = envs.reset(seed=0)
    >>> observations["observation"].shape, observations["action_mask"].shape
    ((512, 1344), (512, 455))
    """

    def __init__(
        self,
        num_envs: int = 1,
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
        rules: Sequence[Mapping[str, Any]] | None = None,
        actions: ActionSet = "all",
        initial_states: Sequence[Snapshot] = (),
        initial_state_share: float = 1.0,
        reward: RewardName | Reward = "outcome",
        gamma: float = 1.0,
        view_radius: int | None = None,
        last_seen: bool = False,
        message_tokens: int = 0,
        render_mode: VectorRenderMode | None = None,
        seat: Seat | None = None,
        partners: PartnersArgument | None = None,
        mask: MaskPlace = "observation",
        illegal: IllegalRule = "ignore",
        autoreset_mode: Literal["NextStep", "SameStep", "Disabled"] | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
    ) -> None:
        self.batched = BatchedGames(
            num_envs,
            rule_sets(rules, level, variants, modules, scenario, fixed_setup, max_turns, revolts, secured, task),
            actions=actions,
            initial_states=initial_states,
            initial_state_share=initial_state_share,
            reward=reward,
            gamma=gamma,
            local=LocalOptions(view_radius, last_seen, message_tokens),
            render_mode=render_mode,
            illegal=illegal,
            seat=seat,
            partners=partners,
        )
        self.num_envs, self.copy, self.mask_in = num_envs, copy, check_mask(mask)
        self.render_mode = self.batched.render_mode
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = {"render_modes": list(VECTOR_RENDER_MODES), "render_fps": RENDER_FPS, "autoreset_mode": self.autoreset_mode}
        width = self.batched.masks.shape[1]
        self.single_observation_space = observation_space(mask, width, self.batched.local_options.size)
        self.single_action_space = Discrete(width)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Seed = None, options: dict[str, Any] | None = None) -> tuple[Obs, Info]:
        """Begin new games.

        Args:
            seed: one number, from which environment i gets seed + i; or a seed per environment, where `None` draws a random
                seed. A seed determines all games of its environment that follow without another.
            options: `{"reset_mask": flags}` begins new games only where the flag is set; the infos then cover only these.

        Returns:
            Observations and infos.
        """
        others = {name: value for name, value in (options or {}).items() if name != "reset_mask"}
        check_no_options(others)
        with self.batched.thread_guard:
            flags = self._reset_mask(options) if options and "reset_mask" in options else np.ones(self.num_envs, dtype=np.bool_)
            rows = np.flatnonzero(flags)
            self.batched.begin(self._seeds(seed)[rows], rows)
            masks = self.batched.legal()
            return self._obs(masks), mask_info(self._info(masks), flags)

    def step(self, actions: NDArray[np.int64]) -> tuple[Obs, NDArray[np.float64], Flags, Flags, Info]:
        """Play one action in each game.

        In the mode NEXT_STEP, the step after the end of a game ignores the action, begins the next game and pays 0.

        Returns:
            Observations, rewards, terminations, truncations and infos.
        """
        batched, same_step = self.batched, self.autoreset_mode == AutoresetMode.SAME_STEP
        with batched.thread_guard:
            batched.advance(actions, None if same_step else self._finished())
            ended = batched.episodes["ended"] != 0
            truncated = ended & (batched.games["outcome"] == TRUNCATED)
            final = self._begin_next(ended) if same_step and ended.any() else {}
            batched.observe()
            masks = batched.legal()
            infos = with_presence(self._info(masks), np.ones(self.num_envs, dtype=np.bool_))
            return self._obs(masks), batched.episodes["reward"].copy(), ended & ~truncated, truncated, infos | final

    def render(self) -> tuple[Drawing, ...] | None:
        """Return a drawing of each game, or `None` without a render mode."""
        return self.batched.draw()

    def _finished(self) -> Flags:
        """Return in which environments the step begins the next game."""
        over = batch.is_over(self.batched.games)
        if self.autoreset_mode == AutoresetMode.DISABLED and over.any():
            raise TetrarchiaError(f"games {np.flatnonzero(over).tolist()} are over: reset them first with options={{'reset_mask': ...}}")
        return over

    def _begin_next(self, ended: Flags) -> Info:
        """Begin the next games in the same step; return the final observations and infos of those that ended."""
        masks, rows = self.batched.legal(), np.flatnonzero(ended)
        info = mask_info(self._info(masks), ended)
        self.batched.begin_next(rows)
        final_obs = np.full(self.num_envs, None, dtype=object)
        for i, obs in zip(rows, self.batched.final_obs[rows], strict=True):
            final_obs[i] = obs if self.mask_in == "info" else {"observation": obs, "action_mask": masks[i]}
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": info, "_final_info": ended.copy()}

    def _reset_mask(self, options: dict[str, Any]) -> Flags:
        flags = options["reset_mask"]
        if not isinstance(flags, np.ndarray) or flags.dtype != np.bool_ or flags.shape != (self.num_envs,) or not flags.any():
            raise TetrarchiaError(
                f"reset_mask must be an array of {self.num_envs} bools with at least one True; got {truncate_repr(flags)}"
            )
        if not flags.all() and not self.batched.episodes["rng"].all():
            raise TetrarchiaError("no game is running: reset all of them first")
        return flags.copy()

    def _seeds(self, seed: Seed) -> NDArray[np.uint64]:
        """Return a seed for each game; a missing one is drawn from `np_random`."""
        given: list[Any] = [None] * self.num_envs
        if isinstance(seed, Sequence) or (isinstance(seed, np.ndarray) and seed.ndim):
            given = list(seed)
            if len(given) != self.num_envs:
                raise TetrarchiaError(f"seed must be one number or {self.num_envs} numbers; got {len(given)} numbers")
        elif seed is not None:
            given = [checked_seed(seed) + i for i in range(self.num_envs)]
        if None in given:
            drawn = self.np_random.integers(2**63, size=self.num_envs)
            return batch.seed_array([int(other) if one is None else one for one, other in zip(given, drawn, strict=True)])
        seeds = batch.seed_array(given)
        super().reset(seed=int(seeds[0]))
        return seeds

    def _obs(self, masks: batch.Masks) -> Obs:
        obs = self.batched.obs.copy() if self.copy else self.batched.obs
        return obs if self.mask_in == "info" else {"observation": obs, "action_mask": masks}

    def _info(self, masks: batch.Masks) -> Info:
        rewards = self.batched.rewards
        return info_of(
            self.batched.status(),
            self.batched.illegal_actions.copy(),
            masks.copy() if self.mask_in == "info" else None,
            None if rewards is None else rewards.copy(),
        )


def _checked_mode(mode: object) -> AutoresetMode:
    known = {one.value: one for one in AutoresetMode}
    if not isinstance(mode, AutoresetMode) and mode not in known:
        raise TetrarchiaError(f"autoreset_mode must be one of {', '.join(known)}; got {truncate_repr(mode)}")
    return mode if isinstance(mode, AutoresetMode) else known[str(mode)]
