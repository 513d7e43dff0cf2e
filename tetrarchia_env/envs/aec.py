"""The PettingZoo AEC API: one agent for each Emperor, one decision at a time."""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import TerminateIllegalWrapper

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import ERR_CONCURRENT_USE, check_no_options, checked_seed
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.engine.state import RUNNING, TRUNCATED
from tetrarchia_env.envs.env_state import EnvState
from tetrarchia_env.envs.infos import info_of
from tetrarchia_env.envs.rewards import GloryReward
from tetrarchia_env.envs.spaces import RENDER_FPS, RENDER_MODES, Obs, observation_space, vector_space
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import Snapshot

OF_PETTINGZOO = {"options": 1}  # what its conformance test hands over, to see that reset takes options


class TetrarchiaAEC(EnvState, AECEnv):
    """See `tetrarchia_v0`, whose docstring is the page of this environment."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "tetrarchia_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": True,
        "render_fps": RENDER_FPS,
    }

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.possible_agents = list(EMPERORS)
        self.agents: list[str] = []
        self.agent_selection = EMPERORS[0]
        self.rewards: dict[str, float] = {}
        self._cumulative_rewards: dict[str, float] = {}
        self.state_space = vector_space()
        self._observation_spaces = {agent: observation_space(self.mask_in) for agent in EMPERORS}
        self._action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in EMPERORS}
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> spaces.Space:
        """The vector, and the mask unless the info has it."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """All action ids of every configuration."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """A new game; the seed fixes every die of it, and of those that follow without one."""
        check_no_options(None if options == OF_PETTINGZOO else options)
        chosen = None if seed is None else checked_seed(seed)
        with self.thread_guard:
            if chosen is not None or self._random is None:
                self._random, _ = seeding.np_random(chosen)
            self.begin(int(self._random.integers(2**63)) if chosen is None else chosen)
            self._start_episode()
            self.show_unasked(begins=True)

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot, by the rules that it names (by this environment's, if it names none)."""
        with self.thread_guard:
            super().restore(snapshot)
            self._start_episode()
            self.show_unasked()

    def step(self, action: int | None) -> None:
        """One decision of the agent selected; `None` from an agent whose game is over."""
        if not self.thread_guard.acquire(False):
            raise TetrarchiaError(ERR_CONCURRENT_USE)
        try:
            self._step(action)
        finally:
            self.thread_guard.release()

    def _step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.agents and (self.terminations[agent] or self.truncations[agent]):
            self._was_dead_step(action)
            return
        reward = self.play(action)  # type: ignore[arg-type]  # refuses None
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(EMPERORS, reward)
        self._sync_agents()
        if self.terminations[agent] and isinstance(self.reward, GloryReward):
            self.rewards = dict(zip(EMPERORS, self.reward.for_each(self.game)[0].tolist(), strict=True))
        self._accumulate_rewards()
        self.show_unasked()

    def observe(self, agent: str) -> Obs:
        """What this agent observes; only the agent selected has legal actions."""
        obs = self.observed_by(EMPERORS.index(agent))
        return {"observation": obs, "action_mask": self._legal(agent)} if self.mask_in == "observation" else obs

    def _legal(self, agent: str) -> NDArray[np.int8]:
        return self.masks[0].copy() if agent == self.agent_selection else np.zeros(ACTIONS, dtype=np.int8)

    def state(self) -> NDArray[np.float32]:
        """The whole game, always as diocletian observes it."""
        return self.observed_by(0)

    def _start_episode(self) -> None:
        """All four agents at a game that goes on from here."""
        self.agents = list(EMPERORS)
        self.rewards = dict.fromkeys(EMPERORS, 0.0)
        self._cumulative_rewards = dict.fromkeys(EMPERORS, 0.0)
        self._skip_agent_selection = None
        self._sync_agents()

    def _sync_agents(self) -> None:
        """Read from the game whose decision it is and whether it is over."""
        status = to_act, outcome, *_ = self.status()
        self.agent_selection = EMPERORS[to_act]
        self.terminations = dict.fromkeys(EMPERORS, outcome not in (RUNNING, TRUNCATED))
        self.truncations = dict.fromkeys(EMPERORS, bool(outcome == TRUNCATED))
        info = info_of(status)
        self.infos = {agent: info.copy() for agent in EMPERORS}
        if self.mask_in == "info":
            for agent in EMPERORS:
                self.infos[agent]["action_mask"] = self._legal(agent)


class TerminateIllegal(TerminateIllegalWrapper):
    """PettingZoo's guard, which ends the game at an illegal action; the infos tell it too."""

    def step(self, action: int | None) -> None:
        """One decision, or the end."""
        super().step(action)
        if self._terminated:
            for info in self.env.unwrapped.infos.values():
                info["illegal_action"] = 1
