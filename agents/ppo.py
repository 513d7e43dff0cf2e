"""The agent that has learned to play: a trained network, without any search."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from agents import network as network_module
from agents.agent import Actions, Agent, Lanes
from agents.checkpoints import WEIGHTS, checkpoint_folder, load_checkpoint
from agents.network import Network, log_probabilities
from tetrarchia_env.batch import Games, Masks, legal_masks, observe
from tetrarchia_env.engine.dice import words

AT_ONCE = 1024  # games a pass: more do not go faster
ROWS = 16  # passes have a multiple of it: then a choice does not depend on how many games are played at once, to the last bit
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PPOAgent(Agent):
    """Plays what its checkpoint likes best; with a temperature above 0 it draws, the likelier the better it likes it."""

    checkpoint: str = "ppo"
    temperature: float = 0.0
    network: Network = field(init=False, repr=False, compare=False)
    actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"ppo:temperature is a number from 0 on, not {self.temperature!r}")
        loaded = load_checkpoint(self.checkpoint)
        object.__setattr__(self, "network", loaded.network)
        object.__setattr__(self, "actions", loaded.shape.actions)

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        """The action it likes best, or one that it draws with the chance in the game's word."""
        log_priors, _ = self.judge(games, masks)
        if self.temperature == 0:
            best: Actions = log_priors.argmax(axis=1)
            return best
        return _drawn(log_priors / self.temperature, games["dice"])

    def made_of(self) -> tuple[Path, ...]:
        """The weights, and the network's code."""
        return checkpoint_folder(self.checkpoint) / WEIGHTS, Path(network_module.__file__)

    def evaluate_positions(self, games: Games) -> tuple[Floats, Floats]:
        """For each game that is not over: the logarithm of each action's prior (-inf if illegal), and the value to the four."""
        return self.judge(games, legal_masks(games))

    def judge(self, games: Games, masks: Masks) -> tuple[Floats, Floats]:
        """The same with the masks given; as many columns as the checkpoint has actions."""
        if masks[:, self.actions :].any():
            raise ValueError(
                f"checkpoint {self.checkpoint!r} knows {self.actions} actions: this game has variants or modules that need more"
            )
        seen, legal = observe(games), masks[:, : self.actions] != 0
        parts = [self._judge(seen[at : at + AT_ONCE], legal[at : at + AT_ONCE]) for at in range(0, len(games), AT_ONCE)]
        log_priors, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return log_priors, values

    def _judge(self, seen: Floats, legal: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        rows = np.resize(np.arange(len(seen)), -(-len(seen) // ROWS) * ROWS)
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(seen[rows]))
            log_priors = log_probabilities(logits, torch.from_numpy(legal[rows]))
        return log_priors.numpy()[: len(seen)], values.numpy()[: len(seen)]


def _drawn(logits: Floats, dice: NDArray[np.uint64]) -> Actions:
    """An action for each row by the word beside it: where a point between 0 and the sum of chances falls."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1, dtype=np.float64)
    points = (words(dice.copy()) >> np.uint64(11)) / 2.0**53 * chances[:, -1]
    drawn: Actions = (chances > points[:, np.newaxis]).argmax(axis=1)
    return drawn
