"""Frames of a game, as viewers, videos and the replay page show them, and limits of the playback speed."""

from dataclasses import dataclass

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import Snapshot

UNSEEN_ACTION = "(not shown)"  # the action of a frame that another Emperor's view hides
MIN_SPEED, MAX_SPEED = 0.01, 1000.0  # actions per second


@dataclass(frozen=True)
class Frame:
    """A position and the action that led to it.

    Attributes:
        number: Number of actions played so far.
        snapshot: The position.
        agent: The Emperor who acted; `None` at the start.
        action: The action as text; `None` at the start.
        story: The events that followed, one line each.
        dice: The dice of the last Barbarian phase, e.g. `"IV 3"`.
    """

    number: int
    snapshot: Snapshot
    agent: str | None = None
    action: str | None = None
    story: tuple[str, ...] = ()
    dice: str = ""


def check_speed(speed: float) -> None:
    """Check a playback speed.

    Args:
        speed: Actions per second.

    Raises:
        TetrarchiaError: If it is not between MIN_SPEED and MAX_SPEED.
    """
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise TetrarchiaError(f"speed must be {MIN_SPEED:g} to {MAX_SPEED:g} actions per second; got {speed!r}")
