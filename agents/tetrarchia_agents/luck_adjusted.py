"""What of a game was skill and what was luck: the control variate on chance events, decision by decision.

AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, AIVAT: A new variance reduction technique for agent evaluation in imperfect
information games, AAAI 2018) takes from what a game brought, at every chance event, the value of what came less the mean value of
what could have come. That difference is luck, 0 in the mean whatever the values are; what remains of the change from one decision
to the next is what the choice did. Training corrects its rewards in the same way (`tetrarchia_train.variance_reduction`).
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tetrarchia_agents.chance_samples import DEFAULT_SAMPLES
from tetrarchia_agents.position_analysis import Critic, advise
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game_analysis import Advice, Decision, GameAnalysis
from tetrarchia_env.notation import Replay, action_id, action_text, checked_actions

PART = 32  # decisions that are judged together: some thousand positions
Tell = Callable[[float], None]  # called with the share of the work that is done


def analyse_replay(critic: Critic, replay: Replay, samples: int = DEFAULT_SAMPLES, tell: Tell = lambda _: None) -> GameAnalysis:
    """A recorded game; ValueError where it does not hold, or has actions that the network does not know."""
    actions = np.array([action_id(text) for _, text in replay.actions], dtype=np.int64)
    return analyse(critic, positions_of(replay), actions, samples, tell)


def positions_of(replay: Replay) -> batch.Games:
    """The game before each action and after the last."""
    game, masks = batch.new_games(replay.options, replay.seed)
    found = [game.copy()]
    for action in checked_actions(replay, game, masks):
        batch.step(game, np.array([action]), masks)
        found.append(game.copy())
    return np.concatenate(found)


def analyse(
    critic: Critic, positions: batch.Games, actions: Actions, samples: int = DEFAULT_SAMPLES, tell: Tell = lambda _: None
) -> GameAnalysis:
    """Any stretch of a game: its positions one after the other, and the action between each and the next."""
    if len(positions) != len(actions) + 1:
        raise TetrarchiaError(f"{len(actions)} actions lead through {len(actions) + 1} positions, not {len(positions)}")
    advice: list[list[Advice]] = []
    values: list[float] = []
    for at in range(0, len(actions), PART):
        played = actions[at : at + PART]
        before = positions[at : at + len(played)]
        likeliest = advise(critic, before, samples=samples)
        values += _played_values(critic, before, played, likeliest, samples)
        advice += likeliest
        tell(len(values) / len(actions))
    return GameAnalysis(critic.name, tuple(_decisions(positions, actions, _chances(critic, positions, advice), values, advice)))


def _played_values(
    critic: Critic, games: batch.Games, actions: Actions, advice: Sequence[Sequence[Advice]], samples: int
) -> Iterator[float]:
    """The chance to win after each action that was played; most are among the likeliest, whose chances are known."""
    known = [{one.action: one.chance for one in found} for found in advice]
    others = np.array([action not in found for action, found in zip(actions.tolist(), known, strict=True)], dtype=np.bool_)
    computed = iter(critic.action_values(games[others], actions[others], samples).tolist())
    return (next(computed) if other else found[action] for action, found, other in zip(actions.tolist(), known, others, strict=True))


def _chances(critic: Critic, positions: batch.Games, advice: Sequence[Sequence[Advice]]) -> list[float]:
    """Between two turns what the critic says; within a turn what it says of the turn's ends, if its policy plays on from there."""
    chances: list[float] = critic.win_probabilities(positions).tolist()
    for row, likeliest in enumerate(advice):
        if row and positions["turn"][row] == positions["turn"][row - 1]:
            chances[row] = likeliest[0].chance
    return chances


def _decisions(
    positions: batch.Games, actions: Actions, chances: Sequence[float], values: Sequence[float], advice: Sequence[Sequence[Advice]]
) -> Iterator[Decision]:
    for row, action in enumerate(actions):
        before, after = positions[row], positions[row + 1]
        yield Decision(
            turn=int(before["turn"]),
            emperor=EMPERORS[before["emperor"]],
            action=action_text(int(action)),
            before=chances[row],
            expected=values[row] if before["dice"] != after["dice"] else chances[row + 1],  # the same but for the last bits
            after=chances[row + 1],
            likeliest=tuple(advice[row]),
        )
