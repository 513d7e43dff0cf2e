"""Two runs on the same seeds: who wins more, who scores more, and whether it may be chance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tetrarchia_eval.results import Played
from tetrarchia_eval.statistics import Estimate, PairedTest, bootstrap_mean, by_seed, compare_scores, compare_wins, holm

ALL_LEVELS = "all"
ALPHA = 0.05
Field = dict[str, dict[str, list[Played]]]  # games by team and place: a level, a scenario, ...


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
    first: tuple[str, Sequence[Played]], second: tuple[str, Sequence[Played]], where: str = ALL_LEVELS, seed: int = 0
) -> Comparison:
    """The games of two names, as far as both have played the same; the seed is that of bootstrap and permutations."""
    pairs = shared(first[1], second[1])
    if not pairs:
        raise ValueError(f"{first[0]} and {second[0]} have no game with the same level and seed to compare them by")
    wins = compare_wins([one.won for one, _ in pairs], [other.won for _, other in pairs])
    chance = np.random.default_rng(seed)
    score = compare_scores([one.score for one, _ in pairs], [other.score for _, other in pairs], chance)
    return Comparison(first[0], second[0], where, wins, score)


def shared(first: Sequence[Played], second: Sequence[Played]) -> list[tuple[Played, Played]]:
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


def leads(field: Field, pairs: Iterable[tuple[str, str]], levels: Sequence[str]) -> list[Lead]:
    """Pairs of teams over the levels that both have played on the same seeds, corrected for all these tests (Holm)."""
    tested = [
        (pair, compare_wins([one.won for one, _ in games], [other.won for _, other in games]))
        for pair in pairs
        for level in levels
        if (games := shared(field[pair[0]].get(level, []), field[pair[1]].get(level, [])))
    ]
    ps = holm([test.p for _, test in tested])
    signs: dict[tuple[str, str], list[float]] = {}
    for (pair, test), p in zip(tested, ps, strict=True):
        signs.setdefault(pair, []).append(np.sign(test.difference.value) if p < ALPHA else 0.0)
    return [
        Lead(*pair, len(found), found.count(1.0), found.count(-1.0), _mean_difference(field[pair[0]], field[pair[1]]))
        for pair, found in signs.items()
    ]


def _mean_difference(first: Mapping[str, Sequence[Played]], second: Mapping[str, Sequence[Played]]) -> Estimate:
    pairs = shared(all_games(first), all_games(second))
    differences = [float(one.won) - float(other.won) for one, other in pairs]
    return bootstrap_mean(by_seed(differences, [one.seed for one, _ in pairs]), np.random.default_rng(0))


def all_games(places: Mapping[str, Sequence[Played]]) -> list[Played]:
    """Of a team, wherever it played."""
    return [game for games in places.values() for game in games]
