"""How well a network plays on games it has not learned from, always doing what it likes best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env import batch
from tetrarchia_env.engine.state import OVER, WON
from tetrarchia_env.observation import offset
from tetrarchia_env.options import Options
from tetrarchia_train.rules import rules_label

HELD_OUT = 1 << 33  # the first seed


@dataclass(frozen=True)
class Result:
    """How the games of one kind went."""

    label: str  # the level, or the rules
    games: int
    won: int
    borders: float  # secured at the end, in the mean
    turns: float

    @property
    def win_rate(self) -> float:
        """The share won."""
        return self.won / self.games


def evaluate(network: Network, kinds: dict[str, Options], games: int, actions: int) -> list[Result]:
    """Play so many games of each kind."""
    return [_result(label, play_greedily(network, options, games, actions)) for label, options in kinds.items()]


def kinds_of(levels: Sequence[str], rules: Sequence[dict[str, Any]]) -> dict[str, Options]:
    """By label: the base game at each of these levels, and each set of rules at the normal level or its own."""
    by_level = {level: Options(level=level) for level in levels}
    return by_level | {rules_label(rule): Options.of(**rule) for rule in rules if rule}


def play_greedily(network: Network, options: Options, games: int, actions: int) -> NDArray[np.void]:
    """Games played to their ends."""
    playing, masks = batch.new_games(options, np.arange(HELD_OUT, HELD_OUT + games, dtype=np.uint64))
    chosen = np.zeros(games, dtype=np.int64)
    while len(running := np.flatnonzero(playing["phase"] != OVER)):
        chosen[running] = best_actions(network, playing[running], masks[running, :actions])
        batch.step(playing, chosen, masks)
    return playing


def best_actions(network: Network, games: batch.Games, masks: batch.Masks) -> NDArray[np.int64]:
    """What the network likes best in each game."""
    with torch.inference_mode():
        logits, _ = network(torch.from_numpy(batch.observe(games)))
        return log_probabilities(logits, torch.from_numpy(masks != 0)).argmax(dim=1).numpy()


def _result(label: str, played: NDArray[np.void]) -> Result:
    secured = batch.observe(played)[:, offset("secured")] * 6
    return Result(label, len(played), int((played["outcome"] == WON).sum()), float(secured.mean()), float(played["turn"].mean()))
