"""What one action brought about, told piece by piece."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tetrarchia_env.batch import Games, Masks, legal_masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.legal import Mask
from tetrarchia_env.engine.state import (
    ADVANCE,
    ARRIVAL,
    BARBARIAN,
    BLOCK,
    BOOST,
    FLEETS,
    NOBODY,
    OFF,
    OVER,
    RESERVE_EMPTY,
    ROMAN,
    ROME_FELL,
    STRIKE,
    THE_GREAT,
    WON,
    Game,
)
from tetrarchia_env.engine.the_great import is_half_emperor, the_great
from tetrarchia_env.engine.turn import decide, go_on
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events.barbarian import tell_beginning, tell_strike
from tetrarchia_env.events.combats import tell_advance, tell_block, tell_boost
from tetrarchia_env.events.roman import tell_act, tell_arrival, tell_empty_decision, tell_fleet, tell_turn
from tetrarchia_env.events.words import Lines, dice_between, empty_reserves, province_dice
from tetrarchia_env.notation import fast_view, repeat


def _tell_advance_or_turn(before: Game, game: Game) -> Lines:
    """R8, R3.1: when the last army has acted, the next turn begins."""
    return tell_advance(before, game) if before.march[0] != OFF else tell_turn(before, game)


_DECISIONS = {FLEETS: tell_fleet, ARRIVAL: tell_arrival, ROMAN: tell_act, BOOST: tell_boost, BLOCK: tell_block}
_PIECES = {ROMAN: tell_empty_decision, BARBARIAN: tell_beginning, STRIKE: tell_strike, ADVANCE: _tell_advance_or_turn}


@dataclass(frozen=True)
class Story:
    """What one action brought about.

    lines: what happened, in order
    dice: those of the last Barbarian phase that began, such as "IV 3", or "IV 3, I 2" if an Uprising named another province;
        empty if none began
    after: the game then, the same bytes as after `batch.step`
    """

    lines: tuple[str, ...]
    dice: str
    after: Games


@dataclass(frozen=True)
class Piece:
    """One piece of it, for who wants to see them one after the other: the decision, then what the Barbarians did.

    fallen: the dice that were rolled, in order
    dice: as a story has them, once they are known
    after: the game then; between two decisions it is in a phase that no snapshot can be restored from
    """

    lines: tuple[str, ...]
    fallen: tuple[int, ...]
    dice: str
    after: Games


def narrate(game: Games, action: int) -> Story:
    """What `tell` says, played in a copy of this array of one game."""
    return tell(game.copy(), action, legal_masks(game))


def tell(game: Games, action: int, masks: Masks) -> Story:
    """Play one action in this array of one game, as `batch.step` does, and tell all that followed; of a finished game nothing."""
    if game[0].phase == OVER:
        return Story((), "", game)
    _check_legal(action, masks)
    dice: list[str] = []
    lines = tuple(line for piece in _tell(game, action, masks[0], dice) for line in piece)
    return Story(lines, ", ".join(dice), game)


def narrate_pieces(game: Games, action: int) -> Iterator[Piece]:
    """The same piece by piece, played in a copy; the game must not be over."""
    playing, masks, dice = repeat(game), legal_masks(game), list[str]()
    _check_legal(action, masks)
    before = game
    for lines in _tell(playing, action, masks[0], dice):
        after = repeat(playing)
        yield Piece(tuple(lines), tuple(dice_between(fast_view(before), fast_view(after))), ", ".join(dice), after)
        before = after


def _check_legal(action: int, masks: Masks) -> None:
    legal = np.flatnonzero(masks[0]).tolist()
    if action not in legal:
        raise TetrarchiaError(f"action {action} is not legal: choose one of {legal}")


def _tell(playing: Games, action: int, mask: Mask, dice: list[str]) -> Iterator[list[str]]:
    """The decision, each piece that follows it, and the end; `dice` gets those of R6.3 and R7.2, in words."""
    game, before = fast_view(playing), fast_view(repeat(playing))
    decide(game, action)
    yield list(_DECISIONS[before.phase](before, game, action))
    before = fast_view(repeat(playing))
    while go_on(game, mask, 1):
        _note_dice(before, dice)
        yield list(_PIECES[before.phase](before, game))
        before = fast_view(repeat(playing))
    if game.phase == OVER:
        yield [_ending(game), *_titles(game)]


def _note_dice(before: Game, dice: list[str]) -> None:
    if before.phase == BARBARIAN:
        dice.clear()
    elif before.phase == STRIKE:
        dice.append(province_dice(before.foe))


def _ending(game: Game) -> str:
    """R9.1, R9.2, and the length of a game."""
    if game.outcome == WON:
        return "all six borders are secured: the Empire is saved"
    if game.outcome == ROME_FELL:
        return "Rome has fallen"
    if game.outcome == RESERVE_EMPTY:
        return f"no {empty_reserves(game)} token is left: the Empire is lost"
    return f"{game.max_turns} turns are over: the game ends here"


def _titles(game: Game) -> Lines:
    """R10.5."""
    if not game.variants & THE_GREAT:
        return
    great = the_great(game)
    if great != NOBODY:
        yield f"{EMPERORS[great]} is the Great"
    for emperor, name in enumerate(EMPERORS):
        if is_half_emperor(game, emperor):
            yield f"{name} is Emperor of the {'East' if emperor < 2 else 'West'}"
