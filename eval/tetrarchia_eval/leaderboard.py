"""The leaderboard: bounds and normalized scores with partners, and the tables of protocol results."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import validate
from tetrarchia_eval.protocol import PROTOCOLS, ProtocolResult, read_result
from tetrarchia_eval.run_statistics import MIN_RUNS, bootstrap, bootstrap_crossed, mean
from tetrarchia_eval.statistics import Estimate, Numbers, wilson_by_seed
from tetrarchia_eval.tables import Cell, Column, Table, milliseconds, one_decimal, percent
from tetrarchia_eval.tables import mean as two_decimals

FLOOR_AGENT = "random"
MEAN = "mean"


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Games of an agent with three copies of a partner: the games in each seat, and how many of them were won, by seat."""

    agent: str
    fingerprint: str
    games: int
    won: tuple[int, ...]

    @property
    def win_rate(self) -> float:
        """The mean over the seats."""
        return sum(self.won) / (self.games * len(EMPERORS))


class Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The win rates with a partner that are the scores 0 and 1: a random teammate's, and its best response's."""

    partner: str  # the fingerprint
    floor: Measured
    best_response: Measured


def measure_bounds(results: Iterable[ProtocolResult]) -> dict[str, Bounds]:
    """Return the bounds of each partner for which both are measured.

    Args:
        results: Results with partners: of `random`, the floors; of other agents, the best response to each partner of the result.

    Raises:
        TetrarchiaError: A bound is measured twice, or a best response does not win more than `random`.
    """
    found: dict[tuple[str, bool], Measured] = {}
    fingerprints: dict[str, str] = {}
    for result in results:
        if len(result.agents) > 1:
            raise TetrarchiaError(f"bounds must be measured with one agent per file; got {', '.join(result.agents)}")
        [(agent, fingerprint)] = result.agents.items()
        for partner, partner_fingerprint in result.partners.items():
            by_seat = {one.seat: one for one in result.cases if one.partner == partner}
            key = partner, agent == FLOOR_AGENT
            if key in found:
                raise TetrarchiaError(f"bounds of {partner} must be measured once; got {found[key].agent} and {agent}")
            won = tuple(sum(by_seat[seat].won) for seat in EMPERORS)
            found[key] = Measured(agent, fingerprint, len(by_seat[EMPERORS[0]].outcomes), won)
            fingerprints[partner] = partner_fingerprint
    bounds = {
        partner: Bounds(fingerprint, found[partner, True], found[partner, False])
        for partner, fingerprint in fingerprints.items()
        if (partner, True) in found and (partner, False) in found
    }
    for partner, one in bounds.items():
        if one.best_response.win_rate <= one.floor.win_rate:
            raise TetrarchiaError(
                f"the best response to {partner} must win more games than {FLOOR_AGENT}, {one.floor.win_rate:.1%}; "
                f"got {one.best_response.win_rate:.1%} of {one.best_response.agent}"
            )
    return bounds


def bounds_path(protocol: str) -> Path:
    """Return the file with the bounds of a protocol."""
    return PROTOCOLS / f"{protocol}-bounds.json"


def bounds_text(bounds: Mapping[str, Bounds]) -> str:
    """Return the content of a file with bounds."""
    return json.dumps(msgspec.to_builtins(dict(sorted(bounds.items()))), indent=1) + "\n"


def load_bounds(protocol: str) -> dict[str, Bounds]:
    """Return the bounds of each partner of a protocol; none if they are not measured yet."""
    path = bounds_path(protocol)
    return validate(json.loads(path.read_text(encoding="utf-8")), dict[str, Bounds], f"{path.name}:") if path.is_file() else {}


@dataclass(frozen=True)
class TrackResult:
    """The games of one track of a result."""

    result: ProtocolResult
    track: str

    @property
    def places(self) -> list[str]:
        """The partners, or the levels of a track without partners."""
        return list(dict.fromkeys(one.partner or one.level for one in self.result.cases if one.track == self.track))

    @cached_property
    def rates(self) -> Numbers:
        """The win rate of each agent (rows) with each partner, over its seats and levels, or at each level (columns)."""
        rates = []
        for agent in self.result.agents:
            some = [one for one in self.result.cases if one.track == self.track and one.agent == agent]
            rates.append([np.mean([one.won for one in some if place in (one.partner, one.level)]) for place in self.places])
        return np.array(rates)

    def scores(self, bounds: Mapping[str, Bounds]) -> Numbers | None:
        """Return (win rate - floor) / (best response - floor), rows and columns as in `rates`; None if a partner lacks its bounds."""
        if not all(place in bounds and bounds[place].partner == self.result.partners.get(place) for place in self.places):
            return None
        floors = np.array([bounds[place].floor.win_rate for place in self.places])
        bests = np.array([bounds[place].best_response.win_rate for place in self.places])
        scores: Numbers = (self.rates - floors) / (bests - floors)
        return scores

    def at(self, places: Sequence[str]) -> Estimate:
        """Return the win rate at levels: the interval is over games for one agent, over training runs for several."""
        columns = [self.places.index(place) for place in places]
        if len(self.rates) >= MIN_RUNS:
            return bootstrap(mean, self.rates[:, columns], rng=_rng())
        some = [one for one in self.result.cases if one.track == self.track and one.level in places]
        return wilson_by_seed(
            [won for one in some for won in one.won], [self.result.first_seed + i for one in some for i in range(len(one.outcomes))]
        )


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)  # the same results give the same intervals


@dataclass(frozen=True)
class Profile:
    """How many games each of several agents won with a partner."""

    won: Numbers  # by agent (rows) and seat
    games: Numbers

    def distance(self, other: "Profile") -> float:
        """Return how much the win rates differ from those with another partner: the root mean square difference beyond chance.

        The expected square of the sampling error, if both partners had the same win rates, is subtracted from each squared difference.

        >>> games = np.full((1, 4), 100.0)
        >>> round(Profile(np.full((1, 4), 50.0), games).distance(Profile(np.full((1, 4), 20.0), games)), 2)
        0.29
        """
        pooled = (self.won + other.won) / (self.games + other.games)
        sampling_error = pooled * (1 - pooled) * (1 / self.games + 1 / other.games)
        squares = (self.won / self.games - other.won / other.games) ** 2 - sampling_error
        return float(np.sqrt(max(squares.mean(), 0.0)))


def win_rate_profiles(results: Iterable[ProtocolResult], track: str = "teamwork") -> dict[str, Profile]:
    """Return the profile of each partner over the results with this track, each of which is one agent; its training runs are pooled.

    Args:
        results: Results with the same partners, of at least one agent.
        track: The name of the track.
    """
    found: dict[str, list[list[list[int]]]] = {}  # partner, agent, seat: games won, games
    for result in results:
        if track in result.games:
            for partner in result.partners:
                some = [one for one in result.cases if one.track == track and one.partner == partner]
                by_seat = [[won for one in some if one.seat == seat for won in one.won] for seat in EMPERORS]
                found.setdefault(partner, []).append([[sum(seat), len(seat)] for seat in by_seat])
    arrays = {partner: np.array(counts, dtype=np.float64) for partner, counts in found.items()}
    return {partner: Profile(counts[..., 0], counts[..., 1]) for partner, counts in arrays.items()}


def stronger_than_best_response(results: Iterable[ProtocolResult], track: str, bounds: Mapping[str, Bounds]) -> dict[str, list[str]]:
    """Return for each partner the names of results with a higher win rate than its best response; partners without any are left out."""
    found: dict[str, list[str]] = {}
    for result in results:
        if track in result.games:
            one = TrackResult(result, track)
            for place, rate in zip(one.places, one.rates.mean(axis=0), strict=True):
                if place in bounds and rate > bounds[place].best_response.win_rate:
                    found.setdefault(place, []).append(result.name)
    return found


def load_leaderboard(folder: Path) -> list[ProtocolResult]:
    """Read all result files of a folder.

    Raises:
        TetrarchiaError: One is damaged, does not have the reporting seeds and all partners, or has the name of another.
    """
    found: dict[str, ProtocolResult] = {}
    for path in sorted(folder.glob("*.json")):
        result = read_result(path)
        if not result.is_complete():
            raise TetrarchiaError(f"{path}: a row needs the reporting seeds and all held-out partners; this result is of a shorter run")
        if result.name in found:
            raise TetrarchiaError(f"{path}: name must differ from those of the other files; got {result.name!r} twice")
        found[result.name] = result
    return list(found.values())


def track_table(results: Sequence[ProtocolResult], track: str, bounds: Mapping[str, Bounds]) -> Table:
    """Return a row for each result that has this track, best first.

    Args:
        results: The results, of one split.
        track: The name of the track.
        bounds: The bounds of its partners; without them there is no score.
    """
    found = [TrackResult(result, track) for result in results if track in result.games]
    has_partners = any(one.result.definition.tracks[track].has_partners for one in found)
    columns = [Column("agent"), Column("runs"), Column("search"), Column("ms per decision", milliseconds)]
    rows: list[tuple[float, list[Cell]]] = []
    for one in found:
        cells: list[Cell] = [one.result.name, len(one.rates), _yes_no(one.result), one.result.ms_per_decision.get(track, 0.0)]
        if has_partners:
            scores = one.scores(bounds)
            rate = bootstrap_crossed(one.rates, _rng())
            score = None if scores is None else bootstrap_crossed(scores, _rng())
            rows.append(((score or rate).value, [*cells, rate, score]))
        else:
            overall = one.at(one.places)
            rows.append((overall.value, [*cells, *(one.at([place]) for place in one.places), overall]))
    if has_partners:
        columns += [Column("games won", percent), Column("score", two_decimals)]
        if not any(cells[-1] for _, cells in rows):
            columns, rows = columns[:-1], [(value, cells[:-1]) for value, cells in rows]
    elif found:
        columns += [Column(place, percent) for place in (*found[0].places, MEAN)]
    return Table(columns, [cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def partner_table(results: Sequence[ProtocolResult], track: str, bounds: Mapping[str, Bounds]) -> Table:
    """Return the win rate with each partner (rows) of its floor, its best response and each result (columns)."""
    found = {result.name: TrackResult(result, track) for result in results if track in result.games}
    places = next(iter(found.values())).places if found else []
    columns = [Column("partner"), *(Column(name, percent) for name in ("floor", "best response", *found))]
    rows: list[list[Cell]] = []
    for number, place in enumerate(places):
        bound = bounds.get(place)
        ends: list[Cell] = [bound.floor.win_rate, bound.best_response.win_rate] if bound else [None, None]
        rows.append([place, *ends, *(float(one.rates[:, number].mean()) for one in found.values())])
    if not any(place in bounds for place in places):
        columns, rows = [columns[0], *columns[3:]], [[row[0], *row[3:]] for row in rows]
    return Table(columns, rows)


def declaration_table(results: Sequence[ProtocolResult]) -> Table:
    """Return what the authors declared about each result."""
    titles = ("agent", "authors", "training runs", "teachers", "reference")
    columns = [
        *map(Column, titles),
        Column("million timesteps", one_decimal),
        Column("training hours", one_decimal),
        Column("fingerprints"),
    ]
    rows: list[list[Cell]] = []
    for result in results:
        if stated := result.declaration:
            teachers = ", ".join(stated.teachers) or "none"
            effort = [stated.timesteps / 1e6, stated.training_hours]
            prints = ", ".join(result.agents.values())
            rows.append([stated.name, stated.authors, stated.training_runs, teachers, stated.reference, *effort, prints])
    return Table(columns, rows)


def _yes_no(result: ProtocolResult) -> str | None:
    return None if result.declaration is None else "yes" if result.declaration.search else "no"
