"""Checks of game records from files: reachable positions are accepted, others are refused before they reach compiled code."""

import re

import numpy as np
import pytest

from helpers.configurations import ONE_BY_ONE, random_options
from tetrarchia_env import batch
from tetrarchia_env.batch import Games
from tetrarchia_env.checks import check_records
from tetrarchia_env.engine.state import GAME, GONE, OFF, OVER, PIRATES
from tetrarchia_env.engine.validity import LIMITS
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options

VALUES = np.array([-(2**63), -(2**31), -2, -1, *range(60), 2**20, 2**31 - 1, 2**31, 2**47, 2**62, 2**63 - 1])


def random_positions(options: Options, seeds: range, steps: range) -> Games:
    """Return the positions of random games after every third of the given steps."""
    games, masks = batch.new_games(options, np.array(seeds))
    rngs, kept = batch.rng_states(np.array(seeds, dtype=np.uint64)), []
    for number in steps:
        batch.playout(games, masks, rngs, 1)
        if number % 3 == 0:
            kept.append(games.copy())
    return np.concatenate(kept)


def mutated(games: Games, rng: np.random.Generator) -> Games:
    """Return the games with one to three numbers of each record replaced by those of another record or by arbitrary values."""
    words = games.copy().view(np.int64).reshape(len(games), -1)
    for row in words:
        for _ in range(rng.integers(1, 4)):
            column = rng.integers(len(row))
            row[column] = rng.choice(VALUES) if rng.random() < 0.3 else words[rng.integers(len(words)), column]
    return words.reshape(-1).view(GAME)


def is_accepted(game: Games) -> bool:
    try:
        check_records(game, "file")
    except TetrarchiaError as error:
        sentence = str(error)
    else:
        return True
    assert "\n" not in sentence
    return False


def test_every_field_has_limits() -> None:
    assert GAME.names is not None
    assert set(LIMITS) == set(GAME.names)


@pytest.mark.parametrize("options", [*ONE_BY_ONE.values(), *map(random_options, range(20))], ids=str)
def test_records_of_played_games_are_accepted(options: Options) -> None:
    check_records(random_positions(options, range(40), range(300)), "file")


def test_accepted_records_can_be_played() -> None:
    rng, accepted = np.random.default_rng(14), 0
    for options in ONE_BY_ONE.values():
        tried = mutated(random_positions(options, range(10), range(90)), rng)
        games = tried[[is_accepted(tried[i : i + 1]) for i in range(len(tried))]]
        masks = batch.legal_masks(games)
        assert (masks.any(axis=1) == ~batch.is_over(games)).all()
        batch.observe(games)
        batch.playout(games, masks, batch.rng_states(np.arange(len(games), dtype=np.uint64)), 100)
        accepted += len(games)
    assert accepted > 100


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("phase", 77, "phase is out of range"),
        ("phase", OVER + 1, "phase is out of range"),
        ("at", 10**9, "at is out of range"),
        ("foe", GONE, "pending.combat: there is no such combat"),
        ("foe", PIRATES, "pending.combat: there is no such combat"),
        ("march", 10**6, "march is out of range"),
        ("unrest", -1, "unrest is out of range"),
        ("ip", 2**60, "ip is out of range"),
        ("dice", 0, "dice is out of range"),
        ("army_at", 3, "armies: more than 3"),
        ("army_origin", 2, "armies: one is not on its path"),
        ("passing", 2, "passing: the figure does not share its space"),
        ("fleets", 8, "fleets is out of range"),
        ("turn", 400, "turn: more turns"),
        ("outcome", 1, "outcome: the game is not over"),
        ("reserve", 22, "reserve"),
        ("risen", 1, "risen"),
    ],
)
def test_invalid_record_is_refused_with_the_reason(name: str, value: int, sentence: str) -> None:
    games, _ = batch.new_games(Options(level="5300"), np.arange(3))
    games[name][1] = value

    with pytest.raises(TetrarchiaError, match=f"^file: record 1 is damaged: {re.escape(sentence)}"):
        check_records(games, "file")


def test_invalid_state_is_refused_and_changes_nothing() -> None:
    """Unchecked, such states would crash the process or loop forever."""
    batched = BatchedGames(4, [Options()])
    batched.begin(range(4))
    before, rng = batched.state(), np.random.default_rng(1)
    for wrong in (
        {**before, "games": rng.integers(0, 256, before["games"].shape, dtype=np.uint8)},
        {**before, "games": before["games"][:3]},
        {**before, "games": before["games"].astype(np.float64)},
        {**before, "games": None},
        {**before, "episodes": before["episodes"] * 0},
        {**before, "episodes": np.full_like(before["episodes"], 255)},
    ):
        with pytest.raises(TetrarchiaError, match=r"games|episodes"):
            batched.set_state(wrong)
    assert all((batched.state()[name] == before[name]).all() for name in before)


def test_state_with_more_actions_than_the_base_game_is_refused() -> None:
    """Compiled code would write beyond the rows of the masks."""
    larger, base = BatchedGames(2, [Options(variants=["imperivm"])]), BatchedGames(2, [Options()], actions="base")
    larger.begin([1, 2])
    base.begin([1, 2])

    with pytest.raises(TetrarchiaError, match="needs actions"):
        base.set_state(larger.state())


def test_state_with_finished_games_is_refused() -> None:
    batched = BatchedGames(2, [Options()])
    batched.begin([1, 2])
    state = batched.state()
    games = state["games"].reshape(-1).view(GAME)
    games["phase"], games["outcome"], games["at"][:, :4] = OVER, 2, OFF

    with pytest.raises(TetrarchiaError, match="over"):
        batched.set_state(state)
