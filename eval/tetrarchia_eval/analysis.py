"""What games say: summaries of some, comparisons on the same seeds, and cross-play.

Cross-play: agents that were not made together share the four Emperors (R13.1), as pairs for zero-shot coordination (Carroll
et al., On the Utility of Learning about Humans for Human-AI Coordination, NeurIPS 2019; Hu et al., "Other-Play" for
Zero-Shot Coordination, ICML 2020); and as ad hoc teamwork, where one joins three who are used to each other (Stone et al., Ad
Hoc Autonomous Agent Teams, AAAI 2010).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tetrarchia_agents import GameResult
from tetrarchia_env.board import EMPERORS, ROMAN_PROVINCES, SPACES
from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.match import Match
from tetrarchia_eval.statistics import Estimate, PairedTest, bootstrap_mean, by_seed, compare_scores, compare_wins, holm, wilson_by_seed

ENDINGS = tuple(outcome for outcome in OUTCOMES if outcome != "running")
BORDERS = SPACES - ROMAN_PROVINCES
ALL_LEVELS = "all"
ALPHA = 0.05
GamesByTeam = dict[str, dict[str, list[GameResult]]]  # and by place: a level, a scenario, ...
Names = tuple[str, ...]  # of the agents of the four Emperors


@dataclass(frozen=True)
class Summary:
    """Figures of some games; intervals are of 95 %."""

    games: int
    wins: int
    win_rate: Estimate
    score: Estimate  # R9.3, lost games included
    endings: dict[str, int]  # how many games ended how, all of ENDINGS
    turns: float  # a game, on average
    median_turns: float
    steps: float
    unsecured: float  # borders without a token at the end, on average
    milliseconds: float  # a decision, on average

    @property
    def borders(self) -> float:
        """Mean number of borders secured at the end."""
        return BORDERS - self.unsecured

    def share(self, ending: str) -> float:
        """Of the games, that ended so."""
        return self.endings[ending] / self.games


def summarize(games: Sequence[GameResult], seed: int = 0) -> Summary:
    """All these games as one; the seed is the bootstrap's, the same games always give the same figures."""
    if not games:
        raise TetrarchiaError("a summary needs at least one game, not none")
    seeds, won = [game.seed for game in games], [game.won for game in games]
    decisions = sum(sum(game.decisions) for game in games)
    endings = Counter(game.outcome for game in games)
    return Summary(
        games=len(games),
        wins=sum(won),
        win_rate=wilson_by_seed(won, seeds),
        score=bootstrap_mean(by_seed([game.score for game in games], seeds), np.random.default_rng(seed)),
        endings={ending: endings[ending] for ending in ENDINGS},
        turns=_mean(game.turns for game in games),
        median_turns=float(np.median([game.turns for game in games])),
        steps=_mean(game.steps for game in games),
        unsecured=BORDERS - _mean(game.borders for game in games),
        milliseconds=1000 * sum(sum(game.seconds) for game in games) / max(decisions, 1),
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


@dataclass(frozen=True)
class Comparison:
    """The first against the second, on the pairs of level and seed that both have played."""

    first: str
    second: str
    where: str  # a level, or whatever else the games share
    wins: PairedTest
    score: PairedTest


@dataclass(frozen=True)
class Lead:
    """The first against the second over many levels."""

    first: str
    second: str
    levels: int
    better: int  # at so many levels with p < ALPHA
    worse: int
    difference: Estimate  # of the win rates over all levels


def compare_games(
    first: tuple[str, Sequence[GameResult]], second: tuple[str, Sequence[GameResult]], where: str = ALL_LEVELS, seed: int = 0
) -> Comparison:
    """The games of two names, as far as both have played the same; the seed is that of bootstrap and permutations."""
    pairs = shared(first[1], second[1])
    if not pairs:
        raise TetrarchiaError(f"{first[0]} and {second[0]} have no game with the same level and seed to compare them by")
    wins = compare_wins([one.won for one, _ in pairs], [other.won for _, other in pairs])
    rng = np.random.default_rng(seed)
    score = compare_scores([one.score for one, _ in pairs], [other.score for _, other in pairs], rng)
    return Comparison(first[0], second[0], where, wins, score)


def shared(first: Sequence[GameResult], second: Sequence[GameResult]) -> list[tuple[GameResult, GameResult]]:
    """The games of the same level and seed, side by side."""
    found = {(game.level, game.seed): game for game in second}
    return [(game, found[game.level, game.seed]) for game in first if (game.level, game.seed) in found]


def corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same with Holm's correction for their number: of the tests of wins, and of those of scores."""
    wins, scores = (holm([getattr(one, what).p for one in comparisons]) for what in ("wins", "score"))
    return [
        replace(one, wins=replace(one.wins, p=win), score=replace(one.score, p=score))
        for one, win, score in zip(comparisons, wins, scores, strict=True)
    ]


def leads(by_team: GamesByTeam, pairs: Iterable[tuple[str, str]], levels: Sequence[str]) -> list[Lead]:
    """Pairs of teams over the levels that both have played on the same seeds, corrected for all these tests (Holm)."""
    tested = [
        (pair, compare_wins([one.won for one, _ in games], [other.won for _, other in games]))
        for pair in pairs
        for level in levels
        if (games := shared(by_team[pair[0]].get(level, []), by_team[pair[1]].get(level, [])))
    ]
    ps = holm([test.p for _, test in tested])
    signs: dict[tuple[str, str], list[float]] = {}
    for (pair, test), p in zip(tested, ps, strict=True):
        signs.setdefault(pair, []).append(np.sign(test.difference.value) if p < ALPHA else 0.0)
    return [
        Lead(*pair, len(found), found.count(1.0), found.count(-1.0), _mean_difference(by_team[pair[0]], by_team[pair[1]]))
        for pair, found in signs.items()
    ]


def _mean_difference(first: Mapping[str, Sequence[GameResult]], second: Mapping[str, Sequence[GameResult]]) -> Estimate:
    pairs = shared(all_games(first), all_games(second))
    differences = [float(one.won) - float(other.won) for one, other in pairs]
    return bootstrap_mean(by_seed(differences, [one.seed for one, _ in pairs]), np.random.default_rng(0))


def all_games(places: Mapping[str, Sequence[GameResult]]) -> list[GameResult]:
    """Of a team, wherever it played."""
    return [game for games in places.values() for game in games]


@dataclass(frozen=True)
class Team:
    """The agents of the four Emperors, and a short word for them."""

    label: str
    agents: Names


@dataclass(frozen=True)
class Matrix:
    """Win rates of rows with columns; what was not played is missing."""

    rows: Names
    columns: Names
    cells: Mapping[tuple[str, str], Estimate]


def pair_teams(names: Iterable[str]) -> list[Team]:
    """Two players: each name has diocletian and galerius, with each that has constantius and maximian; itself too."""
    return [Team(f"{east}+{west}", (east, east, west, west)) for east, west in product(dict.fromkeys(names), repeat=2)]


def ad_hoc_teams(names: Iterable[str]) -> list[Team]:
    """Each name has three Emperors and each other one the fourth, whichever it is; and each name has all four."""
    teams = []
    for mate, joiner in product(dict.fromkeys(names), repeat=2):
        if mate == joiner:
            teams.append(Team(mate, (mate,) * len(EMPERORS)))
        else:
            teams += [Team(f"{mate}+{joiner}@{emperor}", _joined(mate, joiner, emperor)) for emperor in EMPERORS]
    return teams


def _joined(mate: str, joiner: str, emperor: str) -> Names:
    return tuple(joiner if name == emperor else mate for name in EMPERORS)


def pair_of(agents: Sequence[str]) -> tuple[str, str]:
    """Who has the East and who the West; ValueError if a couple is divided."""
    if agents[0] != agents[1] or agents[2] != agents[3]:
        raise TetrarchiaError(f"pair play gives each couple of Emperors to one agent, unlike {','.join(agents)}")
    return agents[0], agents[2]


def ad_hoc_of(agents: Sequence[str]) -> tuple[str, str, str]:
    """Who has three, who has the fourth, and which Emperor that is; he who has all four joins himself, anywhere."""
    for joiner, emperor in zip(agents, EMPERORS, strict=True):
        if agents.count(joiner) == 1 and len(set(agents)) == 2:
            return next(name for name in agents if name != joiner), joiner, emperor
    if len(set(agents)) == 1:
        return agents[0], agents[0], ""
    raise TetrarchiaError(f"ad hoc teamwork gives three Emperors to one agent and the fourth to another, unlike {','.join(agents)}")


def pair_matrix(matches: Iterable[Match]) -> Matrix:
    """Rows have diocletian and galerius, columns constantius and maximian."""
    return _best_first(_matrix((pair_of(match.spec.agents), match.games) for match in matches))


def ad_hoc_matrix(matches: Iterable[Match]) -> Matrix:
    """Rows have three Emperors, columns the fourth: the mean over the four that he may be, if all were played."""
    found = [(ad_hoc_of(match.spec.agents), match.games) for match in matches]
    emperors = Counter((mate, joiner) for mate, joiner, _ in {who for who, _ in found})
    whole = [((mate, joiner), games) for (mate, joiner, _), games in found if mate == joiner or emperors[mate, joiner] == len(EMPERORS)]
    return _best_first(_matrix(whole))


def emperor_matrix(matches: Iterable[Match]) -> Matrix:
    """The same for each Emperor alone: rows are who has three + who has the fourth, columns which Emperor that is."""
    found = ((ad_hoc_of(match.spec.agents), match.games) for match in matches)
    matrix = _matrix(((f"{mate} + {joiner}", emperor), games) for (mate, joiner, emperor), games in found if emperor)
    return Matrix(matrix.rows, EMPERORS, matrix.cells)


def _matrix(found: Iterable[tuple[tuple[str, str], Sequence[GameResult]]]) -> Matrix:
    games: dict[tuple[str, str], list[GameResult]] = {}
    for key, some in found:
        games.setdefault(key, []).extend(some)
    cells = {key: wilson_by_seed([game.won for game in some], [game.seed for game in some]) for key, some in games.items()}
    return Matrix(tuple(dict.fromkeys(row for row, _ in cells)), tuple(dict.fromkeys(column for _, column in cells)), cells)


def _best_first(matrix: Matrix) -> Matrix:
    """Rows and columns in one order: by how often each name wins with itself, then by name."""
    alone = {name: rate.value for (name, other), rate in matrix.cells.items() if name == other}
    names = sorted({*matrix.rows, *matrix.columns}, key=lambda name: (-alone.get(name, 0.0), name))
    return Matrix(
        tuple(name for name in names if name in matrix.rows), tuple(name for name in names if name in matrix.columns), matrix.cells
    )
