"""The meaning of a network's value: the reward that it predicts, and its calibration to win probabilities.

The value predicts the terminal reward, which is discounted per turn, under a policy that still explores: it is not a probability.
Platt scaling (Platt, Probabilistic outputs for support vector machines, 1999) fits a logistic function to it, which is stored next
to the weights by `python -m tetrarchia_train.calibrate NAME`.
"""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import read_bounded, write_text_atomic
from tetrarchia_env.schema import sanitize_line, validate

GAMMA = 1.0  # a discount per step would teach to end turns early; the terminal reward is discounted per turn instead
WIN, LOSS = 2.0, 0.0  # a negative reward for losing would teach to delay the end
LEGACY_DEFAULTS = {"final_turn_discount": 0.99, "shaping_coef": 1.0}  # of cards without these options
CALIBRATION = "calibration.json"
MAX_CALIBRATION_BYTES = 100_000
MIN_PROBABILITY = 0.01  # win fractions are clipped to this and its complement
Float64s = NDArray[np.float64]
Coefficient = Annotated[float, Meta(ge=-1000, le=1000)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=10**12)]


def shaped_reward(turn_discount: float, shaping_coef: float) -> ShapedReward:
    """Return the reward for winning, discounted per turn and shaped by the planner's heuristic."""
    return ShapedReward(GAMMA, win=WIN, loss=LOSS, turn_discount=turn_discount, shaping_coef=shaping_coef)


def value_reward(card: dict[str, Any], checkpoint: str) -> ShapedReward:
    """Return the reward at the end of the training of the checkpoint with this card."""
    try:
        options = LEGACY_DEFAULTS | card.get("training", {}).get("options", {})
        return shaped_reward(float(options["final_turn_discount"]), float(options["shaping_coef"]))
    except (AttributeError, TypeError, ValueError) as error:
        raise TetrarchiaError(f"checkpoint {checkpoint!r} is damaged: the options in its card cannot be read ({error})") from None


def check_value(card: dict[str, Any], checkpoint: str) -> None:
    """Raise TetrarchiaError unless the value of this checkpoint was trained, by PPO or from a search, to predict the outcome."""
    training = card.get("training", {})
    if training.get("options", {}).get("reward", "shaped") != "shaped":
        raise TetrarchiaError(
            f"checkpoint {checkpoint!r} was trained with the reward {training['options']['reward']!r}: its value does not predict the "
            "outcome, which ppo:candidates and win probabilities need"
        )
    if "timesteps" not in training and not training.get("num_values"):
        raise TetrarchiaError(
            f"checkpoint {checkpoint!r} has no trained value function, which ppo:candidates needs; choose one trained by PPO"
        )


def win_fraction(games: Games, values: NDArray[np.floating], reward: ShapedReward) -> Float64s:
    """Return the predicted reward as a fraction of that for winning now, about 0 to 1.

    It is below the win probability because wins come later.
    """
    expected = values + reward.shaping_coef * reward.potential(games)
    return np.asarray((expected - reward.loss) / (reward.win * reward.turn_discount ** games["turn"] - reward.loss), dtype=np.float64)


def log_odds(fractions: Float64s) -> Float64s:
    """Return the log-odds of win fractions; a network may also predict fractions below 0 or above 1."""
    inside = np.clip(fractions, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    return np.asarray(np.log(inside / (1 - inside)))


def logistic(logits: Float64s) -> Float64s:
    """Return the probabilities of log-odds."""
    return np.asarray(1 / (1 + np.exp(-logits)))


class ReliabilityBin(Struct, frozen=True, forbid_unknown_fields=True):
    """Held-out positions with similar predicted win probabilities, and the fraction that was won."""

    positions: Count
    predicted: Probability  # mean
    won: Probability


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """The calibration of a checkpoint's value, and its quality in games to which it was not fitted."""

    format: Literal[1]  # of this file
    weights_sha256: str  # of the weights to which it was fitted
    win: Coefficient  # the reward that the value predicts
    loss: Coefficient
    turn_discount: Probability
    shaping_coef: Coefficient
    slope: Coefficient
    intercept: Coefficient
    games: Count  # fitted to; as many were held out
    first_seed: Count
    positions: Count  # held out
    brier: Probability
    uncalibrated_brier: Probability
    brier_by_level: dict[str, Probability]
    reliability: tuple[ReliabilityBin, ...]

    @property
    def reward(self) -> ShapedReward:
        """The reward that the value predicts."""
        return ShapedReward(win=self.win, loss=self.loss, turn_discount=self.turn_discount, shaping_coef=self.shaping_coef)

    def win_probabilities(self, fractions: Float64s) -> Float64s:
        """Return the win probabilities for predicted win fractions, see `win_fraction`."""
        return logistic(self.intercept + self.slope * log_odds(fractions))


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write the calibration into a checkpoint's folder."""
    write_text_atomic(folder / CALIBRATION, json.dumps(msgspec.to_builtins(calibration), indent=1) + "\n")


def read_calibration(folder: Path, weights_sha256: str) -> Calibration:
    """Return the calibration in a checkpoint's folder.

    Raises:
        TetrarchiaError: It is missing, damaged or was fitted to other weights; the message has the command to run.
    """
    path, advice = folder / CALIBRATION, f"run python -m tetrarchia_train.calibrate {folder.name}"
    if not path.is_file():
        raise TetrarchiaError(f"checkpoint {folder} has no calibration, which win probabilities need: {advice}")
    try:
        data = json.loads(read_bounded(path, MAX_CALIBRATION_BYTES).decode("utf-8"))
        calibration = validate(data, Calibration, "")
    except (OSError, ValueError, RecursionError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: {CALIBRATION} cannot be read ({sanitize_line(str(error))}): {advice}") from None
    if calibration.weights_sha256 != weights_sha256:
        raise TetrarchiaError(f"checkpoint {folder}: {CALIBRATION} was fitted to other weights: {advice}")
    return calibration
