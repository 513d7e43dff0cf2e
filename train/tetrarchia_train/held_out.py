"""Evaluation while training: win rates of the greedy policy on held-out seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env import batch
from tetrarchia_env.observation import offset
from tetrarchia_env.options import Options
from tetrarchia_train import rule_sets

HELD_OUT = 1 << 33  # the first seed
BORDERS = 6  # the observation has the share of them that is secured


@dataclass(frozen=True)
class EvalResult:
    """How the games at one level or by one set of rules went."""

    label: str  # the level, or the rules
    episodes: int
    won: int
    borders: float  # secured at the end, in the mean
    turns: float

    @property
    def win_rate(self) -> float:
        """The share won."""
        return self.won / self.episodes


def evaluate(network: Network, tasks: dict[str, Options], episodes: int) -> list[EvalResult]:
    """Play so many games of each task."""
    return [_result(label, play_greedily(network, options, episodes)) for label, options in tasks.items()]


def eval_tasks(levels: Sequence[str], rules: Sequence[dict[str, Any]]) -> dict[str, Options]:
    """By label: the base game at each of these levels, and each set of rules at the normal level or its own."""
    by_level = {level: Options(level=level) for level in levels}
    return by_level | {rule_sets.label(one): Options.of(**one) for one in rules if one}


def play_greedily(network: Network, options: Options, episodes: int) -> batch.Games:
    """Games played to their ends by the most likely actions."""
    games, masks = batch.new_games(options, np.arange(HELD_OUT, HELD_OUT + episodes, dtype=np.uint64))
    batch.play_to_end(games, masks, lambda running, legal, _: greedy_actions(network, running, legal))
    return games


def greedy_actions(network: Network, games: batch.Games, masks: batch.Masks) -> NDArray[np.int64]:
    """The most likely action in each game, of those that the network knows."""
    with torch.inference_mode():
        logits, _ = network(torch.from_numpy(batch.observe(games)))
        legal = torch.from_numpy(masks[:, : logits.shape[1]] != 0)
        return log_probabilities(logits, legal).argmax(dim=1).numpy()


def win_rates(results: Sequence[EvalResult]) -> str:
    """In one line."""
    return ", ".join(f"{result.label} {result.win_rate:.1%}" for result in results)


def _result(label: str, played: batch.Games) -> EvalResult:
    secured = batch.observe(played)[:, offset("secured")] * BORDERS
    return EvalResult(label, len(played), int(batch.is_won(played).sum()), float(secured.mean()), float(played["turn"].mean()))
