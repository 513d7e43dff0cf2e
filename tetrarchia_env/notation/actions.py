"""Conversion between action ids and texts."""

from difflib import get_close_matches

import numpy as np

from tetrarchia_env.batch import Games, legal_masks
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine import actions as a
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr
from tetrarchia_env.variants import MODULES, VARIANTS


def _expanded(template: str) -> list[str]:
    """Return the texts of a template, one for each Emperor and space that it names."""
    by_emperor = [template.replace("{emperor}", emperor) for emperor in EMPERORS] if "{emperor}" in template else [template]
    return [text.replace("{space}", name) for text in by_emperor for name in (BOARD.names if "{space}" in text else [""])]


def _sails() -> list[str]:
    west, middle, east = BOARD.zones
    return [f"sail {start} {goal}" for start, goal in ((west, middle), (middle, west), (middle, east), (east, middle))]


_BLOCKS = {
    a.END: ["end", "secure", "subdue", "calm"],
    a.SAIL: _sails(),
    a.FLEET: [f"fleet {zone}" for zone in BOARD.zones],
    a.ENTER_ROMA: ["enter ROMA", "enter capital"],
    a.MOVE: _expanded("move {space}"),
    a.ATTACK: _expanded("attack {space}"),
    **{getattr(a, first): _expanded(text) for rule in (*VARIANTS, *MODULES) for first, text in rule.actions.items()},
}
ACTION_TEXTS: tuple[str, ...] = tuple(text for first in sorted(_BLOCKS) for text in _BLOCKS[first])
_IDS = {text.casefold(): action for action, text in enumerate(ACTION_TEXTS)}


def action_text(action: int) -> str:
    """Return the text of an action id.

    Raises:
        TetrarchiaError: There is no such action.

    >>> action_text(2), action_text(13)
    ('subdue', 'move TINGITANA')
    """
    if not 0 <= action < a.ACTIONS:
        raise TetrarchiaError(f"action must be from 0 to {a.ACTIONS - 1}; got {action!r}")
    return ACTION_TEXTS[action]


def action_id(text: str) -> int:
    """Return the id of an action's text; case and spacing are ignored.

    Raises:
        TetrarchiaError: There is no such action; the message suggests similar ones.

    >>> action_id("move Belgica")
    19
    >>> action_id("mov ROMA")
    Traceback (most recent call last):
    tetrarchia_env.errors.TetrarchiaError: unknown action 'mov ROMA': did you mean 'move ROMA' or 'dux move ROMA' or 'move SYRIA'?
    """
    words = " ".join(str(text).split()).casefold()
    if words not in _IDS:
        close = [ACTION_TEXTS[_IDS[near]] for near in get_close_matches(words, _IDS)]
        hint = f": did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise TetrarchiaError(f"unknown action {truncate_repr(text)}{hint}")
    return _IDS[words]


def legal_actions(game: Games) -> list[int]:
    """Return the legal action ids of an array of one game; none when it is over."""
    return [int(action) for action in np.flatnonzero(legal_masks(game)[0])]
