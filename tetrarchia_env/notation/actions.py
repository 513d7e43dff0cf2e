"""Conversion between action ids and texts."""

from difflib import get_close_matches

import numpy as np

from tetrarchia_env.batch import Games, legal_masks
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.state import DUX
from tetrarchia_env.engine.tables import BIT
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
_TEXTS = (*ACTION_TEXTS, *(f"say {token}" for token in range(1, a.MAX_MESSAGE_TOKENS + 1)))  # R14.7
_IDS = {text.casefold(): action for action, text in enumerate(_TEXTS)}
# By the beginning of an action's text. {goal}: the rest of the text; {place}: the space of the figure; {token}: what lies there.
_LABELS = {
    "end": "End the turn",
    "secure": "Secure {place}",
    "subdue": "Subdue the {token} in {place}",
    "calm": "Calm the Revolt in {place}",
    **{f"sail {start}": f"Sail from {start} to {{goal}}" for start in BOARD.zones},
    "fleet": "Place a fleet in {goal}",
    "enter capital": "Arrive in {capital}",
    "enter": "Arrive in {goal}",
    "move": "Move to {goal}",
    "attack PIRATES": "Attack the Pirates",
    "attack": "Attack {goal}",
    "imperivm": "Use the power of the Emperor",
    "boost": "Add 1 to the roll",
    "block": "Block the army",
    "accept": "Do not react",
    "take": "Take 1 IP from Galerius",
    "give": "Give 1 IP to Maximian",
    **{f"order {emperor}": f"Order {emperor.capitalize()} to {{goal}}" for emperor in EMPERORS},
    "dux deploy": "Deploy the Dux in {goal}",
    "dux move": "Move the Dux to {goal}",
    "dux attack PIRATES": "Attack the Pirates with the Dux",
    "dux attack": "Attack {goal} with the Dux",
    "dux subdue": "Subdue the {token} in {place} with the Dux",
    "dux calm": "Calm the Revolt in {place} with the Dux",
    "say": "Say {goal}",
}


def action_text(action: int) -> str:
    """Return the text of an action id.

    Raises:
        TetrarchiaError: There is no such action.

    >>> action_text(2), action_text(13), action_text(456)
    ('subdue', 'move TINGITANA', 'say 2')
    """
    if not 0 <= action < len(_TEXTS):
        raise TetrarchiaError(f"action must be from 0 to {len(_TEXTS) - 1}; got {action!r}")
    return _TEXTS[action]


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
        close = [_TEXTS[_IDS[near]] for near in get_close_matches(words, _IDS)]
        hint = f": did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise TetrarchiaError(f"unknown action {truncate_repr(text)}{hint}")
    return _IDS[words]


def action_label(game: Games, action: int) -> str:
    """Return an action in the words of a player's page.

    Args:
        game: The position in which it is chosen, an array of one game.
        action: The id of a legal action.
    """
    record, text = game[0], action_text(action)
    start = max((start for start in _LABELS if text.startswith(start)), key=len)
    space = int(record.at[DUX if text.startswith("dux") else record.emperor])
    is_on_board = space < len(BOARD.names)
    return _LABELS[start].format(
        goal=text.removeprefix(start).strip(),
        place=BOARD.names[space] if is_on_board else "",
        token="Revolt" if is_on_board and record.revolts & BIT[space] else "Unrest",
        capital=BOARD.names[BOARD.capitals[record.emperor]],
    )


def legal_actions(game: Games, message_tokens: int = 0) -> list[int]:
    """Return the legal action ids of an array of one game, with messages if there are tokens (R14.7); none when it is over."""
    return [int(action) for action in np.flatnonzero(legal_masks(game, message_tokens)[0])]
