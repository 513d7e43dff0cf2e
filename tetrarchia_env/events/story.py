"""R3: the order of play, told piece by piece."""

from dataclasses import dataclass

import numpy as np

from tetrarchia_env.batch import Games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.legal import legal
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
    THE_GREAT,
    WON,
    Game,
)
from tetrarchia_env.engine.the_great import is_half_emperor, the_great
from tetrarchia_env.events.barbarian import tell_barbarian_phase
from tetrarchia_env.events.combats import tell_advance, tell_block, tell_boost
from tetrarchia_env.events.roman import tell_act, tell_arrival, tell_fleet, tell_next_turn
from tetrarchia_env.events.words import Lines, empty_reserves
from tetrarchia_env.notation import legal_actions

_DECISIONS = {FLEETS: tell_fleet, ARRIVAL: tell_arrival, ROMAN: tell_act, BOOST: tell_boost, BLOCK: tell_block}


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


def narrate(game: Games, action: int) -> Story:
    """Play one action in a copy of this array of one game, and tell all that followed; of a finished game nothing."""
    if game[0].phase == OVER:
        return Story((), "", game.copy())
    if action not in legal_actions(game):
        raise ValueError(f"action {action} is not legal: choose one of {legal_actions(game)}")
    after = game.copy()
    dice: list[str] = []
    lines = tuple(_tell(after[0], action, dice))
    return Story(lines, ", ".join(dice), after)


def _tell(game: Game, action: int, dice: list[str]) -> Lines:
    """As `turn.play`."""
    yield from _DECISIONS[game.phase](game, action)
    yield from _go_on(game, dice)
    if game.phase == OVER:
        yield _ending(game)
        yield from _titles(game)


def _go_on(game: Game, dice: list[str]) -> Lines:
    """As `turn.go_on`: until somebody must decide or the game is over."""
    mask = np.zeros(a.ACTIONS, dtype=np.int8)
    while True:
        if game.phase == BARBARIAN:
            yield from tell_barbarian_phase(game, dice)
        elif game.phase == ADVANCE and game.march[0] != OFF:
            yield from tell_advance(game)
        elif game.phase == ADVANCE:
            yield from tell_next_turn(game)
        elif legal(game, mask) or game.phase != ROMAN:
            return
        else:
            game.phase = BARBARIAN
            yield f"{EMPERORS[game.emperor]} has nothing left to do"


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
