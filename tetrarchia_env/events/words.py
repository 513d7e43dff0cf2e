"""The words for figures, foes and spaces, and for what a piece of play may change besides its own event."""

from collections.abc import Iterator

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, SPACES
from tetrarchia_env.engine.armies import army_on
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.state import ARMY, DUX, FIGURES, GOTHS, PIRATES, REVOLT, UNREST, GameRecord

Lines = Iterator[str]


def figure_name(figure: int) -> str:
    """An Emperor's name, or the Dux."""
    return "the Dux" if figure == DUX else FIGURES[figure]


def army_name(game: GameRecord, space: int) -> str:
    """Return the name of the army on this space, by its region of origin."""
    army = army_on(game, space)
    if game.army_kind[army] == ARMY:
        return f"the army from {NUMERALS[game.army_origin[army] - 1]}"
    return "the Goths" if game.army_kind[army] == GOTHS else "the Rebel"


def foe_name(game: GameRecord, foe: int) -> str:
    """Return the name of an attacked foe, by its position."""
    if foe == PIRATES:
        return f"the Pirates in {zone_names(game.pirates)}"
    return f"{army_name(game, foe).partition(' from')[0]} in {BOARD.names[foe]}"


def does(name: str, verb: str) -> str:
    """A name with its verb: the army enters, the Goths enter."""
    return f"{name} {verb}" if is_many(name) else f"{name} {verb}s"


def is_many(name: str) -> bool:
    """The Goths and the Pirates are many, all others one."""
    return name.startswith(("the Goths", "the Pirates"))


def space_names(spaces: int) -> str:
    """A set of spaces, by id."""
    bits = int(spaces)
    return ", ".join(BOARD.names[space] for space in range(SPACES) if bits >> space & 1) if bits else ""


def zone_names(zones: int) -> str:
    """A set of sea zones, west to east."""
    return ", ".join(name for zone, name in enumerate(BOARD.zones) if int(zones) >> zone & 1)


def province_dice(space: int) -> str:
    """The dice R N that name a province, such as IV 3."""
    return f"{NUMERALS[BOARD.region[space] - 1]} {BOARD.number[space]}"


def cost(before: GameRecord, game: GameRecord) -> str:
    """What it cost."""
    return f"({before.ip - game.ip} IP)"


def dice_between(before: GameRecord, game: GameRecord) -> list[int]:
    """The dice that fell."""
    fallen: list[int] = []
    last = game.dice
    if before.dice == last:
        return fallen
    again = before.copy()
    while again.dice != last:
        fallen.append(roll(again))
    return fallen


def glory_and_losses(before: GameRecord, game: GameRecord) -> Lines:
    """R10.5, R1.4: glory won and lost, and the Emperors' tokens that went back to their supplies."""
    for name, old, new in zip(EMPERORS, before.glory.tolist(), game.glory.tolist(), strict=True):
        if old != new:
            yield f"{name} {'gains' if old < new else 'loses'} glory, he has {new}"
    for name, old, new in zip(EMPERORS, before.tokens.tolist(), game.tokens.tolist(), strict=True):
        if lost := space_names(old & ~new):
            yield f"{name} loses his token{'s' if ',' in lost else ''} in {lost}"


def empty_reserves(game: GameRecord) -> str:
    """R9.2: the tokens of which none is left."""
    return " or ".join(name for kind, name in ((UNREST, "Unrest"), (REVOLT, "Revolt")) if game.reserve[kind] == 0)
