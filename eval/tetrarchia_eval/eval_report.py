"""What an evaluation has found: as a terminal shows it, as one table to keep, and as pictures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from tetrarchia_env.board import EMPERORS
from tetrarchia_eval.analysis import (
    ALL_LEVELS,
    Comparison,
    GamesByTeam,
    Summary,
    ad_hoc_matrix,
    all_games,
    compare_games,
    corrected,
    emperor_matrix,
    leads,
    pair_matrix,
    summarize,
)
from tetrarchia_eval.console import Part
from tetrarchia_eval.match import Match, MatchSpec, rules_label
from tetrarchia_eval.plots import bars, heat_map, matrix_plot
from tetrarchia_eval.result_tables import (
    EVERYTHING,
    GAMES,
    LOST,
    MEAN_SCORE,
    MILLISECONDS,
    TURNS,
    WON,
    Cell,
    Column,
    Table,
    gain,
    lead_table,
    matrix_table,
    p_value,
    points,
    rival_table,
    summary_table,
    tested,
)
from tetrarchia_eval.sweep import grid

PAIRS, AD_HOC = "pair", "ad-hoc"  # the two kinds of cross-play, and their folders
FEW = 12  # levels, up to which each has its own line or bar; more are a map
MAP = "Games won in %: the two digits of a row (tokens, fleets) and of a column (Revolts, armies) are a level."


class EvalReport(Protocol):
    """Of one evaluation."""

    def shown(self) -> Iterator[Part]:
        """One thing below the other."""

    def table(self) -> Table:
        """All figures."""

    def pictures(self) -> dict[str, Any]:
        """By a word for each; that of an only one is empty."""


@dataclass(frozen=True)
class SideBySide:
    """Line-ups by their names; the first is compared with each of the others."""

    matches: Mapping[str, Match]

    def shown(self) -> Iterator[Part]:
        """Figures of each, then who is better."""
        yield heading(self._spec)
        yield summary_table(self._summaries, self._lines, self._word, (GAMES, WON, MEAN_SCORE, TURNS, *self._endings, MILLISECONDS))
        if self._is_sweep:
            yield MAP
            yield from (part for name in self.matches for part in (name, grid(self._rates(name))))
        if len(self.matches) > 1:
            yield from self._leads() if self._is_sweep else self._tests()

    def table(self) -> Table:
        """A line for each place and line-up; beside the others how much more the first has."""
        table = summary_table(self._summaries, self._places, self._word, EVERYTHING)
        if len(self.matches) == 1:
            return table
        found = {(one.where, one.second): tested(one) for one in self._comparisons}
        first = next(iter(self.matches))
        columns = {f"{first} minus this, won": points, "p": p_value, f"{first} minus this, score": gain, "p, score": p_value}
        more = [Column(title, text) for title, text in columns.items()]
        rows = [[*row, *found.get((str(row[0]), str(row[1])), (None,) * len(more))] for row in table.rows]
        return Table([*table.columns, *more], rows)

    def pictures(self) -> dict[str, Any]:
        """Bars, or a map for each line-up."""
        if not self._is_sweep:
            rates = {name: {place: found[place].win_rate for place in self._places} for name, found in self._summaries.items()}
            return {"": bars(f"Games won\n{heading(self._spec)}", rates, self._word)}
        maps = [heat_map(f"{name}: games won\n{heading(self._spec)}", grid(self._rates(name))) for name in self.matches]
        return dict(zip(self.matches if len(maps) > 1 else [""], maps, strict=True))

    @cached_property
    def _spec(self) -> MatchSpec:
        return next(iter(self.matches.values())).spec

    @property
    def _is_sweep(self) -> bool:
        return len(self._spec.levels) > FEW

    @property
    def _word(self) -> str:
        return "scenario" if self._spec.arguments.get("scenario") else "level"

    @cached_property
    def _games(self) -> GamesByTeam:
        place = self._spec.arguments.get("scenario")
        games: GamesByTeam = {name: {} for name in self.matches}
        for name, match in self.matches.items():
            for game in match.games:
                games[name].setdefault(place or game.level, []).append(game)
        return games

    @property
    def _places(self) -> list[str]:
        return list(next(iter(self._games.values())))

    @property
    def _lines(self) -> list[str]:
        """Places that have a line in the terminal."""
        all_of_them = [ALL_LEVELS] if len(self._places) > 1 else []
        return all_of_them if self._is_sweep else [*self._places, *all_of_them]

    @cached_property
    def _summaries(self) -> dict[str, dict[str, Summary]]:
        return {
            name: {**{place: summarize(games) for place, games in found.items()}, ALL_LEVELS: summarize(all_games(found))}
            for name, found in self._games.items()
        }

    @property
    def _endings(self) -> Sequence[Any]:
        """Those that came: few games are truncated."""
        return [one for one in LOST if any(found[ALL_LEVELS].endings[one[0].title] for found in self._summaries.values())]

    def _rates(self, name: str) -> dict[str, float]:
        return {level: self._summaries[name][level].win_rate.value for level in self._places}

    @cached_property
    def _comparisons(self) -> list[Comparison]:
        first, *others = self.matches
        return corrected(
            [
                compare_games((first, self._games[first][place]), (other, self._games[other][place]), place)
                for place in self._places
                for other in others
            ]
        )

    def _tests(self) -> Iterator[Part]:
        if len(self._comparisons) == 1:
            yield sentence(self._comparisons[0])
            return
        first, tests = self._comparisons[0].first, len(self._comparisons)
        yield f"{first} minus the others on the same seeds; each p is corrected for these {tests} comparisons (Holm)."
        yield rival_table(self._comparisons, self._word)

    def _leads(self) -> Iterator[Part]:
        first, *others = self.matches
        yield "On the same seeds; a level counts with p < 0.05, corrected for all levels and line-ups (Holm)."
        yield lead_table(leads(self._games, [(first, other) for other in others], self._places))


@dataclass(frozen=True)
class CrossPlay:
    """Every agent with every other: matches by kind and team."""

    matches: Mapping[str, Match]

    def shown(self) -> Iterator[Part]:
        """Three matrices."""
        yield heading(next(iter(self.matches.values())).spec)
        yield "Two players, in % of games won: rows have diocletian and galerius, columns constantius and maximian."
        yield matrix_table(pair_matrix(self._pairs), "East \\ West")
        yield "Ad hoc teamwork: rows have three Emperors, columns the fourth, whichever he is."
        yield matrix_table(ad_hoc_matrix(self._ad_hoc), "three \\ the fourth")
        yield "The same for each Emperor that the fourth may be."
        yield matrix_table(emperor_matrix(self._ad_hoc), "three + the fourth")

    def table(self) -> Table:
        """A line for each team."""
        columns = [*map(Column, EMPERORS), *(column for column, _ in EVERYTHING)]
        rows: list[list[Cell]] = []
        for match in self.matches.values():
            figures = summarize(match.games)
            rows.append([*match.spec.agents, *(value(figures) for _, value in EVERYTHING)])
        return Table(columns, rows)

    def pictures(self) -> dict[str, Any]:
        """The matrix of pairs and that of ad hoc teams."""
        where = heading(next(iter(self.matches.values())).spec)
        return {
            PAIRS: matrix_plot(
                f"Cross-play in pairs: games won\n{where}", pair_matrix(self._pairs), "diocletian and galerius", "constantius and maximian"
            ),
            AD_HOC: matrix_plot(f"Ad hoc teamwork: games won\n{where}", ad_hoc_matrix(self._ad_hoc), "three Emperors", "the fourth"),
        }

    @property
    def _pairs(self) -> list[Match]:
        return [match for name, match in self.matches.items() if name.startswith(PAIRS)]

    @property
    def _ad_hoc(self) -> list[Match]:
        """And each agent with itself, to compare with."""
        alone = [match for match in self._pairs if len(set(match.spec.agents)) == 1]
        return [*alone, *(match for name, match in self.matches.items() if name.startswith(AD_HOC))]


def heading(spec: MatchSpec) -> str:
    """What was played."""
    word = "level" if len(spec.levels) == 1 else "levels"
    levels = f"{word} {', '.join(spec.levels)}" if len(spec.levels) <= FEW else f"{len(spec.levels)} {word}"
    last = spec.first_seed + spec.games - 1
    return f"{rules_label(spec)}, {levels}, {spec.games:,} games each, seeds {spec.first_seed} to {last}"


def sentence(one: Comparison) -> str:
    """A comparison that stands alone."""
    return (
        f"{one.first} minus {one.second} on the same {one.wins.pairs:,} seeds: games won {points(one.wins.difference)} percentage "
        f"points, {_p(one.wins.p)} (McNemar's exact test); score {gain(one.score.difference)}, {_p(one.score.p)} (random signs)."
    )


def _p(p: float) -> str:
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
