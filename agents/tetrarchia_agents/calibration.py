"""From a critic's value to the chance to win: Platt scaling, kept beside the weights that it was fitted to.

A critic learns the terminal reward to come, which is less the later it comes, of a policy that still explores; neither is a
probability. Platt (Probabilistic outputs for support vector machines, 1999) fits the logistic function that makes one of it:
`python -m tetrarchia_train.calibrate NAME`.
"""

import json
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from tetrarchia_env.batch import Games
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import read_bounded, write_text_atomic
from tetrarchia_env.schema import checked, sanitize_line

CALIBRATION = "calibration.json"
LARGEST = 100_000  # bytes
CERTAIN = 0.01  # a share of a win nearer to 0 or 1 than this tells no more: the critic is not that exact
Amounts = NDArray[np.float64]
Finite = Annotated[float, Meta(ge=-1000, le=1000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=10**12)]


class Reliable(Struct, frozen=True, forbid_unknown_fields=True):
    """Held-out positions that were given about the same chance, and how many of them were won."""

    positions: Count
    given: Share  # in the mean
    won: Share


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """What a checkpoint's value means, and how well that held in games that it was not fitted to."""

    format: Literal[1]  # of this file
    weights: str  # digest of the file that it was fitted to
    win: Finite  # the reward that the critic has learned
    loss: Finite
    turn_discount: Share
    shaping_coef: Finite
    slope: Finite
    intercept: Finite
    games: Count  # fitted to; as many were held out
    first_seed: Count
    positions: Count  # held out
    brier: Share
    uncalibrated_brier: Share
    brier_by_level: dict[str, Share]
    reliability: tuple[Reliable, ...]

    @property
    def reward(self) -> ShapedReward:
        """What the critic was trained on."""
        return ShapedReward(win=self.win, loss=self.loss, turn_discount=self.turn_discount, shaping_coef=self.shaping_coef)

    def win_probabilities(self, shares: Amounts) -> Amounts:
        """Of positions of which the critic expects these shares of a win."""
        return logistic(self.intercept + self.slope * log_odds(shares))


def shares_of_a_win(games: Games, values: NDArray[np.floating], reward: ShapedReward) -> Amounts:
    """What the critic expects as a share between a loss and a win now: about 0 to 1, less than the chance since wins come later."""
    expected = values + reward.shaping_coef * reward.potential(games)
    return np.asarray((expected - reward.loss) / (reward.win * reward.turn_discount ** games["turn"] - reward.loss), dtype=np.float64)


def log_odds(shares: Amounts) -> Amounts:
    """Of shares, which a critic may also find below 0 or above 1."""
    inside = np.clip(shares, CERTAIN, 1 - CERTAIN)
    return np.asarray(np.log(inside / (1 - inside)))


def logistic(logits: Amounts) -> Amounts:
    """The probability of log-odds."""
    return np.asarray(1 / (1 + np.exp(-logits)))


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Beside the weights."""
    write_text_atomic(folder / CALIBRATION, json.dumps(msgspec.to_builtins(calibration), indent=1) + "\n")


def read_calibration(folder: Path, weights: str) -> Calibration:
    """Of the weights with this digest; ValueError, in a sentence that says what to run, if there is none."""
    path, mend = folder / CALIBRATION, f"run python -m tetrarchia_train.calibrate {folder.name}"
    if not path.is_file():
        raise TetrarchiaError(f"checkpoint {folder}: its value has not been calibrated, so it tells no chance to win: {mend}")
    try:
        data = json.loads(read_bounded(path, LARGEST).decode("utf-8"))
        calibration = checked(data, Calibration, "")
    except (OSError, ValueError, RecursionError) as error:
        raise TetrarchiaError(f"checkpoint {folder}: {CALIBRATION} cannot be read ({sanitize_line(str(error))}): {mend}") from None
    if calibration.weights != weights:
        raise TetrarchiaError(f"checkpoint {folder}: {CALIBRATION} was fitted to other weights than it has now: {mend}")
    return calibration
