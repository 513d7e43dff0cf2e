"""Win rates of a network in training, on held-out seeds."""

from typing import Any

import numpy as np
import torch

from tetrarchia_agents import make_agent
from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.options import Options
from tetrarchia_eval.arena import win_rates
from tetrarchia_train.config import TrainConfig, rules_label

FIRST_SEED = 1 << 33  # different from the seeds of training and of published results


class GreedyNetwork(Agent):
    """An agent that plays the most likely action of a network."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """Return the most likely action of each game, within the network's action set."""
        with torch.inference_mode():
            logits, _ = self.network(self.network.tensor(self.network.inputs(games)))
            legal = self.network.tensor(masks[:, : logits.shape[1]] != 0)
            actions: Actions = log_probabilities(logits, legal).argmax(dim=1).cpu().numpy()
        return actions


def evaluate(network: Network, config: TrainConfig) -> dict[str, dict[str, float]]:
    """Play `n_eval_episodes` games at each of `eval_levels` in the base game, or of the task, and with each other rule set.

    With partners the games are divided equally among the line-ups, all seats of the learner with each partner.

    Args:
        network: The network, which plays its most likely actions.
        config: The configuration of the run.

    Returns:
        "win_rates" and mean numbers of secured "borders", by level or rule set.
    """
    by_level = {level: Options(level=level) for level in config.level_list("eval_levels")}
    if config.task:
        by_level = {config.task: Options(task=config.task)}
    by_rules: dict[str, Any] = {rules_label(rules): Options.of(**rules) for rules in config.rules if rules}
    agent, partners = GreedyNetwork(network), [make_agent(name) for name in config.partner_list]
    teams = [[agent if emperor == seat else partner for emperor in EMPERORS] for seat in config.seats for partner in partners] or [[agent]]
    seeds = np.array_split(np.arange(FIRST_SEED, FIRST_SEED + config.n_eval_episodes), min(len(teams), config.n_eval_episodes))
    found = [win_rates(team, by_level | by_rules, games.tolist()) for team, games in zip(teams, seeds, strict=False)]
    return {
        "win_rates": {label: float(np.mean([one[label].win_rate.value for one in found])) for label in found[0]},
        "borders": {label: round(float(np.mean([one[label].borders for one in found])), 3) for label in found[0]},
    }
