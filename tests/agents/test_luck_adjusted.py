"""Tests of luck-adjusted analysis: choices and luck sum to the result, and luck has mean 0 and is 0 without dice rolls."""

from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from helpers.random_games import random_replay  # noqa: E402
from tetrarchia_agents.chance_samples import NUM_ROLLS  # noqa: E402
from tetrarchia_agents.luck_adjusted import analyze, analyze_replay, replay_positions  # noqa: E402
from tetrarchia_agents.position_analysis import Critic, make_critic  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.board import EMPERORS  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.game_analysis import GameAnalysis  # noqa: E402
from tetrarchia_env.local_view import LocalOptions  # noqa: E402
from tetrarchia_env.notation import Replay, action_id, record_replay  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402

RANDOM = random_replay(Options(), 11, 1000)


@cache
def critic() -> Critic:
    return make_critic("ppo")


@cache
def analysis() -> GameAnalysis:
    return analyze_replay(critic(), RANDOM, NUM_ROLLS)


def policy_games(seeds: range) -> list[Replay]:
    """Return complete games played by the policy, one per seed."""
    games, masks = batch.new_games(Options(level="4222"), seeds)
    played: list[list[int]] = [[] for _ in seeds]

    def act(running: batch.Games, _: batch.Masks, rows: batch.Rows) -> batch.Rows:
        actions = critic().choose(running)
        for row, action in zip(rows, actions.tolist(), strict=True):
            played[row].append(action)
        return actions

    batch.play_to_end(games, masks, act)
    return [record_replay(Options(level="4222"), seed, actions) for seed, actions in zip(seeds, played, strict=True)]


def test_choices_and_luck_sum_to_the_outcome_minus_the_initial_win_probability() -> None:
    found = analysis()

    assert RANDOM.final["outcome"] == "rome fell"
    total = sum(one.choice for one in found.decisions) + sum(one.luck for one in found.decisions)
    assert total == pytest.approx(0 - found.win_probabilities[0], abs=1e-12)
    assert sum(turn.choice + turn.luck for turn in found.turns) == pytest.approx(total, abs=1e-12)


def test_every_decision_and_turn_is_included() -> None:
    found = analysis()

    assert [one.action for one in found.decisions] == [text for _, text in RANDOM.actions]
    assert [turn.number for turn in found.turns] == list(range(9))
    assert [turn.emperor for turn in found.turns] == [EMPERORS[k % 4] for k in range(9)]
    assert len(found.win_probabilities) == len(RANDOM.actions) + 1


def test_luck_is_nonzero_only_if_dice_are_rolled() -> None:
    positions = replay_positions(RANDOM)
    rolled = positions["dice"][1:] != positions["dice"][:-1]

    luck = np.array([one.luck for one in analysis().decisions])

    assert (luck[~rolled] == 0).all()
    assert (luck[rolled][:-1] != 0).all()  # Rome falls with any result of the last roll


def test_the_worst_decisions_have_the_highest_regret() -> None:
    found = analysis()

    regrets = [one.regret for one in found.decisions]
    assert len(found.worst) == 3
    assert [regrets[place] for place in found.worst] == sorted(regrets, reverse=True)[:3]
    for place in found.worst:
        assert found.decisions[place].best.text != found.decisions[place].action


def test_analysis_of_a_part_equals_that_of_the_full_game() -> None:
    positions, actions = replay_positions(RANDOM), np.array([action_id(text) for _, text in RANDOM.actions])

    some = analyze(critic(), positions[8:15], actions[8:14], NUM_ROLLS)

    for one, same in zip(some.decisions, analysis().decisions[8:14], strict=True):
        assert (one.choice, one.luck) == pytest.approx((same.choice, same.luck), abs=1e-5)


def test_mismatched_numbers_of_actions_and_positions_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="2 actions need 3 positions; got 2"):
        analyze(critic(), replay_positions(RANDOM)[:2], np.array([8, 9]))


@pytest.mark.thorough
def test_luck_has_mean_0_and_explains_most_of_the_outcome() -> None:
    found = [analyze_replay(critic(), replay, NUM_ROLLS) for replay in policy_games(range(1 << 32, (1 << 32) + 48))]

    luck = np.array([sum(turn.luck for turn in one.turns) for one in found])
    change = np.array([one.win_probabilities[-1] - one.win_probabilities[0] for one in found])
    each = np.array([turn.luck for one in found for turn in one.turns])

    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))
    assert abs(each.mean()) < 4 * each.std() / np.sqrt(len(each))
    assert (change - luck).var() < change.var() / 2


def test_messages_do_not_change_the_win_probability_within_a_turn() -> None:
    """A message may be the last action of a turn; the dice that then follow are luck."""
    replay = random_replay(Options(), 11, 40, LocalOptions(2, message_tokens=3))

    found = analyze_replay(critic(), replay, NUM_ROLLS).decisions

    said = [row for row, one in enumerate(found) if one.action.startswith("say")]
    assert len(found) == 40
    assert {found[row].turn == found[row + 1].turn for row in said} == {True, False}
    for row in said:
        if row and found[row - 1].turn == found[row].turn:
            assert found[row].choice == pytest.approx(0, abs=0.02)  # up to other dice samples
        if found[row + 1].turn == found[row].turn:
            assert found[row].luck == 0
