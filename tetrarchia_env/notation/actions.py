"""Conversion between action ids and texts."""

from difflib import get_close_matches

import numpy as np

from tetrarchia_env.batch import Games, legal_masks
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine import actions as a
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr


def _for_each_space(words: str) -> list[str]:
    return [f"{words} {name}" for name in BOARD.names]


def _sails() -> list[str]:
    west, middle, east = BOARD.zones
    return [f"sail {start} {goal}" for start, goal in ((west, middle), (middle, west), (middle, east), (east, middle))]


_BLOCKS = {
    a.END: ["end", "secure", "subdue", "calm"],
    a.SAIL: _sails(),
    a.FLEET: [f"fleet {zone}" for zone in BOARD.zones],
    a.ENTER_ROMA: ["enter ROMA", "enter capital"],
    a.MOVE: _for_each_space("move"),
    a.ATTACK: _for_each_space("attack"),
    a.IMPERIVM_POWER: ["imperivm", "boost", "block", "accept", "take", "give", "attack PIRATES"],
    a.DUX_DEPLOY: _for_each_space("dux deploy"),
    a.DUX_MOVE: _for_each_space("dux move"),
    a.DUX_ATTACK: _for_each_space("dux attack"),
    a.DUX_SUBDUE: ["dux subdue", "dux calm", "dux attack PIRATES"],
    a.ORDER: [text for emperor in EMPERORS for text in _for_each_space(f"order {emperor}")],
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
