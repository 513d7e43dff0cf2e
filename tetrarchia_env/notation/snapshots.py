"""Snapshots: a game as JSON data. `restore(snapshot(game))` has the same bytes as `game`.

Besides the position a snapshot has `rules`, the arguments of the game, and `pending`, the state of an unfinished turn: `owed` IP (R10.4),
powers `used` this turn, a `combat` that waits for the boost of R10.1, and the armies still on the `march` (R8.1). Both are optional in
a snapshot written by hand, and so is `score`.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.bits import first_of
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import (
    ARMIES,
    DUX,
    DUX_MODULE,
    FIGURES,
    GONE,
    KINDS,
    MODULES,
    NOBODY,
    OFF,
    OUTCOMES,
    PHASES,
    PIRATES,
    PIRATES_MODULE,
    REVOLT,
    UNREST,
    VARIANTS,
    GameRecord,
)
from tetrarchia_env.notation.plain_records import to_namedtuple
from tetrarchia_env.options import Options

USES = ("power", "take", "give", "say")
Snapshot = dict[str, Any]


def snapshot(position: Games | np.void) -> Snapshot:
    """Return a game as JSON data.

    Args:
        game: A record, or an array of one.

    >>> from tetrarchia_env.batch import new_games
    >>> games, _ = new_games(Options(level="4200"), seeds=7)
    >>> snapshot(games)["emperor"], snapshot(games)["phase"], snapshot(games)["reserve"]
    ('diocletian', 'fleets', {'unrest': 21, 'revolt': 15, 'armies': 3})
    """
    record: Any = position[0] if position.shape else position
    game: GameRecord = to_namedtuple(record)
    return {
        "turn": game.turn,
        "emperor": EMPERORS[game.emperor],
        "phase": PHASES[game.phase],
        "ip": game.ip,
        "passing": None if game.passing == NOBODY else FIGURES[game.passing],
        "tokens": _tokens(game),
        "emperors": {name: _space(game.at[e]) for e, name in enumerate(EMPERORS)},
        "dux": _dux(game),
        "armies": _armies(game),
        "fleets": list(names_of(game.fleets, BOARD.zones)),
        "pirates": _pirates(game),
        "supply": _by_emperor(game.supply),
        "reserve": {"unrest": game.reserve[UNREST], "revolt": game.reserve[REVOLT], "armies": game.reserve[ARMIES]},
        "glory": _by_emperor(game.glory),
        "outcome": OUTCOMES[game.outcome],
        "score": int(score(record)),
        "dice": game.dice,
        "pending": _pending(game),
        "rules": _options(tuple(game.level), game.variants, game.modules, game.scenario, game.fixed_setup, game.max_turns).rules(),
    }


def options_of(game: GameRecord) -> Options:
    """Return the options of a game."""
    level = tuple(game.level.tolist())
    return _options(level, int(game.variants), int(game.modules), int(game.scenario), int(game.fixed_setup), int(game.max_turns))


@lru_cache(256)  # called for every position of a game
def _options(level: tuple[int, ...], variants: int, modules: int, scenario: int, fixed_setup: int, max_turns: int) -> Options:
    by_level = {"level": "".join(str(digit) for digit in level), "modules": names_of(modules, MODULES)}
    by_scenario = {"scenario": SCENARIOS[scenario - 1]}
    rules: dict[str, Any] = by_scenario if scenario else by_level
    return Options(**rules, variants=names_of(variants, VARIANTS), fixed_setup=bool(fixed_setup), max_turns=max_turns)


def names_of(flags: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names whose bits are set, in order."""
    return tuple(name for i, name in enumerate(names) if int(flags) >> i & 1)


def _space(place: int) -> str | None:
    return BOARD.names[place] if place < OFF else None


def _by_emperor(values: Iterable[int]) -> dict[str, int]:
    return dict(zip(EMPERORS, values, strict=True))


def _tokens(game: GameRecord) -> dict[str, str]:
    """Return the tokens on the board, in the order of space ids."""
    return dict(_token_items(game.unrest, game.revolts, tuple(game.tokens)))


@lru_cache(4_096)  # most actions move a figure and change no token
def _token_items(unrest: int, revolts: int, tokens: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    kinds = {"unrest": unrest, "revolt": revolts, **dict(zip(EMPERORS, tokens, strict=True))}
    lying = {space: kind for kind, bits in kinds.items() for space in _members(bits)}
    return tuple((BOARD.names[space], lying[space]) for space in sorted(lying))


def _members(bits: int) -> Iterator[int]:
    while bits:
        yield first_of(bits)
        bits &= bits - 1


def _dux(game: GameRecord) -> str | None:
    if not game.modules & DUX_MODULE:
        return None
    return {OFF: "available", GONE: "gone"}.get(game.at[DUX]) or _space(game.at[DUX])


def _pirates(game: GameRecord) -> str | None:
    if not game.modules & PIRATES_MODULE:
        return None
    return names_of(game.pirates, BOARD.zones)[0] if game.pirates else "gone"


def _armies(game: GameRecord) -> list[list[str]]:
    on_board = [i for i in range(3) if game.army_at[i] != OFF]
    return [[BOARD.names[game.army_at[i]], NUMERALS[game.army_origin[i] - 1], KINDS[game.army_kind[i]]] for i in on_board]


def _pending(game: GameRecord) -> Snapshot:
    return {
        "owed": {name: owed for name, owed in _by_emperor(game.owed).items() if owed},
        "used": list(names_of(game.used, USES)),
        "combat": None if game.fighter == NOBODY else _combat(game),
        "march": [BOARD.names[space] for space in game.march if space != OFF],
    }


def _combat(game: GameRecord) -> Snapshot:
    return {
        "fighter": FIGURES[game.fighter],
        "foe": "PIRATES" if game.foe == PIRATES else BOARD.names[game.foe],
        "roman": game.roman_die,
        "normal": game.normal_die,
    }
