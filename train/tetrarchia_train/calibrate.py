"""Calibration of a checkpoint's value as a win probability: `python -m tetrarchia_train.calibrate NAME [GAMES]`.

The checkpoint plays games with the rules and levels that it was trained on, with separate seeds. Platt scaling
(`tetrarchia_agents.values`) is fitted to every position of one half of the games and evaluated on the other half, by the Brier score
(Brier, Verification of forecasts expressed in terms of probability, 1950) and by reliability: how often positions with about the same
predicted probability were won. Every position up to turn 100 has the same weight, because a weight by the length of its game would reveal
the outcome.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.cards import find_checkpoint, read_card
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_agents.values import (
    Calibration,
    Float64s,
    ReliabilityBin,
    check_value,
    log_odds,
    logistic,
    shaped_reward,
    win_fraction,
    write_calibration,
)
from tetrarchia_env import batch
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.ppo import linear_schedule

FIRST_SEED = 1 << 32  # different from the seeds of training, of its evaluations and of published results
DEFAULT_GAMES = 12_000
LAST_TURN = 100  # later positions are left out: few games are that long, and most of these are truncated
NEWTON_STEPS = 25  # the fit is convex and converges in about eight
BINS = 10
MIN_LEVEL_SHARE = 0.1  # a level with at least this fraction of the positions is reported separately
OTHER_LEVELS = "others"
# Options of a card that are used here; a card may have others that no longer exist.
NEEDED_OPTIONS = (
    *("levels", "focus", "focus_share", "rules", "actions", "total_timesteps", "max_minutes"),
    *("turn_discount", "final_turn_discount", "shaping_coef", "task", "revolts", "secured"),
)


@dataclass(frozen=True)
class Positions:
    """The positions of some games, in no particular order."""

    fractions: Float64s  # expected fraction of a win, by the critic
    won: Float64s  # 1 if the game was won
    games: NDArray[np.int64]  # seed of the game
    levels: NDArray[np.str_]

    @classmethod
    def concatenate(cls, parts: Sequence["Positions"]) -> "Positions":
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__annotations__))

    def split(self) -> tuple["Positions", "Positions"]:
        """Return the positions of games with even seeds, and of those with odd seeds."""
        even = self.games % 2 == 0
        first, second = (Positions(*(getattr(self, name)[rows] for name in Positions.__annotations__)) for rows in (even, ~even))
        return first, second


def calibrate(name: str | Path, games: int = DEFAULT_GAMES) -> Calibration:
    """Play games with a checkpoint and fit its calibration.

    Args:
        name: The checkpoint.
        games: Number of games; half of them are held out.

    Returns:
        The calibration, with its scores on the held-out games.

    Raises:
        TetrarchiaError: If there are too few games, or the checkpoint does not say how it was trained.
    """
    if games < 2:
        raise TetrarchiaError(f"games must be at least 2, one to fit and one to evaluate; got {games}")
    folder = find_checkpoint(name)
    card = read_card(folder)
    check_value(card, str(name))
    agent, (config, reward) = PPOAgent(str(folder)), training_of(card)
    parts = np.array_split(np.arange(FIRST_SEED, FIRST_SEED + games, dtype=np.uint64), len(config.rules))
    played = [play(agent, reward, one, seeds) for one, seeds in zip(config.game_options, parts, strict=True) if len(seeds)]
    return fit_calibration(agent.digest, reward, *Positions.concatenate(played).split(), games)


def training_of(card: dict[str, Any]) -> tuple[TrainConfig, ShapedReward]:
    """Return the configuration of the run that produced a checkpoint, and its reward at the end.

    Raises:
        TetrarchiaError: If the card does not have them.
    """
    try:
        training = card["training"]
        config = TrainConfig().with_overrides({name: training["options"][name] for name in NEEDED_OPTIONS if name in training["options"]})
        progress = config.progress(training["timesteps"], training["seconds"])
    except (KeyError, TypeError):
        raise TetrarchiaError("the checkpoint's card does not say how it was trained, so its value cannot be interpreted") from None
    reward = shaped_reward(config.turn_discount, config.shaping_coef)
    reward.turn_discount = linear_schedule(config.turn_discount, config.final_turn_discount, progress)
    return config, reward


def play(agent: PPOAgent, reward: ShapedReward, options: Options, seeds: NDArray[np.uint64]) -> Positions:
    """Play one game per seed with the agent's most likely actions, and return the positions."""
    games, masks = batch.new_games(options, seeds)
    fractions, rows_of = [], []

    def act(running: batch.Games, legal: batch.Masks, rows: batch.Rows) -> NDArray[np.int64]:
        log_probs, values = agent.evaluate(running, legal)
        counted = running["turn"] <= LAST_TURN
        fractions.append(win_fraction(running, values, reward)[counted])
        rows_of.append(rows[counted])
        best: NDArray[np.int64] = log_probs.argmax(axis=1)
        return best

    batch.play_to_end(games, masks, act)
    rows, levels = np.concatenate(rows_of), np.array(["".join(map(str, level)) for level in games["level"]])
    return Positions(np.concatenate(fractions), batch.is_won(games)[rows].astype(np.float64), seeds[rows].astype(np.int64), levels[rows])


def fit(fractions: Float64s, won: Float64s) -> tuple[float, float]:
    """Return slope and intercept of the logistic function with maximum likelihood, by Newton's method."""
    inputs, found = np.stack([log_odds(fractions), np.ones_like(fractions)]), np.array([1.0, 0.0])
    for _ in range(NEWTON_STEPS):
        probabilities = logistic(found @ inputs)
        hessian = (inputs * (probabilities * (1 - probabilities))) @ inputs.T + 1e-6 * np.eye(2)  # regularized, in case all were won
        found = found + np.linalg.solve(hessian, inputs @ (won - probabilities))
    return float(found[0]), float(found[1])


def fit_calibration(digest: str, reward: ShapedReward, fitted: Positions, held_out: Positions, games: int) -> Calibration:
    """Fit a calibration to some positions and evaluate it on others."""
    slope, intercept = fit(fitted.fractions, fitted.won)
    probabilities = logistic(intercept + slope * log_odds(held_out.fractions))
    return Calibration(
        format=1,
        weights_sha256=digest,
        win=reward.win,
        loss=reward.loss,
        turn_discount=reward.turn_discount,
        shaping_coef=reward.shaping_coef,
        slope=round(slope, 5),
        intercept=round(intercept, 5),
        games=(games + 1) // 2,
        first_seed=FIRST_SEED,
        positions=len(probabilities),
        brier=brier(probabilities, held_out.won),
        uncalibrated_brier=brier(np.clip(held_out.fractions, 0, 1), held_out.won),
        brier_by_level=brier_by_level(probabilities, held_out),
        reliability=reliability(probabilities, held_out.won),
    )


def brier(probabilities: Float64s, won: Float64s) -> float:
    """Return the Brier score, the mean squared error."""
    return round(float(np.mean((probabilities - won) ** 2)), 5)


def brier_by_level(probabilities: Float64s, held_out: Positions) -> dict[str, float]:
    """Return the Brier score of each frequent level, and of all others together."""
    names, counts = np.unique(held_out.levels, return_counts=True)
    frequent = names[counts >= MIN_LEVEL_SHARE * len(probabilities)]
    labels = np.where(np.isin(held_out.levels, frequent), held_out.levels, OTHER_LEVELS)
    return {str(label): brier(probabilities[labels == label], held_out.won[labels == label]) for label in np.unique(labels)}


def reliability(probabilities: Float64s, won: Float64s) -> tuple[ReliabilityBin, ...]:
    """Return predicted and actual win rates in bins of equal width."""
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    rows = [np.flatnonzero(bins == number) for number in range(BINS)]
    return tuple(
        ReliabilityBin(len(one), round(float(probabilities[one].mean()), 4), round(float(won[one].mean()), 4)) for one in rows if len(one)
    )


def table(found: Calibration) -> str:
    """Return a calibration as text."""
    by_level = ", ".join(f"{level} {score:.4f}" for level, score in found.brier_by_level.items())
    lines = [
        f"win probability = logistic({found.intercept:+.3f} {found.slope:+.3f} x log-odds of the win fraction)",
        f"held out: {found.positions} positions; Brier score {found.brier:.4f}, uncalibrated {found.uncalibrated_brier:.4f}",
        f"by level: {by_level}",
        "predicted    won  positions",
    ]
    return "\n".join([*lines, *(f"{one.predicted:9.1%} {one.won:6.1%} {one.positions:10d}" for one in found.reliability)])


def main() -> None:
    """Run the command."""
    try:
        match sys.argv[1:]:
            case [name]:
                games = DEFAULT_GAMES
            case [name, number] if number.isdecimal():
                games = int(number)
            case _:
                raise TetrarchiaError("usage: python -m tetrarchia_train.calibrate NAME [GAMES]")
        found = calibrate(name, games)
        write_calibration(find_checkpoint(name), found)
        print(table(found))
    except TetrarchiaError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
