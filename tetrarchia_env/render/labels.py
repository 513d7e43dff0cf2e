"""Labels that all drawings share: phases, reactions and endings, and what one Emperor's view hides."""

from tetrarchia_env.board import BORDERS, EMPERORS
from tetrarchia_env.notation import Snapshot

PHASES = {
    "fleets": "placing the fleets",
    "arrival": "arrival",
    "roman": "Roman phase",
    "boost": "combat: Galerius may add 1",
    "block": "Constantius may block the army",
    "over": "the game is over",
    "barbarian": "Barbarian phase",
    "strike": "Barbarian phase",
    "advance": "the armies advance",
}
DECIDERS = {"boost": "galerius", "block": "constantius"}  # R10.1: reactions outside the Emperor's own turn
ENDINGS = {  # headline and reason
    "won": ("THE EMPIRE IS SAVED", "all six borders are held"),
    "rome fell": ("ROME HAS FALLEN", "an army entered ROMA"),
    "reserve empty": ("THE EMPIRE IS LOST", "no tokens are left"),
    "truncated": ("CUT OFF", "the last turn was reached"),
}

HIDDEN = "?"  # a number that the Emperor whose view is drawn does not know (R14)


def number_text(value: int | str | None) -> str:
    """Return a number as text."""
    return HIDDEN if value is None else str(value)


def place_of(snapshot: Snapshot, emperor: str) -> str:
    """Return where an Emperor is, in words."""
    is_known = "view" not in snapshot or snapshot["view"]["emperor"] == emperor
    return str(snapshot["emperors"][emperor] or ("off the board" if is_known else "out of view"))


def secured_borders(snapshot: Snapshot) -> int:
    """Return the number of secured borders, which is always public."""
    if "view" in snapshot:
        return int(snapshot["view"]["secured"])
    return sum(snapshot["tokens"].get(name) in EMPERORS for name in BORDERS)


def shown_dice(snapshot: Snapshot, dice: str) -> str:
    """Return the dice of the last Barbarian phase, which local information hides."""
    return "hidden" if "view" in snapshot else dice or "none yet"


def memory_of(snapshot: Snapshot, space: str) -> Snapshot | None:
    """Return what is remembered of a space out of view, empty if nothing is; `None` if the space is in view."""
    if "view" not in snapshot or space in snapshot["view"]["spaces"]:
        return None
    return dict(snapshot["view"]["remembers"].get(space, {}))
