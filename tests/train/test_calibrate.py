"""Tests of calibration: the fit, its evaluation on held-out games, and the calibration files of checkpoints."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tetrarchia_agents.cards import CHECKPOINTS, read_card, shipped_checkpoints  # noqa: E402
from tetrarchia_agents.checkpoints import save_checkpoint  # noqa: E402
from tetrarchia_agents.network import make_network  # noqa: E402
from tetrarchia_agents.values import log_odds, logistic, read_calibration, write_calibration  # noqa: E402
from tetrarchia_env.envs.rewards import ShapedReward  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_train.calibrate import FIRST_SEED, Positions, brier, calibrate, fit, fit_calibration, reliability, training_of  # noqa: E402
from tetrarchia_train.config import TrainConfig  # noqa: E402


def synthetic_positions(number: int, slope: float, intercept: float) -> Positions:
    """Return one position per game, with outcomes drawn from a logistic model with this slope and intercept."""
    rng = np.random.default_rng(7)
    shares = rng.uniform(0.02, 0.98, number)
    won = (rng.uniform(size=number) < logistic(intercept + slope * log_odds(shares))).astype(np.float64)
    return Positions(shares, won, np.arange(number), np.full(number, "4211"))


def test_fit_recovers_the_true_slope_and_intercept() -> None:
    positions = synthetic_positions(40_000, slope=1.4, intercept=-0.6)

    assert fit(positions.fractions, positions.won) == pytest.approx((1.4, -0.6), abs=0.05)


def test_fit_is_finite_if_all_games_are_won() -> None:
    slope, intercept = fit(np.array([0.4, 0.6, 0.9]), np.ones(3))

    assert np.isfinite([slope, intercept]).all()


def test_calibrated_probabilities_are_reliable_and_improve_the_brier_score() -> None:
    found = fit_calibration("0" * 64, ShapedReward(win=2.0, loss=0.0), *synthetic_positions(40_000, 1.4, -0.6).split(), games=40_000)

    assert found.brier < found.uncalibrated_brier
    assert found.positions == found.games == 20_000
    assert all(abs(one.predicted - one.won) < 0.05 for one in found.reliability)
    assert found.brier_by_level == {"4211": found.brier}


def test_split_puts_each_game_in_one_half() -> None:
    fitted, held_out = synthetic_positions(100, 1.0, 0.0).split()

    assert not set(fitted.games) & set(held_out.games)


def test_brier_score_is_the_mean_squared_error() -> None:
    assert brier(np.array([1.0, 0.5, 0.0]), np.array([1.0, 1.0, 1.0])) == pytest.approx(1.25 / 3, abs=1e-5)
    assert [one.positions for one in reliability(np.array([0.05, 0.06, 1.0]), np.array([0.0, 1.0, 1.0]))] == [2, 1]


@pytest.mark.parametrize("name", [name for name in shipped_checkpoints() if name.startswith("ppo")])
def test_every_card_contains_the_reward_of_its_critic(name: str) -> None:
    config, reward = training_of(read_card(CHECKPOINTS / name))

    first, last = sorted((config.turn_discount, config.final_turn_discount))
    assert first <= reward.turn_discount <= last
    assert (reward.win, reward.loss) == (2.0, 0.0)


def test_the_shipped_calibration_matches_the_shipped_weights_and_has_enough_games() -> None:
    found = read_calibration(CHECKPOINTS / "ppo", read_card(CHECKPOINTS / "ppo")["weights_sha256"])

    assert found.games >= 1000
    assert found.first_seed == FIRST_SEED
    assert found.brier < found.uncalibrated_brier
    assert all(abs(one.predicted - one.won) < 0.1 for one in found.reliability)


def test_a_card_without_training_options_is_refused() -> None:
    with pytest.raises(TetrarchiaError, match="does not say how it was trained"):
        training_of({"training": {}})


@pytest.mark.slow
def test_the_command_calibrates_a_checkpoint_of_a_run(tmp_path: Path) -> None:
    torch.manual_seed(1)
    config = TrainConfig(network="mlp", hidden_dim=16, levels="4200", max_minutes=0.0)
    made = {"timesteps": 1, "seconds": 1, "options": config.as_data()}
    save_checkpoint(tmp_path / "mine", make_network(config.network_config), config.network_config, {"training": made})

    found = calibrate(tmp_path / "mine", 20)
    write_calibration(tmp_path / "mine", found)

    assert read_calibration(tmp_path / "mine", read_card(tmp_path / "mine")["weights_sha256"]) == found
    assert found.games == 10
