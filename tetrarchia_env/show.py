"""A game as it is shown, frame by frame: what `watch`, `replay`, films and the replay page have in common."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import narrate
from tetrarchia_env.notation import Replay, Snapshot, action_text, checked_actions, snapshot
from tetrarchia_env.options import Options

Policy = Callable[[batch.Games, batch.Masks], int]  # from a game and its legal actions to one of these
SLOWEST, FASTEST = 0.01, 1000.0  # actions a second


def check_speed(speed: float) -> None:
    """ValueError if nobody could watch it."""
    if not SLOWEST <= speed <= FASTEST:
        raise TetrarchiaError(f"the speed is from {SLOWEST:g} to {FASTEST:g} actions a second, not {speed!r}")


@dataclass(frozen=True)
class Frame:
    """A position, and what led to it."""

    number: int  # actions played so far
    snapshot: Snapshot
    agent: str | None = None  # who decided; None at the start
    action: str | None = None  # what, as text
    story: tuple[str, ...] = ()  # what it brought about, in words
    dice: str = ""  # of the last Barbarian phase


class Show:
    """Frames that are made as they are asked for, and kept so that one can go back."""

    def __init__(self, frames: Iterator[Frame]) -> None:
        self._source = frames
        self._made: list[Frame] = []

    def frame(self, number: int) -> Frame:
        """This frame, or the last one if there are not so many."""
        while len(self._made) <= number and (frame := next(self._source, None)) is not None:
            self._made.append(frame)
        return self._made[min(number, len(self._made) - 1)]

    def all(self) -> list[Frame]:
        """Every frame."""
        self._made.extend(self._source)
        return self._made


def frames_of(replay: Replay) -> Iterator[Frame]:
    """The frames of a recorded game, each action checked; ValueError where the replay does not hold."""
    game, masks = batch.new_games(replay.options, replay.seed)
    return _frames(game, masks, checked_actions(replay, game, masks))


def frames_of_play(options: Options, seed: int, policy: Policy) -> Iterator[Frame]:
    """The frames of a game that is played as they are asked for; the policy decides for every Emperor."""
    game, masks = batch.new_games(options, seed)
    return _frames(game, masks, _choices(game, masks, policy))


def _choices(game: batch.Games, masks: batch.Masks, policy: Policy) -> Iterator[int]:
    while masks.any():
        yield policy(game, masks[0])


def _frames(game: batch.Games, masks: batch.Masks, actions: Iterator[int]) -> Iterator[Frame]:
    """The position before the first action and after each; an action is asked for when the one before has been played."""
    frame = Frame(0, snapshot(game))
    yield frame
    for action in actions:
        agent = EMPERORS[agent_to_act(game[0])]
        story = narrate(game, action)
        batch.step(game, np.array([action]), masks)
        frame = Frame(frame.number + 1, snapshot(game), agent, action_text(action), story.lines, story.dice or frame.dice)
        yield frame
