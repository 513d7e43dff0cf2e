"""Position analysis by a trained network: win probabilities, the most probable actions, and their effect on the win probability."""

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

NUM_ACTIONS_SHOWN = 3


@dataclass(frozen=True)
class Critic:
    """A network with a calibrated value: estimates the probability that its own policy wins from a position."""

    name: str  # as agents are named
    agent: PPOAgent
    calibration: Calibration

    def win_probabilities(self, games: batch.Games) -> Float64s:
        """Return the win probability of each position; 1 or 0 for a finished game."""
        probabilities = batch.is_won(games).astype(np.float64)
        running = np.flatnonzero(~batch.is_over(games))
        for start in range(0, len(running), BATCH_SIZE):
            rows = running[start : start + BATCH_SIZE]
            with torch.inference_mode():
                network = self.agent.network
                values: NDArray[np.float32] = network.values(network.tensor(network.inputs(games[rows]))).cpu().numpy()
            fractions = win_fraction(games[rows], values, self.calibration.reward)
            probabilities[rows] = self.calibration.win_probabilities(fractions)
        return probabilities

    def action_values(self, games: batch.Games, actions: Actions, samples: int = DEFAULT_SAMPLES) -> Float64s:
        """Return the win probability after an action in each game.

        It is the mean over dice at the end of the turn, which the policy completes: within a turn the network's value is less reliable.

        Args:
            games: Running games.
            actions: A legal action for each.
            samples: The number of dice samples per action, a multiple of 36.
        """
        if not len(games):
            return np.zeros(0)
        ends = turn_ends(games, actions, self.choose, samples)
        probabilities: Float64s = self.win_probabilities(ends.ravel()).reshape(ends.shape).mean(axis=1)
        return probabilities

    def choose(self, games: batch.Games) -> Actions:
        """Return the most probable action of each game."""
        actions: Actions = self.agent.evaluate(games)[0].argmax(axis=1)
        return actions


def make_critic(name: str) -> Critic:
    """Return the critic of an agent with a network.

    Args:
        name: `ppo` or `ppo:CHECKPOINT`.

    Raises:
        TetrarchiaError: The agent has no network, or the network has no calibration.
    """
    agent = make_agent(name)
    if not isinstance(agent, PPOAgent):
        raise TetrarchiaError(f"agent {name!r} has no network that evaluates positions; choose ppo or ppo:CHECKPOINT")
    return Critic(name, agent, read_calibration(find_checkpoint(agent.checkpoint), agent.digest))


def top_actions(agent: PPOAgent, games: batch.Games, limit: int = NUM_ACTIONS_SHOWN) -> list[list[tuple[int, float]]]:
    """Return the most probable actions of each running game with their probabilities, in descending order."""
    log_probs, _ = agent.evaluate(games)
    best = np.argsort(-log_probs, axis=1, kind="stable")[:, :limit]
    probabilities = np.exp(np.take_along_axis(log_probs, best, axis=1))
    rows = zip(best.tolist(), probabilities.tolist(), strict=True)
    return [[(action, probability) for action, probability in zip(*row, strict=True) if probability > 0] for row in rows]


def advise(critic: Critic, games: batch.Games, limit: int = NUM_ACTIONS_SHOWN, samples: int = DEFAULT_SAMPLES) -> list[list[Advice]]:
    """Return the most probable actions of each running game with the win probability after each.

    Args:
        critic: The critic.
        games: Running games.
        limit: The maximum number of actions per game.
        samples: The number of dice samples per action, a multiple of 36.
    """
    likely = top_actions(critic.agent, games, limit)
    rows = np.repeat(np.arange(len(games)), [len(actions) for actions in likely])
    actions = np.array([action for found in likely for action, _ in found], dtype=np.int64)
    values = iter(critic.action_values(games[rows], actions, samples).tolist())
    advice = []
    for found in likely:
        after = [next(values) for _ in found]
        pairs = zip(found, after, strict=True)
        advice.append([Advice(action, action_text(action), prior, value, value - after[0]) for (action, prior), value in pairs])
    return advice
