"""What a trained network thinks of positions: the chance to win, the likeliest actions, and what each of them does to that chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.agent import Actions
from tetrarchia_agents.calibration import Amounts, Calibration, read_calibration, shares_of_a_win
from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_agents.chance_samples import SAMPLES, play_again, play_once, stratified_rngs
from tetrarchia_agents.ppo import BATCH, PPOAgent
from tetrarchia_agents.registry import make_agent
from tetrarchia_env import batch
from tetrarchia_env.notation import action_text

SHOWN = 3  # actions of a decision


@dataclass(frozen=True)
class Advice:
    """One of the likeliest actions in a position."""

    action: int
    text: str
    probability: float  # that the policy takes it
    chance: float  # to win after it, in the mean over the dice that it rolls
    change: float  # of the chance to win


@dataclass(frozen=True)
class Critic:
    """A network whose value was calibrated: it tells how likely the game is won if its own policy plays on."""

    agent: PPOAgent
    calibration: Calibration

    def win_probabilities(self, games: batch.Games) -> Amounts:
        """Of each position; of a finished game 1 or 0."""
        chances = batch.is_won(games).astype(np.float64)
        running = np.flatnonzero(~batch.is_over(games))
        for at in range(0, len(running), BATCH):
            rows = running[at : at + BATCH]
            shares = shares_of_a_win(games[rows], self._values(games[rows]), self.calibration.reward)
            chances[rows] = self.calibration.win_probabilities(shares)
        return chances

    def action_values(self, games: batch.Games, actions: Actions, samples: int = SAMPLES) -> Amounts:
        """The chance to win after the action in each game, in the mean over its dice; games in the same position get the same dice."""
        after = play_once(games, actions)
        values = self.win_probabilities(after)
        rolled = np.flatnonzero(after["dice"] != games["dice"])
        if len(rolled):
            copies = play_again(games[rolled], actions[rolled], stratified_rngs(games[rolled], samples))
            values[rolled] = self.win_probabilities(copies).reshape(len(rolled), samples).mean(axis=1)
        return values

    def _values(self, games: batch.Games) -> NDArray[np.float32]:
        with torch.inference_mode():
            values: NDArray[np.float32] = self.agent.network.values(torch.from_numpy(batch.observe(games))).numpy()
        return values


def make_critic(name: str) -> Critic:
    """The critic of an agent with a network, by its name: `ppo`, `ppo:ppo-full`; ValueError if it has none, or is not calibrated."""
    agent = make_agent(name)
    if not isinstance(agent, PPOAgent):
        raise ValueError(f"agent {name!r} has no network that judges positions: choose ppo, or ppo:CHECKPOINT")
    return Critic(agent, read_calibration(find_checkpoint(agent.checkpoint), agent.digest))


def likeliest_actions(agent: PPOAgent, games: batch.Games, most: int = SHOWN) -> list[list[tuple[int, float]]]:
    """For each game that is not over: its likeliest actions, the first before the others, each with the policy's probability."""
    log_probs, _ = agent.evaluate_positions(games)
    best = np.argsort(-log_probs, axis=1, kind="stable")[:, :most]
    probabilities = np.exp(np.take_along_axis(log_probs, best, axis=1))
    rows = zip(best.tolist(), probabilities.tolist(), strict=True)
    return [[(action, probability) for action, probability in zip(*row, strict=True) if probability > 0] for row in rows]


def advise(critic: Critic, games: batch.Games, most: int = SHOWN, samples: int = SAMPLES) -> list[list[Advice]]:
    """The coach: for each game that is not over, its likeliest actions and what each does to the chance to win."""
    likeliest = likeliest_actions(critic.agent, games, most)
    rows = np.repeat(np.arange(len(games)), [len(actions) for actions in likeliest])
    actions = np.array([action for found in likeliest for action, _ in found], dtype=np.int64)
    after, now = critic.action_values(games[rows], actions, samples).tolist(), critic.win_probabilities(games).tolist()
    chances = iter(after)
    return [_advice(found, [next(chances) for _ in found], now[row]) for row, found in enumerate(likeliest)]


def _advice(likeliest: Sequence[tuple[int, float]], chances: Sequence[float], now: float) -> list[Advice]:
    pairs = zip(likeliest, chances, strict=True)
    return [Advice(action, action_text(action), probability, chance, chance - now) for (action, probability), chance in pairs]
