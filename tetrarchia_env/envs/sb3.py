"""The Stable-Baselines3 API: many games as one VecEnv, with action masks for MaskablePPO."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tetrarchia_env.checks import check_no_options, checked_seed, seed_array
from tetrarchia_env.engine.state import TRUNCATED
from tetrarchia_env.envs.batched_games import ActionSet, BatchedGames, rule_sets
from tetrarchia_env.envs.illegal_actions import IllegalRule
from tetrarchia_env.envs.infos import infos_of
from tetrarchia_env.envs.partners import PartnersArgument, Seat
from tetrarchia_env.envs.rewards import Reward, RewardName
from tetrarchia_env.envs.spaces import RENDER_FPS, MaskPlace, Obs, VectorRenderMode, check_mask, observation_space
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import Snapshot

ALL_ROWS = slice(None)
Indices = None | int | Iterable[int]


class TetrarchiaVecEnv(VecEnv):
    """A Stable-Baselines3 VecEnv that plays all games in one compiled call per step, with masks from `action_masks()`.

    The info of a step that ended a game describes that game, and also has "terminal_observation", "TimeLimit.truncated" and
    "episode" (with the level), as SB3 expects.

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
        mask: `None` (observations are vectors; masks only from `action_masks()`), "observation" or "info"
        illegal: the effect of an illegal action: "raise", "ignore" (no effect; the 1000th of a game truncates it) or "lose"
        seed: environment i begins with seed + i; `None` draws random seeds
        copy: return copies; otherwise an observation is valid until the step after the next

    Raises:
        TetrarchiaError: an argument has a value that is not allowed.

    >>> envs = TetrarchiaVecEnv(64, seed=0, level="4200", actions="base")
    >>> envs.reset().shape, envs.action_masks().shape
    ((64, 1344), (64, 109))
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
        mask: MaskPlace | None = None,
        illegal: IllegalRule = "raise",
        seed: int | None = None,
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
        self.render_mode = self.batched.render_mode
        self.mask_in, self.copy = mask and check_mask(mask), copy
        width = self.batched.masks.shape[1]
        super().__init__(num_envs, observation_space(mask or "info", width, self.batched.local_options.size), Discrete(width))
        self.metadata["render_fps"] = RENDER_FPS  # for SB3's video recorder
        self._actions = np.zeros(num_envs, dtype=np.int64)
        self._began = time.time()
        self.seed(seed)

    def reset(self) -> Obs:
        """Begin new games everywhere; after `seed(s)` environment i begins with seed s + i, otherwise with a random seed."""
        with self.batched.thread_guard:
            seeds = [int(self._random.integers(2**63)) if seed is None else seed for seed in self._seeds]
            self._reset_seeds()
            self.batched.begin(seeds)
            self.reset_infos = self._infos()
            return self._obs()

    def set_options(self, options: Any = None) -> None:
        """Raise TetrarchiaError if options are given: there are none."""
        each = [options] if isinstance(options, dict) else options or []
        check_no_options(next(filter(None, each), None))

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seeds of the next reset, which determine all following games."""
        first = None if seed is None else checked_seed(seed)
        self._seeds = [None] * self.num_envs if first is None else seed_array(range(first, first + self.num_envs)).tolist()
        self._random = np.random.default_rng(first)
        return self._seeds

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Obs, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play the stored actions; begin the next game in the same step where one ended."""
        with self.batched.thread_guard:
            self.batched.advance(self._actions)
            infos, episodes = self._infos(), self.batched.episodes
            ended = np.flatnonzero(episodes["ended"])
            if len(ended):
                self._begin_next(ended, infos)
            self.batched.observe()
            return self._obs(), episodes["reward"].astype(np.float32), episodes["ended"].astype(bool), infos

    def _begin_next(self, ended: NDArray[np.int64], infos: list[dict[str, Any]]) -> None:
        """Begin the next games; add the final observation and statistics of those that ended to their infos."""
        masks = self.batched.legal()[ended] if self.mask_in == "observation" else None
        self.batched.begin_next(ended)
        final_obs = self.batched.final_obs[ended]
        for place, (i, statistics, begun) in enumerate(zip(ended.tolist(), self._episodes(ended), self._infos(ended), strict=True)):
            obs = final_obs[place]
            infos[i]["terminal_observation"] = obs if masks is None else {"observation": obs, "action_mask": masks[place]}
            infos[i] |= statistics
            self.reset_infos[i] = begun

    def _episodes(self, ended: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
        """Yield the statistics in the format of SB3's Monitor, with the level as a number."""
        rows, elapsed = self.batched.episodes[ended], round(time.time() - self._began, 6)
        levels, truncated = rows["level"] @ (1000, 100, 10, 1), rows["outcome"] == TRUNCATED
        columns = (rows["final_total"], rows["final_steps"], levels, truncated)
        for total, steps, level, cut in zip(*(column.tolist() for column in columns), strict=True):
            yield {"TimeLimit.truncated": cut, "episode": {"r": total, "l": steps, "t": elapsed, "level": level}}

    def _infos(self, rows: Any = ALL_ROWS) -> list[dict[str, Any]]:
        """Return the infos of all games or of these rows."""
        infos = infos_of(self.batched.status()[:, rows], self.batched.illegal_actions[rows])
        if self.mask_in == "info":
            for info, mask in zip(infos, self.batched.legal()[rows], strict=True):
                info["action_mask"] = mask
        if self.batched.rewards is not None:
            for info, rewards in zip(infos, self.batched.rewards[rows].copy(), strict=True):
                info["rewards"] = rewards
        return infos

    def _obs(self) -> Obs:
        obs = self.batched.obs.copy() if self.copy else self.batched.obs
        return {"observation": obs, "action_mask": self.batched.legal()} if self.mask_in == "observation" else obs

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of all games."""
        legal: NDArray[np.bool_] = self.batched.masks.astype(bool)
        return legal

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> Any:
        """Call `action_masks` or `render` for some or all games; single games have no other methods."""
        if method_name == "render":
            return [self._drawings()[i] for i in self._get_indices(indices)]
        if method_name != "action_masks":
            raise AttributeError(f"method_name must be action_masks or render; got {method_name!r}")
        masks = self.action_masks()
        return masks if indices is None else masks[self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return the pixels of every game in the mode `rgb_array`, for SB3's `render`."""
        return self._drawings() if self.render_mode == "rgb_array" else [None] * self.num_envs

    def _drawings(self) -> Sequence[Any]:
        return self.batched.draw() or [None] * self.num_envs

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Return an attribute of this VecEnv, once per game."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Raise AttributeError: attributes cannot be set for single games."""
        raise AttributeError(f"{attr_name!r} cannot be set for single games")

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Return True for SB3's Monitor, whose statistics are included, and False for other wrappers."""
        monitored = wrapper_class.__name__ == "Monitor"
        return [monitored] * len(list(self._get_indices(indices)))

    def close(self) -> None:
        """Do nothing: there are no resources to release."""
