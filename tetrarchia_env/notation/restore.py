"""From a snapshot back to the game; a damaged one is refused in one sentence that names the entry."""

from collections.abc import Collection, Sequence
from typing import Any

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.engine.state import (
    DUX,
    FIGURES,
    GONE,
    GOTHS,
    KINDS,
    NOBODY,
    OFF,
    OUTCOMES,
    OVER,
    PHASES,
    PIRATES,
    REBEL,
    REVOLT,
    UNREST,
    Game,
)
from tetrarchia_env.engine.tables import BIT, BORDERS, STEPS
from tetrarchia_env.notation.snapshots import USES, Snapshot
from tetrarchia_env.notation.validation import MOST_TOKENS, RESERVE, problems
from tetrarchia_env.options import Options

KEYS = [
    "turn",
    "emperor",
    "phase",
    "ip",
    "passing",
    "tokens",
    "emperors",
    "dux",
    "armies",
    "fleets",
    "pirates",
    "supply",
    "reserve",
    "glory",
    "outcome",
    "dice",
]
MAY_BE_LEFT_OUT = ("score", "pending", "rules")
WAITING_PHASES = PHASES[: OVER + 1]
MOST_IP = 16
MOST_TURNS = 2**31


def restore(snapshot: Snapshot) -> Games:
    """The game that a snapshot tells of, an array of one; ValueError if there can be no such game."""
    _check_keys("a snapshot", snapshot, KEYS, MAY_BE_LEFT_OUT)
    options = _options(snapshot)
    games = options.template.copy()
    game = games[0]
    game.level[:] = options.levels[0]
    _restore_turn(game, snapshot)
    _restore_tokens(game, snapshot)
    _restore_figures(game, snapshot)
    _restore_armies(game, snapshot["armies"])
    _restore_sea(game, snapshot)
    _restore_pending(game, snapshot.get("pending", {}))
    for problem in problems(game):
        raise ValueError(problem)
    return games


def _options(snapshot: Snapshot) -> Options:
    """The rules it names; else those of the base game and of the modules that the position shows."""
    shown = {"dux": snapshot["dux"] is not None, "pirates": snapshot["pirates"] is not None, "goths": _has_goths(snapshot)}
    rules = snapshot.get("rules", {"modules": [name for name in shown if shown[name]]})
    try:
        options = Options.of(**_table("rules", rules))
    except ValueError as error:
        raise ValueError(f"rules: {error}") from None
    if options.draws_level:
        raise ValueError(f"rules: a game has one level, not {list(options.level_names)}")
    for name in ("dux", "pirates"):
        if shown[name] != (name in options.modules):
            raise ValueError(f"{name}: {snapshot[name]!r} does not fit the modules {list(options.modules)}")
    if shown["goths"] and "goths" not in options.modules:
        raise ValueError(f"armies: the goths do not fit the modules {list(options.modules)}")
    return options


def _has_goths(snapshot: Snapshot) -> bool:
    return GOTHS in [kind for _, _, kind in map(_army, _list("armies", snapshot["armies"], 3))]


def _restore_turn(game: Game, snapshot: Snapshot) -> None:
    game.turn = _number("turn", snapshot["turn"], 0, MOST_TURNS)
    game.emperor = _choice("emperor", snapshot["emperor"], EMPERORS)
    game.phase = _choice("phase", snapshot["phase"], WAITING_PHASES)
    game.ip = _number("ip", snapshot["ip"], 0, MOST_IP)
    passing = snapshot["passing"]
    game.passing = NOBODY if passing is None else _choice("passing", passing, FIGURES)
    game.outcome = _choice("outcome", snapshot["outcome"], OUTCOMES)
    game.dice = _number("dice", snapshot["dice"], 1, 2**64 - 1)


def _restore_tokens(game: Game, snapshot: Snapshot) -> None:
    for name, kind in _table("tokens", snapshot["tokens"]).items():
        bit = BIT[_space("tokens", name)]
        owner = _choice(f"tokens, {name}", kind, ("unrest", "revolt", *EMPERORS))
        if owner == UNREST:
            game.unrest |= bit
        elif owner == REVOLT:
            game.revolts |= bit
        else:
            game.tokens[owner - 2] |= bit
    game.supply[:] = _for_each("supply", snapshot["supply"], dict.fromkeys(EMPERORS, MOST_TOKENS))
    game.glory[:] = _for_each("glory", snapshot["glory"], dict.fromkeys(EMPERORS, RESERVE["unrest"]))
    game.reserve[:] = _for_each("reserve", snapshot["reserve"], RESERVE)


def _restore_figures(game: Game, snapshot: Snapshot) -> None:
    standing = _table("emperors", snapshot["emperors"])
    _check_keys("emperors", standing, EMPERORS)
    for e, name in enumerate(EMPERORS):
        game.at[e] = OFF if standing[name] is None else _space(f"emperors, {name}", standing[name])
    game.at[DUX] = _dux(snapshot["dux"])


def _dux(dux: object) -> Any:
    """A space, or where he is if not on the board."""
    if dux is None or dux == "gone":
        return GONE
    return OFF if dux == "available" else _space("dux", dux)


def _restore_armies(game: Game, standing: object) -> None:
    rows = sorted(_army(row) for row in _list("armies", standing, 3))
    rows += [(OFF, 0, 0)] * (3 - len(rows))
    game.army_at[:], game.army_origin[:], game.army_kind[:] = zip(*rows, strict=True)


def _army(row: object) -> tuple[int, int, int]:
    """Space, origin and kind of one entry of `armies`."""
    if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
        raise ValueError(f"armies: expected space, region of origin and kind, not {row!r}")
    space, origin = _space("armies", row[0]), 1 + _choice("armies", row[1], NUMERALS)
    kind = _choice("armies", row[2], KINDS)
    if STEPS[origin, space] == OFF or (kind == REBEL and not BIT[space] & BORDERS):
        raise ValueError(f"armies: {list(row)} does not stand on its way")
    return space, origin, kind


def _restore_sea(game: Game, snapshot: Snapshot) -> None:
    fleets = _list("fleets", snapshot["fleets"], len(BOARD.zones))
    game.fleets = _flags("fleets", fleets, BOARD.zones)
    pirates = snapshot["pirates"]
    game.pirates = 0 if pirates in (None, "gone") else _flags("pirates", [pirates], BOARD.zones)


def _restore_pending(game: Game, pending: object) -> None:
    table = _table("pending", pending)
    _check_keys("pending", table, (), ("owed", "used", "combat", "march"))
    owed = _table("pending, owed", table.get("owed", {}))
    _check_keys("pending, owed", owed, (), EMPERORS)
    game.owed[:] = [_number("pending, owed", owed.get(name, 0), -1, 1) for name in EMPERORS]
    game.used = _flags("pending, used", _list("pending, used", table.get("used", []), len(USES)), USES)
    march = [_space("pending, march", name) for name in _list("pending, march", table.get("march", []), 3)]
    game.march[:] = march + [OFF] * (3 - len(march))
    game.fighter, game.foe = NOBODY, OFF
    if table.get("combat") is not None:
        _restore_combat(game, _table("pending, combat", table["combat"]))


def _restore_combat(game: Game, combat: Snapshot) -> None:
    _check_keys("pending, combat", combat, ("fighter", "foe", "roman", "normal"))
    game.fighter = _choice("pending, combat", combat["fighter"], FIGURES)
    game.foe = PIRATES if combat["foe"] == "PIRATES" else _space("pending, combat", combat["foe"])
    game.roman_die = _number("pending, combat", combat["roman"], 1, 6 + MOST_TOKENS)
    game.normal_die = _number("pending, combat", combat["normal"], 1, 6)


def _check_keys(entry: str, table: object, needed: Collection[str], more: Collection[str] = ()) -> None:
    given = _table(entry, table)
    for name in needed:
        if name not in given:
            raise ValueError(f"{entry}: {name!r} is missing")
    for name in given:
        if name not in needed and name not in more:
            raise ValueError(f"{entry}: unknown entry {name!r}")


def _table(entry: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{entry}: expected a table of names, not {value!r}")
    return value


def _list(entry: str, value: object, most: int) -> list[Any]:
    if not isinstance(value, list | tuple) or len(value) > most:
        raise ValueError(f"{entry}: expected a list of at most {most}, not {value!r}")
    return list(value)


def _number(entry: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{entry}: expected a whole number from {least} to {most}, not {value!r}")
    return value


def _choice(entry: str, value: object, names: Sequence[str]) -> int:
    if value not in names:
        raise ValueError(f"{entry}: expected one of {', '.join(names)}, not {value!r}")
    return names.index(str(value))


def _flags(entry: str, values: Sequence[object], names: Sequence[str]) -> int:
    chosen = [_choice(entry, value, names) for value in values]
    if len(chosen) != len(set(chosen)):
        raise ValueError(f"{entry}: a name is there twice in {list(values)}")
    return sum(1 << i for i in chosen)


def _space(entry: str, value: object) -> int:
    if value not in BOARD.names:
        raise ValueError(f"{entry}: {value!r} is not a space of the board")
    return BOARD.names.index(str(value))


def _for_each(entry: str, value: object, most: dict[str, int]) -> list[int]:
    """A number for each name, none below 0 or above its most."""
    table = _table(entry, value)
    _check_keys(entry, table, most)
    return [_number(f"{entry}, {name}", table[name], 0, most[name]) for name in most]
