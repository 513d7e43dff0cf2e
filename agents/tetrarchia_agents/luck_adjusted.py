"""Luck-adjusted analysis of games: how much choices and dice changed the win probability, decision by decision.

AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: A new variance reduction technique for agent evaluation in imperfect
information games, AAAI 2018) subtracts at every chance event the value of the actual outcome minus the mean value of all possible
outcomes. That difference is luck; its expectation is 0 whatever the values are. The rest of the change from one decision to the next
is the effect of the choice. Training corrects its rewards in the same way (`tetrarchia_train.variance_reduction`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from tetrarchia_agents.chance_samples import DEFAULT_SAMPLES
from tetrarchia_agents.position_analysis import Critic, advise
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions
from tetrarchia_env.board import EMPERORS
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
    game, masks = batch.new_games(replay.options, replay.seed)
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
    advice: list[list[Advice]] = []
    expected: list[float] = []
    for start in range(0, len(actions), CHUNK_SIZE):
        played = actions[start : start + CHUNK_SIZE]
        before = positions[start : start + len(played)]
        likely = advise(critic, before, samples=samples)
        expected += _values_of_played(critic, before, played, likely, samples)
        advice += likely
        progress(len(expected) / len(actions))
    probabilities: list[float] = critic.win_probabilities(positions).tolist()
    for row, found in enumerate(advice):
        if row and positions["turn"][row] == positions["turn"][row - 1]:
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
                expected=expected[row] if positions["dice"][row] != positions["dice"][row + 1] else probabilities[row + 1],
                after=probabilities[row + 1],
                top_actions=tuple(advice[row]),
            )
            for row, action in enumerate(actions)
        ),
    )


def _values_of_played(
    critic: Critic, games: batch.Games, actions: Actions, advice: Sequence[Sequence[Advice]], samples: int
) -> list[float]:
    """Return the win probability after each played action; most are known because they are among the most probable ones."""
    known = [{one.action: one.win_probability for one in found} for found in advice]
    is_new = np.array([action not in found for action, found in zip(actions.tolist(), known, strict=True)], dtype=np.bool_)
    computed = iter(critic.action_values(games[is_new], actions[is_new], samples).tolist())
    return [next(computed) if new else found[action] for action, found, new in zip(actions.tolist(), known, is_new, strict=True)]
