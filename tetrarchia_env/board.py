"""The board: 48 spaces, their links, coasts, capitals and invasion paths, as read-only arrays.

`BOARD` is read once, at import, from `data/board.toml` or from the file that the environment variable
`TETRARCHIA_BOARD` names. A bad file is refused with a ValueError: one sentence that names the file and the entry.
"""

import difflib
import os
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar, cast, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_nesting, read_bounded
from tetrarchia_env.schema import sanitize_line

EMPERORS = ("diocletian", "galerius", "constantius", "maximian")  # R1.1, in turn order
NUMERALS = ("I", "II", "III", "IV", "V", "VI")  # the outer regions
SPACES = 48
ROMAN_PROVINCES = 42  # ids below this; the borders follow
ROMA = 36
NOT_LINKED, NORMAL, BROKEN = 0, 1, 2
# Region and number by id. Actions, checkpoints and replays rely on the ids, so no board file may change them.
PLACES = (*product(range(1, 7), range(1, 7)), *product([0], range(1, 7)), *product(range(1, 7), [7]))
PICTURE = (1000, 700)
PACKAGED = Path(__file__).parent / "data" / "board.toml"

Int8 = NDArray[np.int8]
Number = TypeVar("Number", bound=np.generic)


class Space(TypedDict):
    name: str
    region: int
    number: int
    coasts: list[str]
    xy: list[int]
    sources: NotRequired[dict[str, str]]  # where name, number and coasts come from


class Link(TypedDict):
    between: list[str]
    broken: bool
    sources: NotRequired[dict[str, str]]  # where the link and its kind come from


class BoardFile(TypedDict):
    """The shape of a board file; `read` compares a file with these hints, so they are its only description."""

    zones: list[str]
    zone_xy: list[list[int]]
    regions: list[str]
    capitals: dict[str, str]
    capital_sources: NotRequired[dict[str, str]]
    paths: dict[str, list[str]]
    space: list[Space]
    link: list[Link]


@dataclass(frozen=True, eq=False)
class Board:
    """A checked board; a space, region, zone or Emperor is its place in `names`, `regions`, `zones` or EMPERORS.

    >>> [BOARD.names[space] for space in np.flatnonzero(BOARD.links[BOARD.roma])]
    ['ETRVRIA', 'LVCANIA']
    """

    names: tuple[str, ...]
    regions: tuple[str, ...]  # 0 is ITALIA, 1..6 are I..VI
    zones: tuple[str, ...]  # west to east; neighbours in this order are adjacent
    region: Int8  # [48]
    number: Int8  # [48] 1..6, a border 7
    coasts: Int8  # [48] bit z is set: the space lies on zone z
    links: Int8  # [48, 48] NOT_LINKED, NORMAL or BROKEN; symmetric
    capitals: Int8  # [4] by Emperor
    roma: int
    borders: Int8  # [6] by region - 1
    next_step: Int8  # [6, 48] by region - 1: the space after this one on that region's path; -1 off it and in ROMA
    steps_to_roma: Int8  # [6, 48] by region - 1: steps left on that path; -1 off it
    xy: NDArray[np.int16]  # [48, 2] centres in a 1000 x 700 picture
    zone_xy: NDArray[np.int16]  # [3, 2]

    def space_id(self, name: str) -> int:
        """The id of a space; ValueError, with the names that come close, if there is none."""
        return _find(self.names, name)


def board_path() -> Path:
    """The file that BOARD comes from."""
    return Path(os.environ.get("TETRARCHIA_BOARD") or PACKAGED)


def load(path: str | os.PathLike[str]) -> Board:
    """The board that a file describes."""
    return _build(read(path))


def read(path: str | os.PathLike[str]) -> BoardFile:
    """What a board file of at most 1 MB says, checked, sources included."""
    try:
        file = tomllib.loads(check_nesting(read_bounded(path, 10**6).decode()))
        _check_shape("the file", file, BoardFile)
        _check_sense(cast(BoardFile, file))
        return cast(BoardFile, file)
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except (ValueError, RecursionError) as error:
        reason = f"it is not TOML ({error})" if isinstance(error, tomllib.TOMLDecodeError | UnicodeDecodeError) else str(error)
    raise TetrarchiaError(f"board file {os.fspath(path)}: {sanitize_line(reason)}")


def _check_shape(entry: str, value: Any, shape: Any) -> None:
    """Compare a value with a type hint: a TypedDict, dict[str, ...], list[...], or a plain type."""
    _check_type(entry, value, dict if is_typeddict(shape) else get_origin(shape) or shape)
    if is_typeddict(shape):
        _check_table(entry, value, shape)
    elif get_origin(shape):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _check_shape(f"{entry} {key}", item, get_args(shape)[-1])


def _check_type(entry: str, value: object, wanted: type) -> None:
    words = {dict: "a table", list: "a list", str: "a text", int: "a whole number", bool: "true or false"}
    if type(value) is not wanted:  # not isinstance: True is an int, and would pass for 1
        raise TetrarchiaError(f"{entry} must be {words[wanted]}, but it is {value!r}")


def _check_table(entry: str, table: dict[str, object], shape: Any) -> None:
    hints = get_type_hints(shape)
    _check_keys(entry, table, shape.__required_keys__, hints)
    for key, item in table.items():
        _check_shape(key if entry == "the file" else f"{entry}: {key}", item, hints[key])


def _check_keys(entry: str, keys: Collection[str], needed: Collection[str], known: Collection[str]) -> None:
    for key in sorted(set(needed) - set(keys)):
        raise TetrarchiaError(f'{entry} has no "{key}"')
    for key in sorted(set(keys) - set(known)):
        raise TetrarchiaError(f'{entry} has an unknown key "{key}"; it may have {", ".join(known)}')


def _check_sense(file: BoardFile) -> None:
    _check_count("zones", file["zones"], 3)
    _check_count("zone_xy", file["zone_xy"], 3)
    _check_count("regions", file["regions"], 7)
    _check_count("space", file["space"], SPACES)
    names = [space["name"] for space in file["space"]]
    for entry, words in (("zones", file["zones"]), ("regions", file["regions"]), ("space", names)):
        _check_unique(entry, words)
    for zone, xy in zip(file["zones"], file["zone_xy"], strict=True):
        _check_xy(f"zone_xy of {zone}", xy)
    for space_id, space in enumerate(file["space"]):
        _check_space(space_id, space, file["zones"])
    if names[ROMA] != "ROMA":
        raise TetrarchiaError(f"space {ROMA} must be ROMA, but it is {names[ROMA]}")
    _check_links(names, file["link"])
    _check_capitals(names, file["capitals"], file.get("capital_sources", {}))
    _check_paths(names, file)


def _check_count(entry: str, items: Sequence[object], wanted: int) -> None:
    if len(items) != wanted:
        raise TetrarchiaError(f"{entry} must have {wanted} entries, but it has {len(items)}")


def _check_unique(entry: str, words: Sequence[str]) -> None:
    for word in words:
        if words.count(word) > 1:
            raise TetrarchiaError(f'{entry}: the name "{word}" is given {words.count(word)} times')


def _check_xy(entry: str, xy: Sequence[int]) -> None:
    if len(xy) != 2 or not (0 <= xy[0] <= PICTURE[0] and 0 <= xy[1] <= PICTURE[1]):
        raise TetrarchiaError(f"{entry} must be a point in the {PICTURE[0]} x {PICTURE[1]} picture, but it is {xy}")


def _check_space(space_id: int, space: Space, zones: Sequence[str]) -> None:
    entry = f"space {space_id} ({space['name']})"
    place = space["region"], space["number"]
    if place != PLACES[space_id]:
        raise TetrarchiaError(f"{entry} must have region and number {PLACES[space_id]}, but it has {place}")
    _check_xy(f"{entry}: xy", space["xy"])
    for zone in space["coasts"]:
        if zone not in zones:
            raise TetrarchiaError(f'{entry}: the coast "{zone}" is not one of the zones {", ".join(zones)}')


def _check_links(names: Sequence[str], links: Sequence[Link]) -> None:
    seen: set[frozenset[str]] = set()
    for position, link in enumerate(links):
        entry = f"link {position} ({' - '.join(link['between'])})"
        _check_ends(entry, names, link["between"])
        if frozenset(link["between"]) in seen:
            raise TetrarchiaError(f"{entry}: these spaces are linked twice")
        seen.add(frozenset(link["between"]))
    _check_connected(names, _links(names, links))


def _check_ends(entry: str, names: Sequence[str], ends: Sequence[str]) -> None:
    if len(ends) != 2:
        raise TetrarchiaError(f"{entry}: between must name two spaces, but it names {len(ends)}")
    for end in ends:
        _find(names, end, f"{entry}: ")
    if ends[0] == ends[1]:
        raise TetrarchiaError(f"{entry}: a space cannot be linked to itself")


def _check_connected(names: Sequence[str], links: Int8) -> None:
    reached = np.arange(SPACES) == ROMA
    for _ in names:
        reached |= links[reached].any(axis=0)
    for name in np.array(names)[~reached]:
        raise TetrarchiaError(f"link: the map is not connected: no links lead from {name} to ROMA")


def _check_capitals(names: Sequence[str], capitals: dict[str, str], sources: dict[str, str]) -> None:
    _check_keys("capitals", capitals, EMPERORS, EMPERORS)
    _check_keys("capital_sources", sources, (), EMPERORS)
    _check_unique("capitals", list(capitals.values()))
    for emperor, name in capitals.items():
        _find(names, name, f"capitals: {emperor}: ")
        if name == "ROMA" or name in names[ROMAN_PROVINCES:]:
            raise TetrarchiaError(f"capitals: {emperor} must have a Roman province other than ROMA, but he has {name}")


def _check_paths(names: Sequence[str], file: BoardFile) -> None:
    _check_keys("paths", file["paths"], NUMERALS, NUMERALS)
    links = _links(names, file["link"])
    for numeral, border in zip(NUMERALS, names[ROMAN_PROVINCES:], strict=True):
        _check_path(f"paths: {numeral}", names, links, file["paths"][numeral], border)


def _check_path(entry: str, names: Sequence[str], links: Int8, path: Sequence[str], border: str) -> None:
    for name in path:
        _find(names, name, f"{entry}: ")
    _check_unique(entry, path)
    if not path or path[0] != border or path[-1] != "ROMA":
        raise TetrarchiaError(f"{entry} must lead from {border} to ROMA, but it is {' - '.join(path) or 'empty'}")
    for here, there in pairwise(path):
        if there in names[ROMAN_PROVINCES:]:
            raise TetrarchiaError(f"{entry} must lead through Roman provinces, but {there} is a border")
        if not links[names.index(here), names.index(there)]:
            raise TetrarchiaError(f"{entry}: {here} and {there} are not linked")


def _find(names: Sequence[str], name: str, where: str = "") -> int:
    if name in names:
        return names.index(name)
    close = difflib.get_close_matches(name.upper(), names)
    raise TetrarchiaError(f'{where}there is no space "{name}"' + (f"; did you mean {' or '.join(close)}?" if close else ""))


def _build(file: BoardFile) -> Board:
    spaces, zones = file["space"], file["zones"]
    names = tuple(space["name"] for space in spaces)
    next_step, steps_to_roma = _paths(names, file["paths"])
    return Board(
        names=names,
        regions=tuple(file["regions"]),
        zones=tuple(zones),
        region=_frozen([space["region"] for space in spaces], np.int8),
        number=_frozen([space["number"] for space in spaces], np.int8),
        coasts=_frozen([sum(1 << zones.index(zone) for zone in set(space["coasts"])) for space in spaces], np.int8),
        links=_links(names, file["link"]),
        capitals=_frozen([names.index(file["capitals"][emperor]) for emperor in EMPERORS], np.int8),
        roma=ROMA,
        borders=_frozen(range(ROMAN_PROVINCES, SPACES), np.int8),
        next_step=next_step,
        steps_to_roma=steps_to_roma,
        xy=_frozen([space["xy"] for space in spaces], np.int16),
        zone_xy=_frozen(file["zone_xy"], np.int16),
    )


def _links(names: Sequence[str], links: Sequence[Link]) -> Int8:
    table = np.full((SPACES, SPACES), NOT_LINKED, np.int8)
    for link in links:
        a, b = (names.index(end) for end in link["between"])
        table[a, b] = table[b, a] = BROKEN if link["broken"] else NORMAL
    return _frozen(table, np.int8)


def _paths(names: Sequence[str], paths: dict[str, list[str]]) -> tuple[Int8, Int8]:
    next_step, steps_to_roma = np.full((2, len(NUMERALS), SPACES), -1, np.int8)
    for row, numeral in enumerate(NUMERALS):
        path = [names.index(name) for name in paths[numeral]]
        next_step[row, path[:-1]] = path[1:]
        steps_to_roma[row, path] = range(len(path) - 1, -1, -1)
    return _frozen(next_step, np.int8), _frozen(steps_to_roma, np.int8)


def _frozen(values: ArrayLike, dtype: type[Number]) -> NDArray[Number]:
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


BOARD = load(board_path())
