"""The board: 48 spaces, their links, coasts, capitals and invasion paths, as read-only arrays.

`BOARD` is read once, at import, from `data/board.toml` or from the file named by the environment variable `TETRARCHIA_BOARD`.
"""

import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import asdict, astuple
from numpy.typing import ArrayLike, NDArray

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_nesting, read_bounded
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.schema import sanitize_line, truncate_repr, validate

EMPERORS = ("diocletian", "galerius", "constantius", "maximian")  # R1.1, in turn order
NUMERALS = ("I", "II", "III", "IV", "V", "VI")  # the outer regions
SPACES = 48
ROMAN_PROVINCES = 42  # ids below this; the borders follow
ROMA = 36
NOT_LINKED, NORMAL, BROKEN = 0, 1, 2
# Region and number by id. Actions, checkpoints and replays rely on the ids, so no board file may change them.
PLACES = (*product(range(1, 7), range(1, 7)), *product([0], range(1, 7)), *product(range(1, 7), [7]))
PICTURE = (1000, 700)  # width and height
MAX_BYTES = 1_000_000
PACKAGED = Path(__file__).parent / "data" / "board.toml"

Int8 = NDArray[np.int8]
Number = TypeVar("Number", bound=np.generic)


X = Annotated[int, Meta(ge=0, le=PICTURE[0])]
Y = Annotated[int, Meta(ge=0, le=PICTURE[1])]
Point = tuple[X, Y]


class Space(Struct, forbid_unknown_fields=True):
    """A space of a board file."""

    name: str
    region: int
    number: int
    coasts: list[str]
    xy: Point
    sources: dict[str, str] = {}  # where name, number and coasts come from


class Link(Struct, forbid_unknown_fields=True):
    """A link of a board file."""

    between: tuple[str, str]
    broken: bool
    sources: dict[str, str] = {}  # where the link and its kind come from


class Capitals(Struct, forbid_unknown_fields=True):
    """The capital of each Emperor."""

    diocletian: str
    galerius: str
    constantius: str
    maximian: str


class Paths(Struct, forbid_unknown_fields=True):
    """The invasion path of each outer region, from its border to ROMA."""

    I: list[str]  # noqa: E741
    II: list[str]
    III: list[str]
    IV: list[str]
    V: list[str]
    VI: list[str]


class BoardFile(Struct, forbid_unknown_fields=True):
    """The content of a board file."""

    zones: Annotated[list[str], Meta(min_length=3, max_length=3)]
    zone_xy: Annotated[list[Point], Meta(min_length=3, max_length=3)]
    regions: Annotated[list[str], Meta(min_length=7, max_length=7)]
    capitals: Capitals
    paths: Paths
    space: Annotated[list[Space], Meta(min_length=SPACES, max_length=SPACES)]
    link: list[Link]
    capital_sources: dict[Literal[EMPERORS], str] = {}  # type: ignore[valid-type]


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
        """Return the id of a space.

        Raises:
            TetrarchiaError: There is none of this name; the message suggests similar names.
        """
        return _find(self.names, name)


def board_path() -> Path:
    """Return the file that BOARD is read from."""
    return Path(os.environ.get("TETRARCHIA_BOARD") or PACKAGED)


def load(path: str | os.PathLike[str]) -> Board:
    """Return the board of a file.

    Raises:
        TetrarchiaError: The file is not a valid board; the message names the file and the entry.
    """
    file = read(path)
    names = tuple(space.name for space in file.space)
    next_step, steps_to_roma = np.full((2, len(NUMERALS), SPACES), -1, np.int8)
    for row, path_names in enumerate(astuple(file.paths)):
        spaces = [names.index(name) for name in path_names]
        next_step[row, spaces[:-1]] = spaces[1:]
        steps_to_roma[row, spaces] = range(len(spaces) - 1, -1, -1)
    return Board(
        names=names,
        regions=tuple(file.regions),
        zones=tuple(file.zones),
        region=_frozen([space.region for space in file.space], np.int8),
        number=_frozen([space.number for space in file.space], np.int8),
        coasts=_frozen([sum(1 << file.zones.index(zone) for zone in set(space.coasts)) for space in file.space], np.int8),
        links=_frozen(_links(names, file.link), np.int8),
        capitals=_frozen([names.index(name) for name in astuple(file.capitals)], np.int8),
        roma=ROMA,
        borders=_frozen(range(ROMAN_PROVINCES, SPACES), np.int8),
        next_step=_frozen(next_step, np.int8),
        steps_to_roma=_frozen(steps_to_roma, np.int8),
        xy=_frozen([space.xy for space in file.space], np.int16),
        zone_xy=_frozen(file.zone_xy, np.int16),
    )


def read(path: str | os.PathLike[str]) -> BoardFile:
    """Return the validated content of a board file of at most 1 MB, sources included.

    Raises:
        TetrarchiaError: The file is not a valid board; the message names the file and the entry.
    """
    try:
        data = read_bounded(path, MAX_BYTES)
        try:
            content = tomllib.loads(check_nesting(data.decode()))
        except TetrarchiaError:
            raise
        except (ValueError, RecursionError) as error:  # ValueError: also for an integer with more digits than Python converts
            raise TetrarchiaError(f"it is not TOML ({error})") from None
        file = validate(content, BoardFile, "")
        _check(file)
        return file
    except OSError as error:
        reason = f"it cannot be read ({error.strerror})"
    except TetrarchiaError as error:
        reason = str(error)
    raise TetrarchiaError(f"board file {os.fspath(path)}: {sanitize_line(reason)}")


def _check(file: BoardFile) -> None:
    """Check what the types of a board file do not say: names, ids, links and paths that fit together."""
    names = [space.name for space in file.space]
    _check_unique("zones", file.zones)
    _check_unique("regions", file.regions)
    _check_unique("space", names)
    for space_id, (space, place) in enumerate(zip(file.space, PLACES, strict=True)):
        entry = f"space[{space_id}] ({space.name})"
        if (space.region, space.number) != place:
            raise TetrarchiaError(f"{entry} must have region and number {place}; got {(space.region, space.number)}")
        for zone in space.coasts:
            if zone not in file.zones:
                raise TetrarchiaError(f"{entry}: coasts must be among the zones {', '.join(file.zones)}; got {zone!r}")
    if names[ROMA] != "ROMA":
        raise TetrarchiaError(f"space[{ROMA}] must be ROMA; got {names[ROMA]!r}")
    _check_links(names, file.link)
    _check_capitals(names, asdict(file.capitals))
    links = _links(names, file.link)
    for numeral, path, border in zip(NUMERALS, astuple(file.paths), names[ROMAN_PROVINCES:], strict=True):
        _check_path(f"paths.{numeral}", names, links, path, border)


def _check_unique(entry: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise TetrarchiaError(f"{entry}: the name {name!r} is given {names.count(name)} times")


def _check_links(names: Sequence[str], links: Sequence[Link]) -> None:
    known: set[frozenset[str]] = set()
    for index, link in enumerate(links):
        entry = f"link[{index}] ({' - '.join(link.between)})"
        for end in link.between:
            _find(names, end, f"{entry}: ")
        if link.between[0] == link.between[1]:
            raise TetrarchiaError(f"{entry}: a space cannot be linked to itself")
        if frozenset(link.between) in known:
            raise TetrarchiaError(f"{entry}: these spaces are linked twice")
        known.add(frozenset(link.between))
    linked, reached = _links(names, links), np.arange(SPACES) == ROMA
    for _ in names:
        reached |= linked[reached].any(axis=0)
    for name in np.array(names)[~reached]:
        raise TetrarchiaError(f"link: the map must be connected; there is no way from {name} to ROMA")


def _check_capitals(names: Sequence[str], capitals: dict[str, str]) -> None:
    _check_unique("capitals", list(capitals.values()))
    for emperor, name in capitals.items():
        _find(names, name, f"capitals.{emperor}: ")
        if name == "ROMA" or name in names[ROMAN_PROVINCES:]:
            raise TetrarchiaError(f"capitals.{emperor} must be a Roman province other than ROMA; got {name!r}")


def _check_path(entry: str, names: Sequence[str], links: Int8, path: Sequence[str], border: str) -> None:
    for name in path:
        _find(names, name, f"{entry}: ")
    _check_unique(entry, path)
    if not path or path[0] != border or path[-1] != "ROMA":
        raise TetrarchiaError(f"{entry} must lead from {border} to ROMA; got {' - '.join(path) or 'an empty path'}")
    for here, there in pairwise(path):
        if there in names[ROMAN_PROVINCES:]:
            raise TetrarchiaError(f"{entry} must lead through Roman provinces, but {there} is a border")
        if not links[names.index(here), names.index(there)]:
            raise TetrarchiaError(f"{entry}: {here} and {there} are not linked")


def _find(names: Sequence[str], name: str, where: str = "") -> int:
    if name in names:
        return names.index(name)
    raise TetrarchiaError(f"{where}unknown space {truncate_repr(name)}{did_you_mean(name, names)}")


def _links(names: Sequence[str], links: Sequence[Link]) -> Int8:
    table = np.full((SPACES, SPACES), NOT_LINKED, np.int8)
    for link in links:
        a, b = (names.index(end) for end in link.between)
        table[a, b] = table[b, a] = BROKEN if link.broken else NORMAL
    return table


def _frozen(values: ArrayLike, dtype: type[Number]) -> NDArray[Number]:
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


#: The board of this process: names, links, coasts, capitals and paths; `TETRARCHIA_BOARD` names another file.
BOARD = load(board_path())
BORDERS = frozenset(BOARD.names[ROMAN_PROVINCES:])
