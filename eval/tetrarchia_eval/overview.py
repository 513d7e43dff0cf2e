"""The tables that pages and screens are made of: summaries, comparisons, matrices of partners."""

from collections.abc import Callable, Mapping, Sequence

from tetrarchia_eval.comparison import Comparison, Lead
from tetrarchia_eval.crossplay import Matrix
from tetrarchia_eval.summary import ENDINGS, Summary
from tetrarchia_eval.tables import Cell, Column, Table, figure, gain, milliseconds, p_value, percent, points, short

Summaries = Mapping[str, Mapping[str, Summary]]  # by team and place: a level, a scenario, ...
Drawn = tuple[Column, Callable[[Summary], Cell]]

GAMES: Drawn = (Column("games"), lambda one: one.games)
WON: Drawn = (Column("won", percent), lambda one: one.win_rate)
SCORE: Drawn = (Column("score", figure), lambda one: one.score)
MEAN_SCORE: Drawn = (Column("score", figure), lambda one: one.score.value)
TURNS: Drawn = (Column("turns, mean", short), lambda one: one.turns)
MEDIAN_TURNS: Drawn = (Column("turns, median", short), lambda one: one.median_turns)
DECISIONS: Drawn = (Column("decisions a game", short), lambda one: one.steps)
UNSECURED: Drawn = (Column("borders not secured", figure), lambda one: one.unsecured)
MILLISECONDS: Drawn = (Column("ms a decision", milliseconds), lambda one: one.milliseconds)


def ended(ending: str) -> Drawn:
    """The share of games that ended so."""
    return Column(ending, percent), lambda one: one.share(ending)


ENDED = tuple(map(ended, ENDINGS))
LOST = ENDED[1:]
EVERYTHING = (GAMES, WON, SCORE, TURNS, MEDIAN_TURNS, DECISIONS, *LOST, UNSECURED, MILLISECONDS)


def summary_table(summaries: Summaries, places: Sequence[str], word: str, columns: Sequence[Drawn]) -> Table:
    """A row for each place and team that played there."""
    rows = [
        [place, team, *(value(found[place]) for _, value in columns)]
        for place in places
        for team, found in summaries.items()
        if place in found
    ]
    return Table([Column(word), Column("agent"), *(column for column, _ in columns)], rows)


def comparison_table(tests: Sequence[Comparison], word: str, who: str = "agent") -> Table:
    """A row for each: wins, then scores."""
    titles = (word, who, "against", "pairs")
    columns = [*map(Column, titles), Column("difference", points), Column("p", p_value), Column("score", gain), Column("p, score", p_value)]
    return Table(columns, [(one.where, one.first, one.second, one.wins.pairs, *tested(one)) for one in tests])


def rival_table(tests: Sequence[Comparison], word: str) -> Table:
    """The same for one that is compared with several others: its name need not be told."""
    table = comparison_table(tests, word)
    return Table([table.columns[0], *table.columns[2:]], [[row[0], *row[2:]] for row in table.rows])


def tested(one: Comparison) -> tuple[Cell, ...]:
    """The figures of a comparison."""
    return one.wins.difference, one.wins.p, one.score.difference, one.score.p


def lead_table(found: Sequence[Lead]) -> Table:
    """A row for each two teams."""
    titles = ("agent", "against", "levels", "better at", "worse at")
    rows = [(one.first, one.second, one.levels, one.better, one.worse, one.difference) for one in found]
    return Table([*map(Column, titles), Column("mean difference", points)], rows)


def matrix_table(matrix: Matrix, corner: str) -> Table:
    """Win rates of rows with columns."""
    columns = [Column(corner), *(Column(name, percent) for name in matrix.columns)]
    return Table(columns, [[row, *(matrix.cells.get((row, column)) for column in matrix.columns)] for row in matrix.rows])
