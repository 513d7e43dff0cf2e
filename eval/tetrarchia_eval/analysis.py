"""Statistics of games: summaries, paired comparisons, cross-play and levels.

Cross-play: agents that were not trained together share the four Emperors (R13.1), as pairs for zero-shot coordination (Carroll
et al., On the Utility of Learning about Humans for Human-AI Coordination, NeurIPS 2019; Hu et al., "Other-Play" for
Zero-Shot Coordination, ICML 2020); and as ad hoc teamwork, where one agent joins three others (Stone et al., Ad Hoc
Autonomous Agent Teams, AAAI 2010).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import GameResult
from tetrarchia_env.board import EMPERORS, ROMAN_PROVINCES, SPACES
from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import DIGITS
from tetrarchia_env.variants import RULEBOOK_LEVELS
from tetrarchia_eval.match import ALL_LEVELS, Match
from tetrarchia_eval.statistics import Estimate, PairedTest, bootstrap_mean, by_seed, compare_scores, compare_wins, holm, wilson_by_seed

ENDINGS = tuple(outcome for outcome in OUTCOMES if outcome != "running")
BORDERS = SPACES - ROMAN_PROVINCES
OVERALL = "all"  # the label of all levels together
ALPHA = 0.05
GamesByTeam = dict[str, dict[str, list[GameResult]]]  # by team and place (level, scenario or rules)
Names = tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """Statistics of games; intervals are 95 %."""

    games: int
    wins: int
    win_rate: Estimate
    score: Estimate  # R9.3, lost games included
    endings: dict[str, int]  # number of games by outcome
    turns: float  # mean per game
    median_turns: float
    steps: float  # mean number of decisions per game
    unsecured: float  # mean number of borders not secured at the end
    milliseconds: float  # mean per decision

    @property
    def borders(self) -> float:
        """Mean number of borders secured at the end."""
        return BORDERS - self.unsecured

    def fraction(self, ending: str) -> float:
        """Return the fraction of the games with this outcome."""
        return self.endings[ending] / self.games


def summarize(games: Sequence[GameResult], seed: int = 0) -> Summary:
    """Return the statistics of these games.

    Args:
        games: At least one game.
        seed: Seed of the bootstrap: the same games and seed give the same figures.

    Raises:
        TetrarchiaError: If there is no game.
    """
    if not games:
        raise TetrarchiaError("a summary needs at least one game; got none")
    seeds, won = [game.seed for game in games], [game.won for game in games]
    decisions = sum(sum(game.decisions) for game in games)
    endings = Counter(game.outcome for game in games)
    return Summary(
        games=len(games),
        wins=sum(won),
        win_rate=wilson_by_seed(won, seeds),
        score=bootstrap_mean(by_seed([game.score for game in games], seeds), np.random.default_rng(seed)),
        endings={ending: endings[ending] for ending in ENDINGS},
        turns=float(np.mean([game.turns for game in games])),
        median_turns=float(np.median([game.turns for game in games])),
        steps=float(np.mean([game.steps for game in games])),
        unsecured=BORDERS - float(np.mean([game.borders for game in games])),
        milliseconds=1000 * sum(sum(game.seconds) for game in games) / max(decisions, 1),
    )


@dataclass(frozen=True)
class Comparison:
    """Two teams compared on the pairs of level and seed that both have played."""

    first: str
    second: str
    where: str  # level, scenario or rules
    wins: PairedTest
    score: PairedTest


def compare_games(
    first: tuple[str, Sequence[GameResult]], second: tuple[str, Sequence[GameResult]], where: str = OVERALL, seed: int = 0
) -> Comparison:
    """Compare two named sets of games on the levels and seeds that both contain.

    Args:
        first: Name and games of the first team.
        second: Name and games of the second team.
        where: Label of the level, scenario or rules.
        seed: Seed of the bootstrap and the permutation test.

    Raises:
        TetrarchiaError: If no game has the same level and seed.
    """
    pairs = paired_games(first[1], second[1])
    if not pairs:
        raise TetrarchiaError(f"{first[0]} and {second[0]} have no game with the same level and seed")
    wins = compare_wins([one.won for one, _ in pairs], [other.won for _, other in pairs])
    rng = np.random.default_rng(seed)
    score = compare_scores([one.score for one, _ in pairs], [other.score for _, other in pairs], rng)
    return Comparison(first[0], second[0], where, wins, score)


def paired_games(first: Sequence[GameResult], second: Sequence[GameResult]) -> list[tuple[GameResult, GameResult]]:
    """Return the pairs of games with the same level and seed."""
    found = {(game.level, game.seed): game for game in second}
    return [(game, found[game.level, game.seed]) for game in first if (game.level, game.seed) in found]


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Apply Holm's correction for multiple tests: wins and scores are corrected separately."""
    wins, scores = (holm([getattr(one, name).p for one in comparisons]) for name in ("wins", "score"))
    return [
        replace(one, wins=replace(one.wins, p=win), score=replace(one.score, p=score))
        for one, win, score in zip(comparisons, wins, scores, strict=True)
    ]


class Lead(NamedTuple):
    """Two teams compared over many levels."""

    first: str
    second: str
    levels: int
    better: int  # number of levels with p < ALPHA
    worse: int
    difference: Estimate  # of the win rates over all levels


def leads(by_team: GamesByTeam, pairs: Iterable[tuple[str, str]], levels: Sequence[str]) -> list[Lead]:
    """Compare pairs of teams at each level on the same seeds, with Holm's correction for all these tests."""
    tested = [
        (pair, compare_wins([one.won for one, _ in games], [other.won for _, other in games]))
        for pair in pairs
        for level in levels
        if (games := paired_games(by_team[pair[0]].get(level, []), by_team[pair[1]].get(level, [])))
    ]
    signs: dict[tuple[str, str], list[float]] = {}
    for (pair, test), p in zip(tested, holm([test.p for _, test in tested]), strict=True):
        signs.setdefault(pair, []).append(np.sign(test.difference.value) if p < ALPHA else 0.0)

    def difference(first: str, second: str) -> Estimate:
        games = paired_games(all_games(by_team[first]), all_games(by_team[second]))
        differences = [float(one.won) - float(other.won) for one, other in games]
        return bootstrap_mean(by_seed(differences, [one.seed for one, _ in games]), np.random.default_rng(0))

    return [Lead(*pair, len(found), found.count(1.0), found.count(-1.0), difference(*pair)) for pair, found in signs.items()]


def all_games(places: Mapping[str, Sequence[GameResult]]) -> list[GameResult]:
    """Return the games of all places."""
    return [game for games in places.values() for game in games]


@dataclass(frozen=True)
class Team:
    """The agents of the four Emperors and a label."""

    label: str
    agents: Names


@dataclass(frozen=True)
class Matrix:
    """Win rates by row and column; pairs that were not played are missing."""

    rows: Names
    columns: Names
    cells: Mapping[tuple[str, str], Estimate]


def pair_teams(names: Iterable[str]) -> list[Team]:
    """Return all teams of two players: one agent has diocletian and galerius, the other constantius and maximian."""
    return [Team(f"{east}+{west}", (east, east, west, west)) for east, west in product(dict.fromkeys(names), repeat=2)]


def ad_hoc_teams(names: Iterable[str]) -> list[Team]:
    """Return all teams in which one agent has three Emperors and another the fourth, and each agent alone."""
    teams = []
    for mate, joiner in product(dict.fromkeys(names), repeat=2):
        if mate == joiner:
            teams.append(Team(mate, (mate,) * len(EMPERORS)))
        else:
            for emperor in EMPERORS:
                agents = tuple(joiner if name == emperor else mate for name in EMPERORS)
                teams.append(Team(f"{mate}+{joiner}@{emperor}", agents))
    return teams


def pair_of(agents: Sequence[str]) -> tuple[str, str]:
    """Return the agents of the East and the West.

    Raises:
        TetrarchiaError: If the two Emperors of a couple have different agents.
    """
    if agents[0] != agents[1] or agents[2] != agents[3]:
        raise TetrarchiaError(f"pair play gives each couple of Emperors to one agent; got {','.join(agents)}")
    return agents[0], agents[2]


def ad_hoc_of(agents: Sequence[str]) -> tuple[str, str, str]:
    """Return the agent of three Emperors, the agent of the fourth, and that Emperor (empty if one agent has all four).

    Raises:
        TetrarchiaError: If the team is neither.
    """
    for joiner, emperor in zip(agents, EMPERORS, strict=True):
        if agents.count(joiner) == 1 and len(set(agents)) == 2:
            return next(name for name in agents if name != joiner), joiner, emperor
    if len(set(agents)) == 1:
        return agents[0], agents[0], ""
    raise TetrarchiaError(f"ad hoc teamwork gives three Emperors to one agent and the fourth to another; got {','.join(agents)}")


def pair_matrix(matches: Iterable[Match]) -> Matrix:
    """Return win rates by the agent of diocletian and galerius (rows) and of constantius and maximian (columns)."""
    return _best_first(_matrix((pair_of(match.spec.team), match.games) for match in matches))


def ad_hoc_matrix(matches: Iterable[Match]) -> Matrix:
    """Return win rates by the agent of three Emperors (rows) and of the fourth (columns): means over the fourth Emperor.

    Teams that have not been played with all four Emperors are left out.
    """
    found = [(ad_hoc_of(match.spec.team), match.games) for match in matches]
    emperors = Counter((mate, joiner) for mate, joiner, _ in {team for team, _ in found})
    complete = [((mate, joiner), games) for (mate, joiner, _), games in found if mate == joiner or emperors[mate, joiner] == len(EMPERORS)]
    return _best_first(_matrix(complete))


def emperor_matrix(matches: Iterable[Match]) -> Matrix:
    """Return win rates of ad hoc teams (rows) by the fourth Emperor (columns)."""
    found = ((ad_hoc_of(match.spec.team), match.games) for match in matches)
    matrix = _matrix(((f"{mate} + {joiner}", emperor), games) for (mate, joiner, emperor), games in found if emperor)
    return Matrix(matrix.rows, EMPERORS, matrix.cells)


def _matrix(found: Iterable[tuple[tuple[str, str], Sequence[GameResult]]]) -> Matrix:
    games: dict[tuple[str, str], list[GameResult]] = {}
    for key, some in found:
        games.setdefault(key, []).extend(some)
    cells = {key: _win_rate(some) for key, some in games.items()}
    return Matrix(tuple(dict.fromkeys(row for row, _ in cells)), tuple(dict.fromkeys(column for _, column in cells)), cells)


def _best_first(matrix: Matrix) -> Matrix:
    """Sort rows and columns by the win rate of each agent with itself, then by name."""
    alone = {name: rate.value for (name, other), rate in matrix.cells.items() if name == other}
    names = sorted({*matrix.rows, *matrix.columns}, key=lambda name: (-alone.get(name, 0.0), name))
    return Matrix(
        tuple(name for name in names if name in matrix.rows), tuple(name for name in names if name in matrix.columns), matrix.cells
    )


@dataclass(frozen=True)
class LevelGrid:
    """Values by level, easiest first: rows by tokens and fleets, columns by Revolts and armies; NaN where not played."""

    rows: Names  # the first two digits
    columns: Names  # the last two digits
    values: NDArray[np.float64]


def level_grid(rates: Mapping[str, float]) -> LevelGrid:
    """Arrange win rates by level: the 81 levels of the rulebook, or all 256 if there is one outside it.

    Raises:
        TetrarchiaError: If a level does not exist.
    """
    if unknown := sorted(set(rates) - set(ALL_LEVELS)):
        raise TetrarchiaError(f"level must be four digits: 2-5 tokens, 0-3 fleets, Revolts and armies; got {unknown[0]!r}")
    levels = RULEBOOK_LEVELS if set(rates) <= set(RULEBOOK_LEVELS) else ALL_LEVELS
    rows, columns = (tuple(dict.fromkeys(level[part] for level in levels)) for part in (slice(2), slice(2, 4)))
    return LevelGrid(rows, columns, np.array([[rates.get(row + column, np.nan) for column in columns] for row in rows]))


def win_rates_by_digit(games: Sequence[GameResult]) -> dict[tuple[str, str], Estimate]:
    """Return the win rate of all games whose level has a digit, by the digit's meaning and value, easiest first."""
    found = {}
    for place, (meaning, _) in enumerate(DIGITS):
        for value in dict.fromkeys(level[place] for level in ALL_LEVELS):
            if some := [game for game in games if game.level[place] == value]:
                found[meaning, value] = _win_rate(some)
    return found


def _win_rate(games: Sequence[GameResult]) -> Estimate:
    return wilson_by_seed([game.won for game in games], [game.seed for game in games])
