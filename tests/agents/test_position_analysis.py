"""Tests of position analysis: calibrated win probabilities, the most likely actions, and advice."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from helpers.positions import position  # noqa: E402
from tetrarchia_agents.cards import CHECKPOINTS  # noqa: E402
from tetrarchia_agents.chance_samples import NUM_ROLLS, play_again, play_once, stratified_rngs, turn_ends  # noqa: E402
from tetrarchia_agents.position_analysis import Critic, advise, make_critic, top_actions  # noqa: E402
from tetrarchia_agents.values import CALIBRATION, log_odds, logistic  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.constants import ACTIONS  # noqa: E402
from tetrarchia_env.engine.combat import odds  # noqa: E402
from tetrarchia_env.engine.state import OFF  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.notation import action_id  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402

FIVE_BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "LIBYA")
ATTACK = {"emperors": {"diocletian": "LVSITANIA"}, "armies": [["CARTHAGINENSIS", "I", "army"]]}


@pytest.fixture(scope="module")
def critic() -> Critic:
    return make_critic("ppo")


def some_games(steps: int = 12) -> batch.Games:
    games, masks = batch.new_games(Options(), range(6))
    batch.playout(games, masks, batch.rng_states(np.arange(6, dtype=np.uint64)), steps)
    return games[~batch.is_over(games)]


def test_a_finished_game_has_win_probability_0_or_1(critic: Critic) -> None:
    games, masks = batch.new_games(Options(level="4200"), range(40))
    batch.playout(games, masks, batch.rng_states(np.arange(40, dtype=np.uint64)), 10_000)

    assert critic.win_probabilities(games).tolist() == batch.is_won(games).tolist()


def test_win_probabilities_do_not_depend_on_the_batch(critic: Critic) -> None:
    games = some_games()

    together = critic.win_probabilities(games)

    assert ((together > 0) & (together < 1)).all()
    alone = [critic.win_probabilities(games[k : k + 1])[0] for k in range(len(games))]
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_an_easier_level_has_a_higher_win_probability(critic: Critic) -> None:
    easy, hard = (batch.new_games(Options(level=level), range(50))[0] for level in ("5300", "4222"))

    assert critic.win_probabilities(easy).mean() > critic.win_probabilities(hard).mean() + 0.2


def test_top_actions_are_legal_and_sorted_by_policy_probability(critic: Critic) -> None:
    games = some_games()
    masks = batch.legal_masks(games)

    found = top_actions(critic.agent, games, ACTIONS)

    chosen = critic.agent.act(games, masks, np.arange(len(games)))
    for row, likeliest in enumerate(found):
        assert {action for action, _ in likeliest} <= set(np.flatnonzero(masks[row]).tolist())
        assert sum(probability for _, probability in likeliest) == pytest.approx(1, abs=1e-4)
        assert [probability for _, probability in likeliest] == sorted((p for _, p in likeliest), reverse=True)
        assert likeliest[0][0] == chosen[row]


def test_every_roll_of_the_first_two_dice_occurs_equally_often() -> None:
    games = some_games()
    rngs = stratified_rngs(games, 2 * NUM_ROLLS)

    six = np.ones((rngs.size, 6), dtype=np.int8)
    after = rngs.ravel()
    ways = 6 * batch.random_actions(six, after) + batch.random_actions(six, after)

    assert (np.apply_along_axis(np.bincount, 1, ways.reshape(rngs.shape), minlength=NUM_ROLLS) == 2).all()


def test_the_mean_over_the_rolls_of_an_attack_is_exact() -> None:
    game, attack = position(**ATTACK), np.array([action_id("attack CARTHAGINENSIS")])

    played = play_again(game, attack, stratified_rngs(game, 8 * NUM_ROLLS))

    beaten = (played["army_at"] == OFF).all(axis=1)
    assert beaten.sum() == 8 * odds(game[0], 0, int(game["army_at"][0][0]))[0]


def test_the_turn_is_completed_with_each_set_of_dice(critic: Critic) -> None:
    games = some_games()
    actions = critic.choose(games)

    ends = turn_ends(games, actions, critic.choose, NUM_ROLLS)

    assert ends.shape == (len(games), NUM_ROLLS)
    assert ((ends["turn"] == games["turn"][:, np.newaxis] + 1) | batch.is_over(ends)).all()
    assert len({end.tobytes() for end in ends[0]}) > NUM_ROLLS // 2


def test_the_value_of_an_action_that_ends_the_game_is_the_outcome(critic: Critic) -> None:
    game = position(emperors={"diocletian": "PERSIA"}, tokens=dict.fromkeys(FIVE_BORDERS, "maximian"), supply={"maximian": 0})

    assert critic.action_values(game, np.array([action_id("secure")])).tolist() == [1.0]


def test_following_the_policy_without_dice_keeps_the_action_value(critic: Critic) -> None:
    games = some_games(5)
    actions = critic.choose(games)
    after = play_once(games, actions)
    still = (after["dice"] == games["dice"]) & ~batch.is_over(after)
    assert still.any()

    now, later = critic.action_values(games[still], actions[still]), critic.action_values(after[still], critic.choose(after[still]))

    np.testing.assert_allclose(now, later, atol=1e-5)


def test_advice_contains_the_win_probability_after_each_action(critic: Critic) -> None:
    games = some_games()

    advice = advise(critic, games)

    for row, found in enumerate(advice):
        assert 1 <= len(found) <= 3
        assert found[0].change == 0
        for one in found:
            assert one.win_probability == pytest.approx(critic.action_values(games[row : row + 1], np.array([one.action]))[0], abs=1e-5)
            assert one.change == pytest.approx(one.win_probability - found[0].win_probability)
            assert action_id(one.text) == one.action


def test_advice_does_not_change_the_games(critic: Critic) -> None:
    games = some_games()
    before = games.copy()

    assert advise(critic, games) == advise(critic, games)

    assert games.tobytes() == before.tobytes()


def test_log_odds_inverts_logistic_and_clips_fractions() -> None:
    np.testing.assert_allclose(logistic(log_odds(np.array([0.02, 0.5, 0.98]))), [0.02, 0.5, 0.98])
    assert np.isfinite(log_odds(np.array([-3.0, 0.0, 1.0, 7.0]))).all()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CHECKPOINTS / "ppo", tmp_path / "mine"))


def test_a_missing_calibration_is_refused(checkpoint: Path) -> None:
    (checkpoint / CALIBRATION).unlink()

    with pytest.raises(TetrarchiaError, match=r"has no calibration, .*: run python -m tetrarchia_train.calibrate mine$"):
        make_critic(f"ppo:{checkpoint}")


def test_the_calibration_of_other_weights_is_refused(checkpoint: Path) -> None:
    kept = json.loads((checkpoint / CALIBRATION).read_text())
    (checkpoint / CALIBRATION).write_text(json.dumps(kept | {"weights_sha256": "0" * 64}))

    with pytest.raises(TetrarchiaError, match="fitted to other weights: run python"):
        make_critic(f"ppo:{checkpoint}")


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 9000, '{"format": 2}', "\x00"])
def test_a_damaged_calibration_is_refused(checkpoint: Path, text: str) -> None:
    (checkpoint / CALIBRATION).write_text(text)

    with pytest.raises(TetrarchiaError, match=r"calibration.json cannot be read \(.*\): run python"):
        make_critic(f"ppo:{checkpoint}")


def test_an_agent_without_a_network_has_no_critic() -> None:
    with pytest.raises(TetrarchiaError, match="'greedy' has no network"):
        make_critic("greedy")
