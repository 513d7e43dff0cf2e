"""A game as plain JSON data and back, exactly: `restore(snapshot(game))` has the same bytes as `game`.

Beside the position a snapshot holds `rules`, the arguments that the game is played by, and `pending`, what an
unfinished turn needs: `owed` IP (R10.4), powers `used` this turn, a `combat` that waits for R10.1's boost, and the
armies still on the `march` (R8.1). In a snapshot written by hand both may be left out, and so may `score`.
"""

from typing import Any

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, SPACES
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
    Game,
)
from tetrarchia_env.options import Options

USES = ("power", "take", "give")
Snapshot = dict[str, Any]


def snapshot(game: Game) -> Snapshot:
    """The whole game: a record, or an array of one.

    >>> from tetrarchia_env.batch import new_games
    >>> games, _ = new_games(Options(level="4200"), seeds=7)
    >>> snapshot(games)["emperor"], snapshot(games)["phase"], snapshot(games)["reserve"]
    ('diocletian', 'fleets', {'unrest': 21, 'revolt': 15, 'armies': 3})
    """
    game = game[0] if game.shape else game
    return {
        "turn": int(game.turn),
        "emperor": EMPERORS[game.emperor],
        "phase": PHASES[game.phase],
        "ip": int(game.ip),
        "passing": None if game.passing == NOBODY else FIGURES[game.passing],
        "tokens": _tokens(game),
        "emperors": {name: _space(game.at[e]) for e, name in enumerate(EMPERORS)},
        "dux": _dux(game),
        "armies": _armies(game),
        "fleets": list(names_of(game.fleets, BOARD.zones)),
        "pirates": _pirates(game),
        "supply": _by_emperor(game.supply),
        "reserve": {"unrest": int(game.reserve[UNREST]), "revolt": int(game.reserve[REVOLT]), "armies": int(game.reserve[ARMIES])},
        "glory": _by_emperor(game.glory),
        "outcome": OUTCOMES[game.outcome],
        "score": int(score(game)),
        "dice": int(game.dice),
        "pending": _pending(game),
        "rules": options_of(game).arguments(),
    }


def options_of(game: Game) -> Options:
    """The rules that a game is played by."""
    by_level = {"level": "".join(str(digit) for digit in game.level), "modules": names_of(game.modules, MODULES)}
    by_scenario = {"scenario": SCENARIOS[game.scenario - 1]}
    return Options(
        **(by_scenario if game.scenario else by_level),
        variants=names_of(game.variants, VARIANTS),
        fixed_setup=bool(game.fixed_setup),
        max_turns=int(game.max_turns),
    )


def names_of(flags: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names whose bit is set, in order."""
    return tuple(name for i, name in enumerate(names) if int(flags) >> i & 1)


def _space(place: int) -> str | None:
    return BOARD.names[place] if place < OFF else None


def _by_emperor(numbers: Any) -> dict[str, int]:
    return {name: int(numbers[e]) for e, name in enumerate(EMPERORS)}


def _tokens(game: Game) -> dict[str, str]:
    """Only those that lie on the board, by space id."""
    kinds = {"unrest": game.unrest, "revolt": game.revolts, **{name: game.tokens[e] for e, name in enumerate(EMPERORS)}}
    return {BOARD.names[s]: kind for s in range(SPACES) for kind, bits in kinds.items() if int(bits) >> s & 1}


def _dux(game: Game) -> str | None:
    if not game.modules & DUX_MODULE:
        return None
    return {OFF: "available", GONE: "gone"}.get(game.at[DUX]) or _space(game.at[DUX])


def _pirates(game: Game) -> str | None:
    if not game.modules & PIRATES_MODULE:
        return None
    return names_of(game.pirates, BOARD.zones)[0] if game.pirates else "gone"


def _armies(game: Game) -> list[list[str]]:
    standing = [i for i in range(3) if game.army_at[i] != OFF]
    return [[BOARD.names[game.army_at[i]], NUMERALS[game.army_origin[i] - 1], KINDS[game.army_kind[i]]] for i in standing]


def _pending(game: Game) -> Snapshot:
    return {
        "owed": {name: owed for name, owed in _by_emperor(game.owed).items() if owed},
        "used": list(names_of(game.used, USES)),
        "combat": None if game.fighter == NOBODY else _combat(game),
        "march": [BOARD.names[space] for space in game.march if space != OFF],
    }


def _combat(game: Game) -> Snapshot:
    return {
        "fighter": FIGURES[game.fighter],
        "foe": "PIRATES" if game.foe == PIRATES else BOARD.names[game.foe],
        "roman": int(game.roman_die),
        "normal": int(game.normal_die),
    }
