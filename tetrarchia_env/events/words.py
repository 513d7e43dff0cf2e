"""Names of figures, foes and spaces for descriptions, and sentences about glory and lost tokens."""

from collections.abc import Iterator

from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, SPACES
from tetrarchia_env.engine.armies import army_on
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.state import ARMY, DUX, FIGURES, GOTHS, PIRATES, REVOLT, UNREST, GameRecord

Lines = Iterator[str]


def figure_name(figure: int) -> str:
    """Return an Emperor's name, or "the Dux"."""
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
    """Return a name with its verb: the army enters, the Goths enter."""
    return f"{name} {verb}" if is_many(name) else f"{name} {verb}s"


def is_many(name: str) -> bool:
    """Return whether a name is plural: the Goths and the Pirates."""
    return name.startswith(("the Goths", "the Pirates"))


def space_names(spaces: int) -> str:
    """Return the names of a set of spaces, by id."""
    bits = int(spaces)
    return ", ".join(BOARD.names[space] for space in range(SPACES) if bits >> space & 1) if bits else ""


def zone_names(zones: int) -> str:
    """Return the names of a set of sea zones, west to east."""
    return ", ".join(name for zone, name in enumerate(BOARD.zones) if int(zones) >> zone & 1)


def province_dice(space: int) -> str:
    """Return the dice R N that select a province, such as IV 3."""
    return f"{NUMERALS[BOARD.region[space] - 1]} {BOARD.number[space]}"


def cost(before: GameRecord, game: GameRecord) -> str:
    """Return the IP cost of an action as text."""
    return f"({before.ip - game.ip} IP)"


def dice_between(before: GameRecord, game: GameRecord) -> list[int]:
    """Return the dice that were rolled between two positions."""
    fallen: list[int] = []
    last = game.dice
    if before.dice == last:
        return fallen
    again = before.copy()
    while again.dice != last:
        fallen.append(roll(again))
    return fallen


def glory_and_losses(before: GameRecord, game: GameRecord) -> Lines:
    """R10.5, R1.4: describe glory won and lost, and Emperors' tokens that returned to their supplies."""
    for name, old, new in zip(EMPERORS, before.glory.tolist(), game.glory.tolist(), strict=True):
        if old != new:
            yield f"{name} {'gains' if old < new else 'loses'} glory, he has {new}"
    for name, old, new in zip(EMPERORS, before.tokens.tolist(), game.tokens.tolist(), strict=True):
        if lost := space_names(old & ~new):
            yield f"{name} loses his token{'s' if ',' in lost else ''} in {lost}"


def empty_reserves(game: GameRecord) -> str:
    """R9.2: return the kinds of tokens that the reserve no longer has."""
    return " or ".join(name for kind, name in ((UNREST, "Unrest"), (REVOLT, "Revolt")) if game.reserve[kind] == 0)
