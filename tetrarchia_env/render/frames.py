"""Frames of a game, as viewers, videos and the replay page show them, and limits of the playback speed."""

from dataclasses import dataclass

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import Snapshot

MIN_SPEED, MAX_SPEED = 0.01, 1000.0  # actions per second


@dataclass(frozen=True)
class Frame:
    """A position and the action that led to it.

    Attributes:
        number: actions played so far
        snapshot: the position
        agent: the Emperor who acted; `None` at the start
        action: its action as text; `None` at the start
        story: the events that followed, in words
        dice: the dice of the last Barbarian phase, e.g. `"IV 3"`
    """

    number: int
    snapshot: Snapshot
    agent: str | None = None
    action: str | None = None
    story: tuple[str, ...] = ()
    dice: str = ""


def check_speed(speed: float) -> None:
    """Raise TetrarchiaError unless frames can be played at this speed."""
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise TetrarchiaError(f"speed must be {MIN_SPEED:g} to {MAX_SPEED:g} actions per second; got {speed!r}")
