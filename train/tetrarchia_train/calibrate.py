"""Fit what a checkpoint's value says of the chance to win: `python -m tetrarchia_train.calibrate NAME [GAMES]`.

The checkpoint plays games by the rules and levels that it was trained on, with seeds of their own. Platt scaling
(`tetrarchia_agents.values`) is fitted to every position of one half of them and measured on the other: by Brier's score
(Verification of forecasts expressed in terms of probability, 1950) and by how often positions that were given about the same
chance were won. Every position up to turn 100 counts alike: a weight by the length of its game would tell how the game ended.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents.cards import read_card
from tetrarchia_agents.checkpoints import checkpoint_folder
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_agents.values import (
    Calibration,
    Float64s,
    ReliabilityBin,
    log_odds,
    logistic,
    win_fraction,
    write_calibration,
)
from tetrarchia_env import batch
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.learner import linear_schedule, training_reward
from tetrarchia_train.rule_sets import with_levels

FIRST_SEED = 1 << 32  # apart from those of training, of its evaluations and of measuring
GAMES = 12_000
LAST_TURN = 100  # positions of later turns are left out: few games come there, and most of these stand still until they are truncated
NEWTON_STEPS = 25  # the fit is convex: it stands still after about eight
BINS = 10
NAMED = 0.1  # a level has a figure of its own if it has this share of the positions
OTHERS = "others"
# What a card's options must still mean; others may have gone since it was written.
TOLD = (
    *("levels", "focus", "focus_share", "rules", "actions", "total_timesteps", "max_minutes"),
    *("turn_discount", "final_turn_discount", "shaping_coef"),
)


@dataclass(frozen=True)
class Positions:
    """All that came in some games, in no order."""

    shares: Float64s  # of a win that the critic expected
    won: Float64s  # 1 if the game was
    games: NDArray[np.int64]  # which of them
    levels: NDArray[np.str_]


def calibrate(name: str | Path, games: int = GAMES) -> Calibration:
    """Play, fit and measure."""
    if games < 2:
        raise TetrarchiaError(f"games: at least 2, one to fit and one to measure, not {games}")
    folder = checkpoint_folder(name)
    agent, card = PPOAgent(str(folder)), read_card(folder)
    config, reward = trained_on(card)
    parts = np.array_split(np.arange(FIRST_SEED, FIRST_SEED + games, dtype=np.uint64), len(config.rules))
    rules = [Options.of(**with_levels(one, config.drawn_levels)) for one in config.rules]
    played = [play(agent, reward, one, seeds) for one, seeds in zip(rules, parts, strict=True) if len(seeds)]
    return measured(agent.digest, reward, *halves(together(played)), games)


def trained_on(card: dict[str, Any]) -> tuple[TrainConfig, ShapedReward]:
    """The options of the run that made a checkpoint, and its reward as it was at the end."""
    try:
        made = card["training"]
        config = TrainConfig().changed({name: made["options"][name] for name in TOLD if name in made["options"]})
        by_time = made["seconds"] / 60 / config.max_minutes if config.max_minutes else 0.0
        progress = min(1.0, max(made["timesteps"] / config.total_timesteps, by_time))
    except (KeyError, TypeError):
        raise TetrarchiaError("the checkpoint's card does not tell how it was trained, so its value cannot be read") from None
    reward = training_reward(config)
    reward.turn_discount = linear_schedule(config.turn_discount, config.final_turn_discount, progress)
    return config, reward


def play(agent: PPOAgent, reward: ShapedReward, options: Options, seeds: NDArray[np.uint64]) -> Positions:
    """A game for each seed, by the likeliest actions."""
    games, masks = batch.new_games(options, seeds)
    shares, rows_of = [], []

    def act(running: batch.Games, legal: batch.Masks, rows: batch.Rows) -> NDArray[np.int64]:
        log_probs, values = agent.evaluate(running, legal)
        counted = running["turn"] <= LAST_TURN
        shares.append(win_fraction(running, values, reward)[counted])
        rows_of.append(rows[counted])
        best: NDArray[np.int64] = log_probs.argmax(axis=1)
        return best

    batch.play_to_end(games, masks, act)
    rows, levels = np.concatenate(rows_of), np.array(["".join(map(str, level)) for level in games["level"]])
    return Positions(np.concatenate(shares), batch.is_won(games)[rows].astype(np.float64), seeds[rows].astype(np.int64), levels[rows])


def together(parts: list[Positions]) -> Positions:
    """The positions of all rules."""
    return Positions(*(np.concatenate([getattr(part, name) for part in parts]) for name in Positions.__annotations__))


def halves(positions: Positions) -> tuple[Positions, Positions]:
    """The positions of every second game, and those of the others."""
    return _those(positions, positions.games % 2 == 0), _those(positions, positions.games % 2 == 1)


def _those(positions: Positions, rows: NDArray[np.bool_]) -> Positions:
    return Positions(*(getattr(positions, name)[rows] for name in Positions.__annotations__))


def fit(shares: Float64s, won: Float64s) -> tuple[float, float]:
    """Slope and intercept of the likeliest logistic function, by Newton's method."""
    inputs, found = np.stack([log_odds(shares), np.ones_like(shares)]), np.array([1.0, 0.0])
    for _ in range(NEWTON_STEPS):
        chances = logistic(found @ inputs)
        hessian = (inputs * (chances * (1 - chances))) @ inputs.T + 1e-6 * np.eye(2)  # a little more, if all were won
        found = found + np.linalg.solve(hessian, inputs @ (won - chances))
    return float(found[0]), float(found[1])


def measured(digest: str, reward: ShapedReward, fitted: Positions, held_out: Positions, games: int) -> Calibration:
    """The calibration by the first positions, and what it is like in the others."""
    slope, intercept = fit(fitted.shares, fitted.won)
    chances = logistic(intercept + slope * log_odds(held_out.shares))
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
        positions=len(chances),
        brier=brier(chances, held_out.won),
        uncalibrated_brier=brier(np.clip(held_out.shares, 0, 1), held_out.won),
        brier_by_level=brier_by_level(chances, held_out),
        reliability=reliability(chances, held_out.won),
    )


def brier(chances: Float64s, won: Float64s) -> float:
    """The mean squared error."""
    return round(float(np.mean((chances - won) ** 2)), 5)


def brier_by_level(chances: Float64s, held_out: Positions) -> dict[str, float]:
    """Of levels that came often, and of all others together."""
    names, counts = np.unique(held_out.levels, return_counts=True)
    often = names[counts >= NAMED * len(chances)]
    labels = np.where(np.isin(held_out.levels, often), held_out.levels, OTHERS)
    return {str(label): brier(chances[labels == label], held_out.won[labels == label]) for label in np.unique(labels)}


def reliability(chances: Float64s, won: Float64s) -> tuple[ReliabilityBin, ...]:
    """In bins of equal width."""
    bins = np.minimum((chances * BINS).astype(np.int64), BINS - 1)
    rows = [np.flatnonzero(bins == number) for number in range(BINS)]
    return tuple(
        ReliabilityBin(len(one), round(float(chances[one].mean()), 4), round(float(won[one].mean()), 4)) for one in rows if len(one)
    )


def table(found: Calibration) -> str:
    """What was found, to be read."""
    by_level = ", ".join(f"{level} {score:.4f}" for level, score in found.brier_by_level.items())
    lines = [
        f"chance to win = logistic({found.intercept:+.3f} {found.slope:+.3f} x log-odds of the share of a win)",
        f"held out: {found.positions} positions; Brier score {found.brier:.4f}, uncalibrated {found.uncalibrated_brier:.4f}",
        f"by level: {by_level}",
        "predicted    won  positions",
    ]
    return "\n".join([*lines, *(f"{one.predicted:9.1%} {one.won:6.1%} {one.positions:10d}" for one in found.reliability)])


def main() -> None:
    """The command."""
    try:
        match sys.argv[1:]:
            case [name]:
                games = GAMES
            case [name, number] if number.isdecimal():
                games = int(number)
            case _:
                raise TetrarchiaError("give a checkpoint, and how many games: python -m tetrarchia_train.calibrate ppo 12000")
        found = calibrate(name, games)
        write_calibration(checkpoint_folder(name), found)
        print(table(found))
    except ValueError as error:
        print(f"calibrate: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
