"""The games that are learned from: several sets of rules side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from tetrarchia_env.batch import Games, observe
from tetrarchia_env.batched_games import ManyGames
from tetrarchia_env.engine.actions import END
from tetrarchia_env.engine.state import OUTCOMES, OVER
from tetrarchia_env.observation import SIZE, offset
from tetrarchia_env.spaces import vector_space
from tetrarchia_train.potential import pay, potentials
from tetrarchia_train.rules import rules_at
from tetrarchia_train.variance_reduction import Judge, replayed, values

SECURED = offset("secured")
FIRST_SEED = 1 << 34  # far from the seeds that agents are measured on
Indices = None | int | Iterable[int]
Amounts = NDArray[np.float64]


@dataclass(frozen=True)
class Finished:
    """What is told of a game that ended."""

    rules: int
    level: str
    outcome: str
    borders: int  # secured at the end
    turns: int
    decisions: int


@dataclass
class EndsOfTurn:
    """How turns were ended since the last report."""

    turns: int = 0
    unused: int = 0  # IP when a turn was ended
    early: int = 0  # with IP left and something else to do


class TrainingGames(VecEnv):
    """Games in lanes for MaskablePPO; the reward is the outcome and `shaping` times the change of the potential."""

    def __init__(self, games: int, actions: str, rules: Sequence[dict[str, Any]], levels: Sequence[str], seed: int) -> None:
        each = games // len(rules)
        self.parts = [ManyGames(each, actions=actions, reward="outcome", **rules_at(rule, levels)) for rule in rules]
        self.slices = [slice(each * number, each * (number + 1)) for number in range(len(rules))]
        self.shaping, self.discount, self.render_mode = 1.0, 0.99, None
        self.rerolls = 0
        self.judge: Judge | None = None  # by which luck is taken out of rewards
        self.finished: list[Finished] = []
        self.ends = EndsOfTurn()
        self._seed = seed
        self._views = np.zeros((2, games, SIZE), dtype=np.float32)
        self._actions = np.zeros(games, dtype=np.int64)
        self._potentials = np.zeros(games)  # of the positions that are seen
        super().__init__(games, vector_space(), Discrete(self.parts[0].masks.shape[1]))

    def reset(self) -> NDArray[np.float32]:
        """New games in all lanes; the seed fixes all of them."""
        for part, lanes in zip(self.parts, self.slices, strict=True):
            self._views[0, lanes] = part.begin(np.arange(self._seed + lanes.start, self._seed + lanes.stop, dtype=np.uint64))
        self._potentials = potentials(self.games, self.discount)
        return self._views[0]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take the actions."""
        self._actions = np.asarray(actions, dtype=np.int64)

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Play them."""
        self._note_ends_of_turn()
        turns, before = self._games("turn"), self.games if self.judge else None
        self._views = self._views[::-1]
        for part, lanes in zip(self.parts, self.slices, strict=True):
            self._views[0, lanes] = part.play(self._actions[lanes])
        ended = self._lanes("ended") != 0
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        potential, self._potentials = self._potentials, potentials(self.games, self.discount)
        paid = pay(self._lanes("outcome"), self._lanes("turn"), self.discount) * ended
        rewards = paid + self.shaping * (self._potentials * ~ended - potential)
        if before is not None:
            self._take_luck_out(rewards, before, paid, ended)
        self.ends.turns += int((ended | (self._games("turn") != turns)).sum())
        for i in np.flatnonzero(ended):
            infos[i] = self._close(int(i))
        return self._views[0], rewards.astype(np.float32), ended, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of all games."""
        return np.concatenate([part.masks for part in self.parts]).astype(bool)

    @property
    def seen(self) -> NDArray[np.float32]:
        """What the Emperors to act see."""
        return self._views[0]

    @property
    def games(self) -> NDArray[np.void]:
        """The records of all games, copied."""
        return np.concatenate([part.num_envs for part in self.parts])

    def state(self) -> dict[str, NDArray[Any]]:
        """All that the games to come depend on, but for the options."""
        kept = {name: np.concatenate([getattr(part, name) for part in self.parts]) for name in ("games", "lanes", "masks")}
        return {name: array.view(np.uint8).reshape(self.num_envs, -1) for name, array in kept.items()}

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from there."""
        for part, lanes in zip(self.parts, self.slices, strict=True):
            for name in ("games", "lanes", "masks"):
                array = getattr(part, name)
                array.view(np.uint8).reshape(len(array), -1)[:] = state[name][lanes]
            self._views[0, lanes] = observe(part.num_envs)
        self._potentials = potentials(self.games, self.discount)

    def set_discount(self, discount: float) -> None:
        """What a win pays is from now on so many times as much for each turn."""
        self.discount, self._potentials = discount, potentials(self.games, discount)

    def _lanes(self, field: str) -> NDArray[Any]:
        return np.concatenate([part.lanes[field] for part in self.parts])

    def _games(self, field: str) -> NDArray[Any]:
        return np.concatenate([part.num_envs[field] for part in self.parts])

    def _note_ends_of_turn(self) -> None:
        unused = self._games("ip") * (self._actions == END)
        others = np.concatenate([part.masks.sum(axis=1, dtype=np.int64) for part in self.parts]) > 1
        self.ends.unused += int(unused.sum())
        self.ends.early += int(((unused > 0) & others).sum())

    def _take_luck_out(self, rewards: Amounts, before: Games, paid: Amounts, ended: NDArray[np.bool_]) -> None:
        """Where dice were rolled: pay for the mean of what may come, not for what came."""
        rolled = np.flatnonzero(self._games("dice") != before["dice"])
        if self.judge is None or not len(rolled):
            return
        copies = replayed(before[rolled], self._actions[rolled], self.rerolls)
        over = copies["phase"] == OVER
        all_worths = values(
            np.concatenate([self._views[0, rolled], observe(copies)]),
            self.shaping * np.concatenate([self._potentials[rolled], potentials(copies, self.discount)]),
            np.concatenate([paid[rolled], pay(copies["outcome"], copies["turn"], self.discount) * over]),
            np.concatenate([ended[rolled], over]),
            self.judge,
        )
        came, others = all_worths[: len(rolled)], all_worths[len(rolled) :].reshape(len(rolled), -1)
        rewards[rolled] += (came + others.sum(axis=1)) / (1 + self.rerolls) - came

    def _close(self, i: int) -> dict[str, Any]:
        number, within = divmod(i, self.num_envs // len(self.parts))
        part = self.parts[number]
        lane, last = part.lanes[within], part.finals[within]
        level = "".join(str(digit) for digit in lane.level)
        borders = round(6 * float(last[SECURED]))
        self.finished.append(Finished(number, level, OUTCOMES[lane.outcome], borders, int(lane.turn), int(lane.final_steps)))
        return {"terminal_observation": last.copy(), "TimeLimit.truncated": False}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Taken from the options; SB3's own word on it changes nothing."""
        return [self._seed]

    def env_method(self, method_name: str, *args: Any, indices: Indices = None, **kwargs: Any) -> Any:
        """Only the masks."""
        if method_name != "action_masks":
            raise AttributeError(f"a training game has the method action_masks, not {method_name!r}")
        return self.action_masks()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The same for all games."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Nothing can be set for one game only."""
        raise AttributeError(f"{attr_name!r} cannot be set for single games")

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """No wrappers."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is held open."""
