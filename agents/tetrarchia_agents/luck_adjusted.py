"""Luck-adjusted analysis of games: how much choices and dice changed the win probability, decision by decision.

AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: A new variance reduction technique for agent evaluation in imperfect
information games, AAAI 2018) subtracts at every chance event the value of the actual outcome minus the mean value of all possible
outcomes. That difference is luck; its expectation is 0 whatever the values are. The rest of the change from one decision to the next
is the effect of the choice. Training corrects its rewards in the same way (`tetrarchia_train.variance_reduction`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tetrarchia_agents.chance_samples import DEFAULT_SAMPLES
from tetrarchia_agents.position_analysis import Critic, advise
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game_analysis import Advice, Decision, GameAnalysis
from tetrarchia_env.notation import Replay, action_id, action_text, replay_actions

CHUNK_SIZE = 32  # decisions evaluated together: some thousand positions
ProgressFn = Callable[[float], None]  # called with the fraction of the work that is done


def analyze_replay(critic: Critic, replay: Replay, samples: int = DEFAULT_SAMPLES, progress: ProgressFn = lambda _: None) -> GameAnalysis:
    """Return the analysis of a recorded game, see `analyze`.

    Raises:
        TetrarchiaError: The replay contains an illegal action, or actions that the network does not know.
    """
    actions = np.array([action_id(text) for _, text in replay.actions], dtype=np.int64)
    return analyze(critic, replay_positions(replay), actions, samples, progress)


def replay_positions(replay: Replay) -> batch.Games:
    """Return the position before each action of a replay, and after the last."""
    game, masks = batch.new_games(replay.options, replay.seed, replay.local.message_tokens)
    positions = [game.copy()]
    for action in replay_actions(replay, game, masks):
        batch.step(game, np.array([action]), masks)
        positions.append(game.copy())
    return np.concatenate(positions)


def analyze(
    critic: Critic, positions: batch.Games, actions: Actions, samples: int = DEFAULT_SAMPLES, progress: ProgressFn = lambda _: None
) -> GameAnalysis:
    """Return the analysis of a game or a part of it.

    Args:
        critic: Estimates the win probabilities.
        positions: Consecutive positions of the game.
        actions: The action between each position and the next.
        samples: The number of dice samples per action, a multiple of 36.
        progress: Called with the fraction of the work that is done.
    """
    if len(positions) != len(actions) + 1:
        raise TetrarchiaError(f"{len(actions)} actions need {len(actions) + 1} positions; got {len(positions)}")
    evaluations: list[Evaluation] = []
    for start in range(0, len(actions), CHUNK_SIZE):
        played = actions[start : start + CHUNK_SIZE]
        evaluations += evaluate_decisions(critic, positions[start : start + len(played)], played, samples)
        progress(len(evaluations) / len(actions))
    last = positions[-1:]
    next_actions = [] if batch.is_over(last)[0] else advise(critic, last, samples=samples)[0]
    return combine(critic, positions, actions, evaluations, next_actions)


@dataclass(frozen=True)
class Evaluation:
    """The most probable actions of a position, and the win probability after the action that was played there."""

    top_actions: tuple[Advice, ...]
    expected: float


def evaluate_decisions(critic: Critic, games: batch.Games, actions: Actions, samples: int = DEFAULT_SAMPLES) -> list[Evaluation]:
    """Return the evaluation of each decision; they are independent of each other, so that an analysis can be computed in parts.

    Args:
        critic: Estimates the win probabilities.
        games: The positions.
        actions: The action that was played in each. A message (R14.7) changes nothing for the critic, which continues the turn.
        samples: The number of dice samples per action, a multiple of 36.
    """
    advice = advise(critic, games, samples=samples)
    known = [{one.action: one.win_probability for one in found} for found in advice]
    for action, found in zip(actions.tolist(), known, strict=True):
        if action >= ACTIONS:
            found[action] = next(iter(found.values()))
    is_new = np.array([action not in found for action, found in zip(actions.tolist(), known, strict=True)], dtype=np.bool_)
    computed = iter(critic.action_values(games[is_new], actions[is_new], samples).tolist())
    expected = [next(computed) if new else found[action] for action, found, new in zip(actions.tolist(), known, is_new, strict=True)]
    return [Evaluation(tuple(found), value) for found, value in zip(advice, expected, strict=True)]


def combine(
    critic: Critic, positions: batch.Games, actions: Actions, evaluations: Sequence[Evaluation], next_actions: Sequence[Advice]
) -> GameAnalysis:
    """Return the analysis of a game or a part of it.

    Args:
        critic: Estimates the win probabilities.
        positions: Consecutive positions of the game.
        actions: The action between each position and the next.
        evaluations: The evaluation of each action.
        next_actions: The most probable actions of the last position; empty if the game is over.
    """
    probabilities: list[float] = critic.win_probabilities(positions).tolist()
    for row, found in enumerate([*(one.top_actions for one in evaluations), next_actions]):
        if found and row and positions["turn"][row] == positions["turn"][row - 1]:
            probabilities[row] = found[0].win_probability  # within a turn: if the policy completes it
    return GameAnalysis(
        critic.name,
        tuple(
            Decision(
                turn=int(positions["turn"][row]),
                emperor=EMPERORS[positions["emperor"][row]],
                action=action_text(int(action)),
                before=probabilities[row],
                # Without dice nothing is left to chance; both are equal up to rounding.
                expected=one.expected if positions["dice"][row] != positions["dice"][row + 1] else probabilities[row + 1],
                after=probabilities[row + 1],
                top_actions=one.top_actions,
            )
            for row, (action, one) in enumerate(zip(actions, evaluations, strict=True))
        ),
        tuple(next_actions),
    )
