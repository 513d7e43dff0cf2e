"""Cooperation with strangers: agents that never met share the four Emperors (R13.1)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.results import Played, Run
from tetrarchia_eval.statistics import Estimate, wilson_by_seed

Names = tuple[str, ...]  # of the agents of the four Emperors


@dataclass(frozen=True)
class Seating:
    """The agents of the four Emperors, and a short word for them."""

    label: str
    agents: Names


@dataclass(frozen=True)
class Matrix:
    """Win rates of rows with columns; what was not played is missing."""

    rows: Names
    columns: Names
    cells: Mapping[tuple[str, str], Estimate]


def pair_seatings(names: Iterable[str]) -> list[Seating]:
    """Two players: each name has diocletian and galerius, with each that has constantius and maximian; itself too."""
    return [Seating(f"{east}+{west}", (east, east, west, west)) for east, west in product(dict.fromkeys(names), repeat=2)]


def odd_one_out_seatings(names: Iterable[str]) -> list[Seating]:
    """Each name has three Emperors and each other one the fourth, whichever it is; and each name has all four."""
    seatings = []
    for host, guest in product(dict.fromkeys(names), repeat=2):
        if host == guest:
            seatings.append(Seating(host, (host,) * len(EMPERORS)))
        else:
            seatings += [Seating(f"{host}+{guest}@{emperor}", _seated(host, guest, emperor)) for emperor in EMPERORS]
    return seatings


def _seated(host: str, guest: str, emperor: str) -> Names:
    return tuple(guest if name == emperor else host for name in EMPERORS)


def pair_of(agents: Sequence[str]) -> tuple[str, str]:
    """Who has the East and who the West; ValueError if a couple is divided."""
    if agents[0] != agents[1] or agents[2] != agents[3]:
        raise ValueError(f"pair play gives each couple of Emperors to one agent, unlike {','.join(agents)}")
    return agents[0], agents[2]


def odd_one_out_of(agents: Sequence[str]) -> tuple[str, str, str]:
    """Who has three, who has the fourth, and which Emperor that is; he who has all four is his own guest, anywhere."""
    for guest, emperor in zip(agents, EMPERORS, strict=True):
        if agents.count(guest) == 1 and len(set(agents)) == 2:
            return next(name for name in agents if name != guest), guest, emperor
    if len(set(agents)) == 1:
        return agents[0], agents[0], ""
    raise ValueError(f"odd-one-out play gives three Emperors to one agent and the fourth to another, unlike {','.join(agents)}")


def pair_matrix(runs: Iterable[Run]) -> Matrix:
    """Rows have diocletian and galerius, columns constantius and maximian."""
    return _best_first(_matrix((pair_of(run.header.agents), run.games) for run in runs))


def odd_one_out_matrix(runs: Iterable[Run]) -> Matrix:
    """Rows have three Emperors, columns the fourth: the mean over the four that he may be, if all were played."""
    found = [(odd_one_out_of(run.header.agents), run.games) for run in runs]
    seats = Counter((host, guest) for host, guest, _ in {who for who, _ in found})
    whole = [((host, guest), games) for (host, guest, _), games in found if host == guest or seats[host, guest] == len(EMPERORS)]
    return _best_first(_matrix(whole))


def seat_matrix(runs: Iterable[Run]) -> Matrix:
    """The same for each Emperor alone: rows are host + guest, columns whom the guest plays."""
    found = ((odd_one_out_of(run.header.agents), run.games) for run in runs)
    matrix = _matrix(((f"{host} + {guest}", emperor), games) for (host, guest, emperor), games in found if emperor)
    return Matrix(matrix.rows, EMPERORS, matrix.cells)


def _matrix(found: Iterable[tuple[tuple[str, str], Sequence[Played]]]) -> Matrix:
    games: dict[tuple[str, str], list[Played]] = {}
    for key, played in found:
        games.setdefault(key, []).extend(played)
    cells = {key: wilson_by_seed([game.won for game in some], [game.seed for game in some]) for key, some in games.items()}
    return Matrix(tuple(dict.fromkeys(row for row, _ in cells)), tuple(dict.fromkeys(column for _, column in cells)), cells)


def _best_first(matrix: Matrix) -> Matrix:
    """Rows and columns in one order: by how often each name wins with itself, then by name."""
    alone = {name: rate.value for (name, other), rate in matrix.cells.items() if name == other}
    names = sorted({*matrix.rows, *matrix.columns}, key=lambda name: (-alone.get(name, 0.0), name))
    return Matrix(
        tuple(name for name in names if name in matrix.rows), tuple(name for name in names if name in matrix.columns), matrix.cells
    )
