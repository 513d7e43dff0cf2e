"""The PettingZoo AEC API: one agent for each Emperor, one decision at a time."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import ERR_CONCURRENT_USE, check_no_options, checked_seed
from tetrarchia_env.engine.state import RUNNING, TRUNCATED
from tetrarchia_env.envs.base import VIEWERS, BaseEnv
from tetrarchia_env.envs.infos import info_of
from tetrarchia_env.envs.partners import PartnersArgument, Seat, make_partners
from tetrarchia_env.envs.rewards import Reward, RewardName
from tetrarchia_env.envs.spaces import RENDER_FPS, RENDER_MODES, MaskPlace, Obs, RenderMode, observation_space, vector_space
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.observation import SIZE
from tetrarchia_env.options import Options

PETTINGZOO_TEST_OPTIONS = {"options": 1}  # PettingZoo's conformance test passes these to reset


class TetrarchiaAEC(BaseEnv, AECEnv):
    """The AEC environment without PettingZoo's wrappers: an illegal action raises TetrarchiaError and changes nothing.

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

    >>> aec = TetrarchiaAEC(level="4200")
    >>> aec.reset(seed=7)
    >>> [aec.action_text(action) for action in aec.legal_actions()]
    ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM']
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tetrarchia_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": RENDER_FPS,
    }

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
    ) -> None:
        options = Options(level, variants, modules, scenario, fixed_setup, max_turns, revolts, secured, task)
        local, others = LocalOptions(view_radius, last_seen, message_tokens), make_partners(seat, partners)
        super().__init__(options, reward, gamma, local, render_mode, mask, others)
        self.possible_agents = list(EMPERORS) if seat is None else [seat]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.state_space = vector_space(SIZE + self.local_options.message_size)
        self._observation_spaces = {
            agent: observation_space(self.mask_in, self.local_options.actions, self.local_options.size) for agent in self.possible_agents
        }
        self._action_spaces = {agent: spaces.Discrete(self.local_options.actions) for agent in self.possible_agents}
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the observation space: vector and mask, or the vector alone if the mask is in the info."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the action space, which is the same for every configuration without messages."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game; the seed determines its dice and those of the following games without a seed."""
        check_no_options(None if options == PETTINGZOO_TEST_OPTIONS else options)
        chosen = None if seed is None else checked_seed(seed)
        with self.thread_guard:
            if chosen is not None or self._random is None:
                self._random, _ = seeding.np_random(chosen)
            self.begin(int(self._random.integers(2**63)) if chosen is None else chosen)
            self._start_episode()
            self.auto_render(begins=True)

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot by the rules that it names, or by this environment's rules if it names none."""
        with self.thread_guard:
            super().restore(snapshot)
            self._start_episode()
            self.auto_render()

    def step(self, action: int | None) -> None:
        """Play the action of the selected agent; `None` for an agent whose game is over."""
        if not self.thread_guard.acquire(False):
            raise TetrarchiaError(ERR_CONCURRENT_USE)
        try:
            agent = self.agent_selection
            if self.agents and (self.terminations[agent] or self.truncations[agent]):
                self._was_dead_step(action)
                return
            self.check_legal(action)
            _, paid = self.play(action)  # type: ignore[arg-type]  # an id, as checked
            if isinstance(paid, np.ndarray):
                self.rewards = {name: float(paid[EMPERORS.index(name)]) for name in self.possible_agents}
            else:
                self.rewards = dict.fromkeys(self.possible_agents, float(paid))
            self._cumulative_rewards[agent] = 0.0
            self._accumulate_rewards()
            self._sync_agents()
            self.auto_render()
        finally:
            self.thread_guard.release()

    def observe(self, agent: str) -> Obs:
        """Return the observation of this agent; only the selected agent has legal actions."""
        obs = self.observed_by(EMPERORS.index(agent))
        return {"observation": obs, "action_mask": self._legal(agent)} if self.mask_in == "observation" else obs

    def _legal(self, agent: str) -> NDArray[np.int8]:
        return self.masks[0].copy() if agent == self.agent_selection else np.zeros_like(self.masks[0])

    def state(self) -> NDArray[np.float32]:
        """Return the full state, also with `view_radius`: the fully informed observation of diocletian, and the messages."""
        state = self.fully_observed_by(0)
        return np.concatenate([state, self.local.encode_messages(self.position, VIEWERS[0])[0]]) if self.local else state

    def _start_episode(self) -> None:
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.possible_agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.possible_agents, 0.0)
        self._skip_agent_selection = None
        self._sync_agents()

    def _sync_agents(self) -> None:
        """Update agent selection, terminations, truncations and infos from the game."""
        status = to_act, outcome, *_ = self.status()
        self.agent_selection = EMPERORS[to_act if self.partners is None else self.partners.seats[0]]
        self.terminations = dict.fromkeys(self.possible_agents, outcome not in (RUNNING, TRUNCATED))
        self.truncations = dict.fromkeys(self.possible_agents, bool(outcome == TRUNCATED))
        info = info_of(status)
        self.infos = {agent: info.copy() for agent in self.possible_agents}
        if self.mask_in == "info":
            for agent in self.possible_agents:
                self.infos[agent]["action_mask"] = self._legal(agent)


class TerminateIllegal(TerminateIllegalWrapper):
    """PettingZoo's wrapper that ends the game on an illegal action, and marks it in the infos."""

    def step(self, action: int | None) -> None:
        """Play an action, or end the game if it is illegal."""
        super().step(action)
        if self._terminated:
            for info in self.env.unwrapped.infos.values():
                info["illegal_action"] = 1
