"""Win rates of a network in training, on held-out seeds."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, Rows, agents_to_act, borders, is_won, new_games, play_to_end
from tetrarchia_env.local_view import LocalOptions, LocalViews
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
        return greedy_actions(self.network, self.network.inputs(games), masks)


class LocalPolicy:
    """Plays games with local observations (R14): a policy for `play_to_end`.

    Args:
        local: The arguments of local information.
        games: The games at their beginning.
        choose: Returns actions for observations and masks.
    """

    def __init__(self, local: LocalOptions, games: Games, choose: Callable[[NDArray[np.float32], Masks], Actions]) -> None:
        self.views, self.choose = LocalViews(local, len(games)), choose
        self.views.begin(games, np.arange(len(games)))

    def __call__(self, games: Games, masks: Masks, rows: Rows) -> Actions:
        """Return an action for each of these games, which are in these rows of all games."""
        views = self.views.select(rows)
        views.update(games)  # after the last action
        actions = self.choose(views.observe(games, agents_to_act(games)), masks)
        views.say(games, np.arange(len(games)), actions)
        if views.last_seen:
            self.views.records[rows] = views.records
        if views.message_tokens:
            self.views.messages[rows] = views.messages
        return actions


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
    seeds = range(FIRST_SEED, FIRST_SEED + config.n_eval_episodes)
    if config.view_radius is not None:
        return _evaluate_locally(network, config.network_config.local, by_level | by_rules, seeds)
    summaries = win_rates(GreedyNetwork(network), by_level | by_rules, seeds)
    return {
        "win_rates": {label: summary.win_rate.value for label, summary in summaries.items()},
        "borders": {label: round(summary.borders, 3) for label, summary in summaries.items()},
    }


def _evaluate_locally(
    network: Network, local: LocalOptions, tasks: Mapping[str, Options], seeds: Sequence[int]
) -> dict[str, dict[str, float]]:
    """Return the results of `evaluate` for a network with local observations."""
    results: dict[str, dict[str, float]] = {"win_rates": {}, "borders": {}}
    for label, options in tasks.items():
        games, masks = new_games(options, seeds, local.message_tokens)
        play_to_end(games, masks, LocalPolicy(local, games, partial(greedy_actions, network)))
        results["win_rates"][label] = float(is_won(games).mean())
        results["borders"][label] = round(float(borders(games).mean()), 3)
    return results
