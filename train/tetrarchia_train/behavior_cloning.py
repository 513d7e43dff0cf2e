"""Copy a teacher's decisions: the warm start, without which PPO won nothing."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from tetrarchia_agents.network import MASKED, Network
from tetrarchia_env import batch
from tetrarchia_train.demonstrations import Lessons

HELD_BACK = 20  # one decision of so many is not learned from, but asked for
LAST_RATE = 0.05  # of the first learning rate


@dataclass(frozen=True)
class Copying:
    """How to copy."""

    epochs: int
    minibatch: int
    rate: float
    actions: int


def copy(network: Network, lessons: Lessons, how: Copying, tell: Callable[[float, float], None]) -> float:
    """Train the network on the lessons; the share of held back decisions it then copies. `tell` hears progress and loss."""
    asked = len(lessons) // HELD_BACK  # the last games': no game is on both sides but one
    learned = len(lessons) - asked
    optimizer = torch.optim.Adam(network.parameters(), lr=how.rate, fused=True)
    total = how.epochs * (learned // how.minibatch)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, LAST_RATE, max(total, 1))
    done = 0
    for _ in range(how.epochs):
        for rows in torch.randperm(learned).numpy()[: learned // how.minibatch * how.minibatch].reshape(-1, how.minibatch):
            loss = _loss(network, lessons, rows, how.actions)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
            tell(done / total, loss.item())
    return accuracy(network, lessons, np.arange(learned, len(lessons)), how.actions)


def accuracy(network: Network, lessons: Lessons, rows: NDArray[np.int64], actions: int) -> float:
    """The share of these decisions that the network would take itself."""
    same = 0
    with torch.inference_mode():
        for some in np.array_split(rows, max(1, len(rows) // 1024)):
            same += int((_logits(network, lessons, some, actions).argmax(dim=1).numpy() == lessons.actions[some]).sum())
    return same / len(rows)


def _loss(network: Network, lessons: Lessons, rows: NDArray[np.int64], actions: int) -> Tensor:
    return cross_entropy(_logits(network, lessons, rows, actions), torch.from_numpy(lessons.actions[rows]))


def _logits(network: Network, lessons: Lessons, rows: NDArray[np.int64], actions: int) -> Tensor:
    """Observations and masks are made when they are needed: a record is an eighth of what is seen in it."""
    games = lessons.games[rows]
    logits: Tensor = network(torch.from_numpy(batch.observe(games)))[0]
    return logits.masked_fill(torch.from_numpy(batch.legal_masks(games)[:, :actions] == 0), MASKED)
