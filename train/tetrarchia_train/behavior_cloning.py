"""Behaviour cloning: supervised learning of an expert's decisions, the warm start without which PPO won nothing; of an expert that
searches the value learns too.

Pomerleau, ALVINN (NIPS 1989); Bain and Sammut, A framework for behavioural cloning (1995).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, mse_loss

from tetrarchia_agents.network import MASKED, Network
from tetrarchia_env import batch
from tetrarchia_train.demonstrations import Demonstrations

VALIDATION = 20  # one demonstration of so many is not learned from, but asked for
FINAL_LR = 0.05  # of the first learning rate
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class CloningConfig:
    """How to clone."""

    epochs: int
    batch_size: int
    learning_rate: float
    vf_coef: float = 0.5  # weight of the value's loss


def clone(network: Network, data: Demonstrations, config: CloningConfig, tell: Callable[[float, float], None]) -> float:
    """Train the network on demonstrations; its accuracy on those held out. `tell` hears progress and loss."""
    learned = len(data) - max(1, len(data) // VALIDATION)  # the last games are held out: no game is on both sides but one
    updates = config.epochs * (learned // config.batch_size)
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, FINAL_LR, max(updates, 1))
    for number, rows in enumerate(_minibatches(learned, config), start=1):
        loss = _loss(network, data, rows, config.vf_coef)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        tell(number / updates, loss.item())
    return accuracy(network, data, np.arange(learned, len(data)))


def accuracy(network: Network, data: Demonstrations, rows: Rows) -> float:
    """The share of these decisions that the network would take itself."""
    same = 0
    with torch.inference_mode():
        for some in np.array_split(rows, max(1, len(rows) // 1024)):
            same += int((_forward(network, data, some)[0].argmax(dim=1).numpy() == data.actions[some]).sum())
    return same / len(rows)


def _minibatches(learned: int, config: CloningConfig) -> Iterator[Rows]:
    """Whole minibatches of random rows, epoch by epoch."""
    whole = learned // config.batch_size * config.batch_size
    for _ in range(config.epochs):
        yield from torch.randperm(learned).numpy()[:whole].reshape(-1, config.batch_size)


def _loss(network: Network, data: Demonstrations, rows: Rows, vf_coef: float) -> Tensor:
    """That of the policy, and of the value where a search says what both should be."""
    logits, values = _forward(network, data, rows)
    if not len(data.targets):
        return cross_entropy(logits, torch.from_numpy(data.actions[rows]))
    targets = data.targets[rows]
    probabilities = torch.from_numpy(targets["probabilities"].copy())
    log_probs = log_softmax(logits, dim=1).gather(1, torch.from_numpy(targets["actions"].copy()))
    policy_loss = -(probabilities * log_probs.masked_fill(probabilities == 0, 0)).sum(dim=1).mean()
    return policy_loss + vf_coef * mse_loss(values, torch.from_numpy(targets["value"].copy()))


def _forward(network: Network, data: Demonstrations, rows: Rows) -> tuple[Tensor, Tensor]:
    """Observations and masks are made when they are needed: a record is an eighth of its observation."""
    games = data.games[rows]
    logits, values = network(torch.from_numpy(batch.observe(games)))
    illegal = batch.legal_masks(games)[:, : logits.shape[1]] == 0
    return logits.masked_fill(torch.from_numpy(illegal), MASKED), values
