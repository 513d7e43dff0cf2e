"""Previews of the legal actions for the web page: label, place on the map, cost, both sides of a combat, and the end of the turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tetrarchia_app.playing.choices import DICE_OUTCOMES, fighters, is_known, ordered_actions, play_each, with_costs
from tetrarchia_env.batch import Games, legal_masks
from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.combat import barbarian_side, chain, odds, roman_side
from tetrarchia_env.engine.state import FIGURES, PIRATES, ROMAN, GameRecord
from tetrarchia_env.engine.tables import BIT, COAST, LINKED, NORMAL
from tetrarchia_env.engine.tokens import supporting
from tetrarchia_env.notation import action_label, fast_view, to_namedtuple

_NORMAL_LINKS: list[int] = NORMAL.tolist()  # Python integers are faster to read one by one
ACTION_BLOCKS = {a.MOVE: "move", a.ATTACK: "attack", a.DUX_DEPLOY: "dux deploy", a.DUX_MOVE: "dux move", a.DUX_ATTACK: "dux attack"}


@dataclass(frozen=True)
class Side:
    """One side of a combat (R5.1): the number added to its die, how often the sum is doubled, and the spaces of its supporting chain."""

    adds: int
    doubled: int
    chain: tuple[str, ...]


@dataclass(frozen=True)
class Combat:
    """A possible combat: how many of the 36 outcomes of the dice win, draw and lose, and both sides."""

    win: int
    draw: int
    loss: int
    roman: Side
    barbarian: Side


@dataclass(frozen=True)
class Preview:
    """A legal action.

    Attributes:
        action: Its text.
        label: Its description for a player.
        cost: Its cost, e.g. "2 IP".
        place: The space or sea zone where it is shown; `None` if it has none.
        combat: The combat that it begins.
        ends_turn: Whether the Barbarian phase follows at once, without a combat.
        driven_off: Figures that the Barbarian phase would then remove from the board (R6.2), whatever the dice show.
        at_risk: Figures that it would remove if the dice join broken links.
    """

    action: str
    label: str
    cost: str
    place: str | None
    combat: Combat | None
    ends_turn: bool
    driven_off: tuple[str, ...]
    at_risk: tuple[str, ...]


def previews(game: Games, known: Games | None = None, message_tokens: int = 0) -> list[Preview]:
    """Return a preview of every legal action, in the order of `choices`.

    Args:
        game: The game.
        known: The part of it that the player knows (R14). Combats are previewed from it, and figures at risk are left out.
        message_tokens: The number of message tokens (R14.7).
    """
    record, ids = fast_view(game), ordered_actions(game, message_tokens)
    visible = record if known is None else fast_view(known)
    after = play_each(game, ids)
    plain = to_namedtuple(record)
    as_game: Any = (plain,)  # for action_label: the fields of `game` are slow to read
    found = []
    for choice, end in zip(with_costs(game, ids, after), _turn_ends(record, ids, after, message_tokens), strict=True):
        label, combat = action_label(as_game, choice.action), _combat(visible, choice.action)
        removed = _removed(end) if end is not None and known is None else ((), ())
        found.append(Preview(choice.text, label, choice.cost, _place(plain, choice.action), combat, end is not None, *removed))
    return found


def _turn_ends(record: GameRecord, ids: Sequence[int], after: Games, message_tokens: int) -> list[Any]:
    """Return, for each action, the position in which it ends the Roman phase; `None` if it does not or begins a combat."""
    if record.phase != ROMAN:
        return [None] * len(ids)
    has_others = legal_masks(after, message_tokens)[:, a.END + 1 :].any(axis=1)
    ends = ((after["phase"] != ROMAN) | ~has_others) & (after["outcome"] == record.outcome)
    return [
        to_namedtuple(fast_view(after[row : row + 1])) if is_end and fighters(record, action) is None else None
        for row, (action, is_end) in enumerate(zip(ids, ends.tolist(), strict=True))
    ]


def _removed(game: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """R6.1, R6.2: return the figures on spaces that certainly or possibly have a Revolt after the Revolts have spread."""
    certain = game.revolts | _reached(game.revolts, game.unrest)
    possible = chain(game.revolts | game.unrest, game.revolts)
    standing = {name: space for name, space in zip(FIGURES, game.at, strict=False) if space < SPACES}
    driven_off = tuple(name for name, space in standing.items() if certain >> space & 1)
    return driven_off, tuple(name for name, space in standing.items() if possible >> space & 1 and name not in driven_off)


def _reached(revolts: int, unrest: int) -> int:
    """Return the Unrest that normal links join to a Revolt, directly or through other Unrest, as bits."""
    reached, queue = 0, _spaces_of(revolts)
    while queue:
        new = _NORMAL_LINKS[queue.pop()] & unrest & ~reached
        reached |= new
        queue += _spaces_of(new)
    return reached


def _place(game: GameRecord, action: int) -> str | None:
    if a.SAIL <= action < a.ENTER_ROMA:
        return (BOARD.zones[1], BOARD.zones[0], BOARD.zones[2], BOARD.zones[1], *BOARD.zones)[action - a.SAIL]
    if action in (a.ENTER_ROMA, a.ENTER_CAPITAL):
        return BOARD.names[BOARD.roma if action == a.ENTER_ROMA else BOARD.capitals[game.emperor]]
    if action in (a.ATTACK_PIRATES, a.DUX_ATTACK_PIRATES):
        return BOARD.zones[int(game.pirates).bit_length() - 1]
    if a.ORDER <= action < a.SAY:
        return BOARD.names[(action - a.ORDER) % SPACES]
    return next((BOARD.names[action - first] for first in ACTION_BLOCKS if first <= action < first + SPACES), None)


def _combat(game: GameRecord, action: int) -> Combat | None:
    found = fighters(game, action)
    if found is None or not is_known(game, *found):
        return None
    figure, foe = found
    win, loss = (int(outcomes) for outcomes in odds(game, figure, foe))
    roman = _side(roman_side(game, figure, foe), chain_of(supporting(game, figure), game.at[figure], foe, game))
    barbarian = _side(barbarian_side(game, figure, foe), chain_of(game.revolts, foe, foe, game))
    return Combat(win, DICE_OUTCOMES - win - loss, loss, roman, barbarian)


def _side(side: tuple[int, int], spaces: int) -> Side:
    return Side(int(side[0]), int(side[1]), tuple(BOARD.names[space] for space in _spaces_of(spaces)))


def chain_of(tokens: int, space: int, foe: int, game: GameRecord) -> int:
    """Return the tokens that `engine.combat` counts as support, as bits; a test compares both."""
    if foe == PIRATES:
        return int(tokens & COAST[game.pirates])
    seeds = BIT[space] if tokens & BIT[space] else tokens & LINKED[space]
    chains = (chain(tokens, BIT[seed]) for seed in _spaces_of(seeds))
    return int(max(chains, key=count, default=0))


def _spaces_of(bits: int) -> list[int]:
    bits, found = int(bits), []
    while bits:
        found.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return found
