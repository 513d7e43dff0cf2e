"""The heuristic value of a position: an estimated win probability from weighted features.

`logit` is the weighted sum of the features, and the win probability is its logistic function. The weights are tuned by
`python -m tetrarchia_train.tune_planner` on games of the planner and stored in data/heuristic_weights.toml.
"""

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.bits import count, first_of
from tetrarchia_env.engine.combat import chain, support
from tetrarchia_env.engine.distances import ARRIVAL_DISTANCES, DISTANCES, FAR
from tetrarchia_env.engine.outcome import emperor_tokens, secured_borders
from tetrarchia_env.engine.state import (
    ARRIVAL,
    DUX,
    GOTHS,
    MARE_NOSTRVM,
    OFF,
    OVER,
    REBEL,
    REVOLT,
    ROMAN,
    UNREST,
    WON,
    GameRecord,
)
from tetrarchia_env.engine.tables import BIT, BORDER, BORDERS, LINKED, NEXT_STEP, NORMAL, PROVINCES, ROMAN_PROVINCES, STEPS

FEATURES = {  # name and meaning of each feature
    "always": "constant 1 (bias)",
    "borders": "borders secured",
    "borders_squared": "their square / 6: the last ones are the hardest",
    "revolts": "Revolts",
    "unrest": "Unrest",
    "infected": "Unrest linked to a Revolt, which will spread (R6.1)",
    "exposed": "provinces without a Revolt linked to each Revolt, summed: where Uprisings would spread (R7.1)",
    "revolts_in_the_way": "Revolts in regions whose border is not secured (R4.5)",
    "ready": "regions without a Revolt whose border is not secured",
    "nearly_ready": "the same with one Revolt",
    "longest_chain": "Revolts in the longest chain (R5.2)",
    "revolts_in_italia": "Revolts in ITALIA",
    "armies": "armies on the board",
    "army_nearness": "(12 - steps to ROMA) / 12, summed over armies",
    "army_at_the_gates": "(4 - steps to ROMA) squared, summed over armies fewer than 4 steps away",
    "army_on_border": "armies on borders that are not secured",
    "army_support": "Revolts that support them (R5.2)",
    "army_unmet": "IP from each army to the nearest Emperor",
    "army_ganged": "Emperors and Dux linked to an army beyond the first; each doubles the Roman value (R5.1)",
    "goths_or_rebels": "armies that are Goths or Rebels",
    "pirates": "Pirates on the board",
    "away": "Emperors off the board",
    "on_revolt": "Emperors standing on a Revolt, who will be expelled (R6.2)",
    "in_the_path": "Emperors on the next step of an army (R8.4) and not on a Revolt",
    "dux": "the Dux is on the board",
    "supply": "tokens in supplies",
    "empty_supply": "Emperors without a token left",
    "short": "tokens missing for the borders that are left",
    "protected": "Roman provinces with an Emperor's token",
    "walls": "links from these provinces to a province with Unrest or a Revolt",
    "border_unmet": "IP from each border, neither secured nor with an army, to the nearest Emperor who has a token",
    "revolt_unmet": "IP from each Revolt to the nearest Emperor",
    "first_idle": "IP from the Emperor whose turn it is to the nearest Revolt or border not secured",
    "others_idle": "the same for the other three Emperors, summed",
    "few_unrest": "(6 - Unrest tokens in the reserve) squared if fewer than 6 are left (R9.2)",
    "few_revolts": "(6 - Revolt tokens in the reserve) squared if fewer than 6 are left (R9.2)",
    "ip": "IP left in this turn",
}
WEIGHTS = np.dtype((np.record, [(name, np.float64) for name in FEATURES]))
Weights = Any  # a record of WEIGHTS
LOW_RESERVE = 6  # a reserve of fewer tokens than this is low


WEIGHTS_FILE = Path(__file__).parent / "data" / "heuristic_weights.toml"


def load_weights(path: Path = WEIGHTS_FILE) -> NDArray[np.void]:
    """Read the weights from a file.

    Args:
        path: A TOML file with a number for each of FEATURES; default: the shipped weights.

    Returns:
        An array of one record of WEIGHTS.
    """
    kept = tomllib.loads(path.read_text())
    return weights_of([float(kept[name]) for name in FEATURES])


def weights_of(values: Iterable[float]) -> NDArray[np.void]:
    """Return weights as a record.

    Args:
        values: The weights, in the order of FEATURES.

    Returns:
        An array of one record of WEIGHTS.
    """
    return np.array([tuple(values)], dtype=WEIGHTS)


def features_of(games: Games) -> NDArray[np.float64]:
    """Return the features of each game.

    Args:
        games: An array of games.

    Returns:
        An array of shape (games, features), in the order of FEATURES.
    """
    ones = np.eye(len(FEATURES)).view(WEIGHTS)[:, 0]
    counts = np.zeros((len(games), len(FEATURES)))
    _features_of_all(games, ones, counts)
    return counts


@jit
def _features_of_all(games: Games, ones: NDArray[np.void], counts: NDArray[np.float64]) -> None:
    for i in range(len(games)):
        for j in range(len(ones)):
            counts[i, j] = logit(games[i], ones[j])


@jit
def win_probability(game: GameRecord, weights: Weights) -> float:
    """Return the estimated win probability; 1 or 0 if the game is over.

    Args:
        game: The game.
        weights: A record of WEIGHTS, e.g. `load_weights()[0]`.
    """
    if game.phase == OVER:
        return 1.0 if game.outcome == WON else 0.0
    return 1 / (1 + math.exp(-logit(game, weights)))


@jit
def logit(game: GameRecord, weights: Weights) -> float:
    """Return the weighted sum of all features."""
    total = weights.always + weights.ip * (game.ip if game.phase == ROMAN or game.phase == ARRIVAL else 0)
    total += of_borders(game, weights) + of_tokens(game, weights) + of_armies(game, weights)
    return total + of_emperors(game, weights) + of_supplies(game, weights) + of_distances(game, weights)


@jit
def of_borders(game: GameRecord, weights: Weights) -> float:
    """R9.1, R4.5: return the terms of secured borders, and of obstacles to securing the others."""
    secured = secured_borders(game)
    number = count(secured)
    total = weights.borders * number + weights.borders_squared * number * number / 6
    for region in range(1, 7):
        if secured & BIT[BORDER[region]] == 0:
            revolts = count(game.revolts & PROVINCES[region])
            total += weights.revolts_in_the_way * revolts
            total += weights.ready if revolts == 0 else (weights.nearly_ready if revolts == 1 else 0.0)
    return total


@jit
def of_tokens(game: GameRecord, weights: Weights) -> float:
    """R6.1, R7.1: return the terms of Unrest and Revolts, and of their spread."""
    total = weights.revolts * count(game.revolts) + weights.unrest * count(game.unrest)
    total += weights.revolts_in_italia * count(game.revolts & PROVINCES[0])
    few = max(0, LOW_RESERVE - game.reserve[UNREST])
    total += weights.few_unrest * few * few
    few = max(0, LOW_RESERVE - game.reserve[REVOLT])
    total += weights.few_revolts * few * few
    reach, exposed = 0, 0
    left = game.revolts
    while left:
        space = first_of(left)
        left ^= BIT[space]
        reach |= NORMAL[space]
        exposed += count(LINKED[space] & ROMAN_PROVINCES & ~game.revolts)
    total += weights.infected * count(game.unrest & reach) + weights.exposed * exposed
    return total + weights.longest_chain * longest_chain(game)


@jit
def longest_chain(game: GameRecord) -> int:
    """R5.2: return the number of Revolts in the longest chain."""
    longest = 0
    left = game.revolts
    while left:
        one = chain(game.revolts, left & -left)
        longest = max(longest, count(one))
        left &= ~one
    return longest


@jit
def of_armies(game: GameRecord, weights: Weights) -> float:
    """R8: return the terms of the armies: distance to ROMA, support, and figures that can fight them."""
    total = weights.pirates if game.pirates else 0.0
    if game.army_at[0] == OFF:
        return total
    total += weights.army_on_border * count(armies(game) & BORDERS)
    for army in range(3):
        space = game.army_at[army]
        if space != OFF:
            steps = STEPS[game.army_origin[army], space]
            total += weights.armies + weights.army_nearness * (12 - steps) / 12
            total += weights.army_at_the_gates * max(0, 4 - steps) ** 2
            total += weights.army_support * support(game.revolts, space)
            total += weights.army_ganged * max(0, around(game, space) - 1)
            if game.army_kind[army] == GOTHS or game.army_kind[army] == REBEL:
                total += weights.goths_or_rebels
    return total


@jit
def around(game: GameRecord, space: int) -> int:
    """R5.1: return the number of Emperors and Dux linked to this space."""
    number = 0
    for figure in range(5):
        number += LINKED[space] & BIT[game.at[figure]] != 0
    return number


@jit
def of_emperors(game: GameRecord, weights: Weights) -> float:
    """Return the terms of the Emperors' positions."""
    total = weights.dux if game.at[DUX] < OFF else 0.0
    path = 0
    for army in range(3):
        if game.army_at[army] != OFF and game.army_kind[army] != REBEL:
            path |= BIT[NEXT_STEP[game.army_origin[army], game.army_at[army]]]
    for emperor in range(4):
        bit = BIT[game.at[emperor]]
        if bit == 0:
            total += weights.away
        elif game.revolts & bit:
            total += weights.on_revolt
        elif path & bit:
            total += weights.in_the_path
    return total


@jit
def of_supplies(game: GameRecord, weights: Weights) -> float:
    """R4.5, R6.3: return the terms of tokens still to place, and of those that protect provinces."""
    total, supply = 0.0, 0
    for emperor in range(4):
        supply += game.supply[emperor]
        if game.supply[emperor] == 0:
            total += weights.empty_supply
    total += weights.supply * supply + weights.short * max(0, 6 - count(secured_borders(game)) - supply)
    protected = emperor_tokens(game) & ROMAN_PROVINCES
    total += weights.protected * count(protected)
    walls = 0
    while protected:
        space = first_of(protected)
        protected ^= BIT[space]
        walls += count(LINKED[space] & (game.unrest | game.revolts))
    return total + weights.walls * walls


@jit
def distance(game: GameRecord, emperor: int, goal: int) -> int:
    """Return the IP cost from an Emperor to a space; off the board, from the space where he arrives."""
    joined = 1 if game.variants & MARE_NOSTRVM else 0
    if game.at[emperor] < OFF:
        return DISTANCES[joined, game.fleets, game.at[emperor], goal]
    return ARRIVAL_DISTANCES[joined, game.fleets, emperor, goal]


@jit
def of_distances(game: GameRecord, weights: Weights) -> float:
    """Return the terms of the distances from the Emperors to their goals."""
    total = 0.0
    for army in range(3):
        if game.army_at[army] != OFF:
            total += weights.army_unmet * nearest(game, game.army_at[army], False)
    work = game.revolts | BORDERS & ~secured_borders(game)
    for emperor in range(4):
        weight = weights.first_idle if emperor == game.emperor else weights.others_idle
        total += weight * idle(game, emperor, work)
    left = BORDERS & ~secured_borders(game) & ~armies(game)
    while left:
        space = first_of(left)
        left ^= BIT[space]
        total += weights.border_unmet * nearest(game, space, True)
    left = game.revolts
    while left:
        space = first_of(left)
        left ^= BIT[space]
        total += weights.revolt_unmet * nearest(game, space, False)
    return total


@jit
def idle(game: GameRecord, emperor: int, work: int) -> int:
    """Return the IP cost from an Emperor to the nearest of these spaces."""
    least = FAR
    while work:
        space = first_of(work)
        work ^= BIT[space]
        least = min(least, distance(game, emperor, space))
    return least


@jit
def nearest(game: GameRecord, space: int, needs_token: bool) -> int:
    """Return the IP cost to this space from the nearest Emperor, or from the nearest one who has a token."""
    least = FAR
    for emperor in range(4):
        if game.supply[emperor] > 0 or not needs_token:
            least = min(least, distance(game, emperor, space))
    return least
