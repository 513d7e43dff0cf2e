"""Previews of the legal actions for the web page: place on the map, cost, and the strength of both sides of a combat."""

from dataclasses import dataclass

from tetrarchia_app.playing.choices import DICE_OUTCOMES, choices, fighters
from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.combat import barbarian_side, chain, odds, roman_side
from tetrarchia_env.engine.state import PIRATES, GameRecord
from tetrarchia_env.engine.tables import BIT, COAST, LINKED
from tetrarchia_env.engine.tokens import supporting
from tetrarchia_env.notation import fast_view

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
    """A legal action; `place` is the space or sea zone where it is shown, `None` if it has none."""

    action: str
    cost: str
    place: str | None
    combat: Combat | None


def previews(game: Games) -> list[Preview]:
    """Return a preview of every legal action, in the order of `choices`."""
    record = fast_view(game)
    return [Preview(choice.text, choice.cost, _place(record, choice.action), _combat(record, choice.action)) for choice in choices(game)]


def _place(game: GameRecord, action: int) -> str | None:
    if a.SAIL <= action < a.ENTER_ROMA:
        return (BOARD.zones[1], BOARD.zones[0], BOARD.zones[2], BOARD.zones[1], *BOARD.zones)[action - a.SAIL]
    if action in (a.ENTER_ROMA, a.ENTER_CAPITAL):
        return BOARD.names[BOARD.roma if action == a.ENTER_ROMA else BOARD.capitals[game.emperor]]
    if action in (a.ATTACK_PIRATES, a.DUX_ATTACK_PIRATES):
        return BOARD.zones[int(game.pirates).bit_length() - 1]
    if action >= a.ORDER:
        return BOARD.names[(action - a.ORDER) % SPACES]
    return next((BOARD.names[action - first] for first in ACTION_BLOCKS if first <= action < first + SPACES), None)


def _combat(game: GameRecord, action: int) -> Combat | None:
    found = fighters(game, action)
    if found is None:
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
    return [space for space in range(SPACES) if int(bits) >> space & 1]
