"""Win rates of a network in training, on held-out seeds."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents import make_agent
from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.options import Options
from tetrarchia_eval.arena import win_rates
from tetrarchia_train.config import TrainConfig, rules_label

FIRST_SEED = 1 << 33  # different from the seeds of training and of published results


class GreedyNetwork(Agent):
    """An agent that plays the most likely action of a network, from observations."""

    needs = "observations"

    def __init__(self, network: Network) -> None:
        self.network = network

    def act(self, observations: NDArray[Any], masks: Masks, env_ids: EnvIds, /) -> Actions:
        """Return the most likely action for each observation, within the network's action set."""
        return greedy_actions(self.network, observations, masks)


def greedy_actions(network: Network, inputs: NDArray[np.float32], masks: Masks) -> Actions:
    """Return the most likely legal action for each input, within the network's action set."""
    with torch.inference_mode():
        logits = network.logits(network.tensor(inputs))
        legal = network.tensor(masks[:, : logits.shape[1]] != 0)
        actions: Actions = log_probabilities(logits, legal).argmax(dim=1).cpu().numpy()
    return actions


def evaluate(network: Network, config: TrainConfig) -> dict[str, dict[str, float]]:
    """Play `n_eval_episodes` games at each of `eval_levels` in the base game, or of the task, and with each other rule set.

    Games are played under the local information of the run. With partners they are divided equally among the line-ups, all seats of the
    learner with each partner.

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
    local = config.network_config.local
    found = [win_rates(team, by_level | by_rules, games.tolist(), local=local) for team, games in zip(teams, seeds, strict=False)]
    return {
        "win_rates": {label: float(np.mean([one[label].win_rate.value for one in found])) for label in found[0]},
        "borders": {label: round(float(np.mean([one[label].borders for one in found])), 3) for label in found[0]},
    }
