"""The agent that has learned to play: a trained network, without any search."""

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.agent import Actions, Agent, EnvIds
from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env.batch import Games, Masks, legal_masks, observe, rng_states

BATCH = 1024  # games a pass: more do not go faster
ROWS = 16  # passes have a multiple of it: then a choice does not depend on how many games are played at once, to the last bit
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class PPOAgent(Agent):
    """Plays what its checkpoint likes best; with a temperature above 0 it draws, the likelier the better it likes it."""

    checkpoint: str = "ppo"
    temperature: float = 0.0
    network: Network = field(init=False, repr=False, compare=False)
    actions: int = field(init=False, repr=False, compare=False)
    digest: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"ppo:temperature is a number from 0 on, not {self.temperature!r}")
        loaded = load_checkpoint(self.checkpoint)
        object.__setattr__(self, "network", loaded.network)
        object.__setattr__(self, "actions", loaded.config.actions)
        object.__setattr__(self, "digest", loaded.card["weights"])

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The action it likes best, or one that it draws with the game's RNG state."""
        log_probs, _ = self.evaluate(games, masks)
        if self.temperature == 0:
            best: Actions = log_probs.argmax(axis=1)
            return best
        return _sample(log_probs / self.temperature, games["dice"])

    def weights_digest(self) -> bytes:
        """Of the checkpoint's file."""
        return self.digest.encode()

    def evaluate_positions(self, games: Games) -> tuple[Floats, Floats]:
        """For each game that is not over: the logarithm of each action's prior (-inf if illegal), and the value to the four."""
        return self.evaluate(games, legal_masks(games))

    def evaluate(self, games: Games, masks: Masks) -> tuple[Floats, Floats]:
        """The same with the masks given; as many columns as the checkpoint has actions."""
        if masks[:, self.actions :].any():
            raise ValueError(
                f"checkpoint {self.checkpoint!r} knows {self.actions} actions: this game has variants or modules that need more"
            )
        obs, legal = observe(games), masks[:, : self.actions] != 0
        parts = [self._evaluate(obs[at : at + BATCH], legal[at : at + BATCH]) for at in range(0, len(games), BATCH)]
        log_probs, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return log_probs, values

    def _evaluate(self, obs: Floats, legal: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        rows = np.resize(np.arange(len(obs)), -(-len(obs) // ROWS) * ROWS)
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(obs[rows]))
            log_probs = log_probabilities(logits, torch.from_numpy(legal[rows]))
        return log_probs.numpy()[: len(obs)], values.numpy()[: len(obs)]


def _sample(logits: Floats, dice: NDArray[np.uint64]) -> Actions:
    """An action for each row by the RNG state beside it: where a point between 0 and the sum of chances falls."""
    chances = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1, dtype=np.float64)
    points = (rng_states(dice.copy()) >> np.uint64(11)) / 2.0**53 * chances[:, -1]
    drawn: Actions = (chances > points[:, np.newaxis]).argmax(axis=1)
    return drawn
