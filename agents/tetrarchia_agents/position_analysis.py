"""What a trained network thinks of positions: the chance to win, the likeliest actions, and what each of them does to that chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.cards import find_checkpoint
from tetrarchia_agents.chance_samples import DEFAULT_SAMPLES, turn_ends
from tetrarchia_agents.ppo import BATCH_SIZE, PPOAgent
from tetrarchia_agents.registry import make_agent
from tetrarchia_agents.values import Calibration, Float64s, read_calibration, win_fraction
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game_analysis import Advice
from tetrarchia_env.notation import action_text

SHOWN = 3  # actions of a decision


@dataclass(frozen=True)
class Critic:
    """A network whose value was calibrated: it tells how likely the game is won if its own policy plays on."""

    name: str  # as agents are named
    agent: PPOAgent
    calibration: Calibration

    def win_probabilities(self, games: batch.Games) -> Float64s:
        """Of each position; of a finished game 1 or 0."""
        chances = batch.is_won(games).astype(np.float64)
        running = np.flatnonzero(~batch.is_over(games))
        for at in range(0, len(running), BATCH_SIZE):
            rows = running[at : at + BATCH_SIZE]
            shares = win_fraction(games[rows], self._values(games[rows]), self.calibration.reward)
            chances[rows] = self.calibration.win_probabilities(shares)
        return chances

    def action_values(self, games: batch.Games, actions: Actions, samples: int = DEFAULT_SAMPLES) -> Float64s:
        """The chance to win after the action in each game: at the end of the turn, which the policy plays on, in the mean over dice.

        In the middle of a turn a critic errs more than between two: actions are compared where all have the same behind them.
        """
        if not len(games):
            return np.zeros(0)
        ends = turn_ends(games, actions, self.choose, samples)
        chances: Float64s = self.win_probabilities(ends.ravel()).reshape(ends.shape).mean(axis=1)
        return chances

    def choose(self, games: batch.Games) -> Actions:
        """The likeliest action of each game."""
        likeliest: Actions = self.agent.evaluate(games)[0].argmax(axis=1)
        return likeliest

    def _values(self, games: batch.Games) -> NDArray[np.float32]:
        with torch.inference_mode():
            values: NDArray[np.float32] = self.agent.network.values(torch.from_numpy(batch.observe(games))).numpy()
        return values


def make_critic(name: str) -> Critic:
    """The critic of an agent with a network, by its name: `ppo`, `ppo:ppo-full`; ValueError if it has none, or is not calibrated."""
    agent = make_agent(name)
    if not isinstance(agent, PPOAgent):
        raise TetrarchiaError(f"agent {name!r} has no network that judges positions: choose ppo, or ppo:CHECKPOINT")
    return Critic(name, agent, read_calibration(find_checkpoint(agent.checkpoint), agent.digest))


def likeliest_actions(agent: PPOAgent, games: batch.Games, most: int = SHOWN) -> list[list[tuple[int, float]]]:
    """For each game that is not over: its likeliest actions, the first before the others, each with the policy's probability."""
    log_probs, _ = agent.evaluate(games)
    best = np.argsort(-log_probs, axis=1, kind="stable")[:, :most]
    probabilities = np.exp(np.take_along_axis(log_probs, best, axis=1))
    rows = zip(best.tolist(), probabilities.tolist(), strict=True)
    return [[(action, probability) for action, probability in zip(*row, strict=True) if probability > 0] for row in rows]


def advise(critic: Critic, games: batch.Games, most: int = SHOWN, samples: int = DEFAULT_SAMPLES) -> list[list[Advice]]:
    """The coach: for each game that is not over, its likeliest actions and what each does to the chance to win."""
    likeliest = likeliest_actions(critic.agent, games, most)
    rows = np.repeat(np.arange(len(games)), [len(actions) for actions in likeliest])
    actions = np.array([action for found in likeliest for action, _ in found], dtype=np.int64)
    chances = iter(critic.action_values(games[rows], actions, samples).tolist())
    return [_advice(found, [next(chances) for _ in found]) for found in likeliest]


def _advice(likeliest: Sequence[tuple[int, float]], chances: Sequence[float]) -> list[Advice]:
    pairs = zip(likeliest, chances, strict=True)
    return [Advice(action, action_text(action), probability, chance, chance - chances[0]) for (action, probability), chance in pairs]
