"""Win rates of a network in training, on held-out seeds."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env.agent import Actions, Agent, EnvIds, Needs
from tetrarchia_env.batch import Masks
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.options import Options
from tetrarchia_eval.arena import win_rates
from tetrarchia_train.config import TrainConfig, rules_label

FIRST_SEED = 1 << 33  # different from the seeds of training and of published results


class GreedyNetwork(Agent):
    """An agent that plays the most likely action of a network."""

    def __init__(self, network: Network, local: LocalOptions = FULL_INFORMATION) -> None:
        self.network, self._local = network, local

    @property
    def needs(self) -> Needs:
        """Observations if the network was trained with local information, else whole games."""
        return "games" if self._local.view_radius is None else "observations"

    @property
    def local(self) -> LocalOptions:
        """The local information with which the network is trained."""
        return self._local

    def act(self, inputs: NDArray[Any], masks: Masks, env_ids: EnvIds, /) -> Actions:
        """Return the most likely action of each game, within the network's action set."""
        return greedy_actions(self.network, self.network.inputs(inputs) if self.needs == "games" else inputs, masks)


def greedy_actions(network: Network, inputs: NDArray[np.float32], masks: Masks) -> Actions:
    """Return the most likely legal action for each input, within the network's action set."""
    with torch.inference_mode():
        logits = network.logits(network.tensor(inputs))
        legal = network.tensor(masks[:, : logits.shape[1]] != 0)
        actions: Actions = log_probabilities(logits, legal).argmax(dim=1).cpu().numpy()
    return actions


def evaluate(network: Network, config: TrainConfig) -> dict[str, dict[str, float]]:
    """Play `n_eval_episodes` games at each of `eval_levels` in the base game, or of the task, and with each other rule set.

    Args:
        network: The network, which plays its most likely actions.
        config: The configuration of the run.

    Returns:
        "win_rates" and mean numbers of secured "borders", by level or rule set; with local information, games are played under it.
    """
    by_level = {level: Options(level=level) for level in config.level_list("eval_levels")}
    if config.task:
        by_level = {config.task: Options(task=config.task)}
    by_rules: dict[str, Any] = {rules_label(rules): Options.of(**rules) for rules in config.rules if rules}
    seeds, local = range(FIRST_SEED, FIRST_SEED + config.n_eval_episodes), config.network_config.local
    summaries = win_rates(GreedyNetwork(network, local), by_level | by_rules, seeds, local=local)
    return {
        "win_rates": {label: summary.win_rate.value for label, summary in summaries.items()},
        "borders": {label: round(summary.borders, 3) for label, summary in summaries.items()},
    }
