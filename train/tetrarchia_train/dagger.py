"""DAgger: a student with local information (R14) learns the decisions of an expert with full information.

In the first round the expert plays; in the others the student plays, and the expert labels the positions that the student meets. Each
round trains on the data of all rounds (Ross, Gordon and Bagnell, A reduction of imitation learning and structured prediction to no-regret
online learning, AISTATS 2011).
"""

from collections.abc import Callable

import numpy as np

from tetrarchia_agents import make_agent
from tetrarchia_agents.network import Network
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions, Agent, ask, begin_games
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.local_view import LocalViews
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.demonstrations import FIRST_SEED, NO_TARGETS, Demonstrations
from tetrarchia_train.evaluation import greedy_actions

CloneFn = Callable[[Network, Demonstrations], object]


def collect_local_demonstrations(
    config: TrainConfig, network: Network, clone: CloneFn, on_progress: Callable[[int], None]
) -> Demonstrations:
    """Play all rounds; between two of them the student is trained on the demonstrations so far.

    Args:
        config: The configuration of the run: `num_demonstrations` are divided among `dagger_rounds`.
        network: The student, which is changed.
        clone: Trains the student on demonstrations.
        on_progress: Called with the number of demonstrations so far.

    Returns:
        The demonstrations of all rounds, on which the student is to be trained once more.
    """
    expert, local = make_agent(config.expert), config.network_config.local
    games = BatchedGames(config.num_envs, config.game_options, local=local)
    assert games.local is not None
    games.begin(FIRST_SEED + (config.seed << 32) + np.arange(config.num_envs, dtype=np.uint64))
    begin_games(expert, np.arange(config.num_envs))
    rng = np.random.default_rng(config.seed)
    positions, actions = list[batch.Games](), list[Actions]()
    records, messages = list[batch.Games](), list[batch.Games]()
    played = won = collected = 0

    def demonstrations() -> Demonstrations:
        views = LocalViews(local, 0)
        views.records, views.messages = np.concatenate(records), np.concatenate(messages)
        return Demonstrations(np.concatenate(positions), np.concatenate(actions), NO_TARGETS, played, won, views)

    for number in range(1, config.dagger_rounds + 1):
        while collected < config.num_demonstrations * number // config.dagger_rounds:
            labels = _labels(expert, games, rng)
            positions.append(games.games.copy())
            actions.append(labels)
            records.append(games.local.records.copy())
            messages.append(games.local.messages.copy())
            collected += len(labels)
            student_inputs = network.inputs(games.games, games.obs)
            games.advance(labels if number == 1 else greedy_actions(network, student_inputs, games.masks))
            ended = np.flatnonzero(games.episodes["ended"])
            played, won = played + len(ended), won + int(batch.is_won(games.games[ended]).sum())
            games.begin_next(ended)
            begin_games(expert, ended)
            games.observe()
            on_progress(min(collected, config.num_demonstrations))
        if number < config.dagger_rounds:
            clone(network, demonstrations())
    return demonstrations()


def _labels(expert: Agent, games: BatchedGames, rng: np.random.Generator) -> Actions:
    """Return the expert's action in each game; the expert has full information, without the future dice."""
    rngs = rng.integers(1, 2**63, len(games.games)).astype(np.uint64)
    return ask(expert, games.games, games.masks, np.arange(len(games.games)), rngs)
