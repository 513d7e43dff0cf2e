"""The observation: complete except for the dice, with correct derived features."""

import hashlib

import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.engine.state import FIELDS, GAME, NOBODY, OFF
from tetrarchia_env.notation import restore, snapshot
from tetrarchia_env.observation import BY_SPACE, OBSERVATION, OTHERS, SIZE

CONFIGURATIONS, GAMES_EACH = 100, 60


def observation_of(game: batch.Games, viewer: int) -> np.record:
    """Return the named parts of one Emperor's observation."""
    return batch.observe(game, np.array([viewer])).view(OBSERVATION)[0, 0]


def digest(rows: np.ndarray) -> list[bytes]:
    return [hashlib.blake2b(row.tobytes(), digest_size=12).digest() for row in rows]


def without_dice(games: batch.Games) -> batch.Games:
    rest = games.copy()
    rest["dice"] = 0
    return rest


def random_positions(seed: int) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return digests of observations, positions and masks along random games of one configuration."""
    games, masks = batch.new_games(random_options(seed), range(seed * GAMES_EACH, (seed + 1) * GAMES_EACH))
    rngs = rng_states(batch.seed_array(range(GAMES_EACH)))
    observations, states, legal = digest(batch.observe(games)), digest(without_dice(games)), digest(masks)
    while batch.playout(games, masks, rngs, steps=1):
        observations += digest(batch.observe(games))
        states += digest(without_dice(games))
        legal += digest(masks)
    return observations, states, legal


@pytest.mark.slow
def test_observation_determines_position_and_mask() -> None:
    """Positions are compared as records without dice, which are equivalent to snapshots (tests/notation/test_snapshots.py)."""
    position_of: dict[bytes, bytes] = {}
    mask_of: dict[bytes, bytes] = {}
    states: set[bytes] = set()
    for seed in range(CONFIGURATIONS):
        for look, state, mask in zip(*random_positions(seed), strict=True):
            assert position_of.setdefault(look, state) == state
            assert mask_of.setdefault(look, mask) == mask
            states.add(state)
    assert len(states) >= 200_000


@pytest.mark.parametrize("field", [field for field in FIELDS if field[0] not in ("dice", "risen")], ids=lambda field: field[0])
def test_every_field_of_the_record_changes_the_observation(field: tuple[str, type]) -> None:
    """A change of any one number changes the observations of all four Emperors."""
    full = position(
        armies=[["DACIA", "III", "army"], ["SYRIA", "V", "army"], ["LIBYA", "VI", "army"]],
        tokens={"DACIA": "revolt", "SYRIA": "revolt", "ACHAEA": "unrest"},
        fleets=["INTERNVM"],
        dux="available",
        pirates="AEGAEVM",
        rules={"modules": ["dux", "pirates"]},
    )
    full["fighter"], full["foe"], full["roman_die"], full["normal_die"] = 1, BOARD.space_id("DACIA"), 3, 4
    before = [batch.observe(full, np.array([viewer])).tobytes() for viewer in range(4)]
    for entry in range(int(np.prod(GAME[field[0]].shape or (1,)))):
        changed = full.copy()
        numbers = changed[field[0]].reshape(-1)
        numbers[entry] = numbers[entry] + 1 if numbers[entry] != OFF else 0
        after = [batch.observe(changed, np.array([viewer])).tobytes() for viewer in range(4)]
        assert all(one != other for one, other in zip(before, after, strict=True)), f"{field[0]}[{entry}]"


def test_dice_are_hidden() -> None:
    game = position()
    before = batch.observe(game).tobytes()
    batch.reseed(game, 99)
    assert batch.observe(game).tobytes() == before


@pytest.mark.parametrize("seed", range(10))
def test_values_are_between_minus_one_and_one(seed: int) -> None:
    games, masks = batch.new_games(random_options(seed), range(100))
    rngs = rng_states(batch.seed_array(range(100)))
    while batch.playout(games, masks, rngs, steps=3):
        observations = batch.observe(games)
        assert observations.min() >= -1
        assert observations.max() <= 1


def test_layout_lists_the_parts_in_order() -> None:
    assert OBSERVATION.names == (*BY_SPACE, *OTHERS)
    assert sum(48 * rows for rows, _ in BY_SPACE.values()) + sum(size for size, _ in OTHERS.values()) == SIZE
    assert batch.observe(position()).shape == (1, SIZE)


def test_viewer_comes_first() -> None:
    game = position(tokens={"SYRIA": "constantius"}, supply={"constantius": 2})
    for viewer in range(4):
        view = observation_of(game, viewer)
        assert view.identity.tolist() == [float(e == viewer) for e in range(4)]
        assert view.figure[0].argmax() == BOARD.capitals[viewer]
        seat = (2 - viewer) % 4
        assert view.token[seat][BOARD.space_id("SYRIA")] == 1
        assert view.supply[seat] == np.float32(2 / 5)
        assert view.turn_of[-viewer % 4] == 1


def test_nearness_is_the_cost_of_the_cheapest_path() -> None:
    """R4.1: BITHYNIA to ASIA costs 1, to THRACIA 2, into a Revolt 1 more; a space with an army cannot be entered."""
    game = position(tokens={"ASIA": "revolt"}, armies=[["THRACIA", "V", "army"]])
    near = observation_of(game, 0).nearness[0]
    assert near[BOARD.space_id("BITHYNIA")] == 1
    assert near[BOARD.space_id("GALATIA")] == 1 - 1 / 8
    assert near[BOARD.space_id("ASIA")] == 1 - 2 / 8
    assert near[BOARD.space_id("CAPPADOCIA")] == 1 - 2 / 8
    assert near[BOARD.space_id("CILICIA")] == 1 - 3 / 8
    assert near[BOARD.space_id("THRACIA")] == 0
    assert near[BOARD.space_id("ROMA")] == 0


def test_attack_odds_are_exact_over_36_rolls() -> None:
    """R5.1: R against N + 1 (one Revolt) from BITHYNIA, whose printed token supports with 1."""
    game = position(armies=[["THRACIA", "V", "army"]], tokens={"THRACIA": "revolt"})
    wins, loses = observation_of(game, 0).attack[:, BOARD.space_id("THRACIA")]
    assert wins == np.float32(15 / 36)
    assert loses == np.float32(15 / 36)
    assert not observation_of(game, 1).attack.any()


def test_chain_sizes() -> None:
    """R5.2, R5.3: chains of Revolts and of support."""
    game = position(tokens={"SYRIA": "revolt", "CILICIA": "revolt", "BAETICA": "revolt", "ASIA": "diocletian"})
    view = observation_of(game, 0)
    assert view.revolt_chain[0][BOARD.space_id("SYRIA")] == np.float32(2 / 21)
    assert view.revolt_chain[0][BOARD.space_id("BAETICA")] == np.float32(1 / 21)
    assert view.support_chain[0][BOARD.space_id("BITHYNIA")] == np.float32(2 / 21)
    assert view.support_chain[0][BOARD.space_id("ROMA")] == np.float32(1 / 21)


def test_path_of_an_army() -> None:
    """R8.2: the observation has the distance to ROMA and the next space."""
    game = position(armies=[["LVCANIA", "IV", "army"]], tokens={"LVCANIA": "revolt"})
    view = observation_of(game, 0)
    assert view.army_nearness[0][BOARD.space_id("LVCANIA")] == np.float32(1 - 1 / 12)
    assert view.army_next[0].nonzero()[0].tolist() == [BOARD.roma]


def test_pending_combat_is_observed() -> None:
    """R10.1: the combat that waits for a decision of Galerius."""
    data = snapshot(position(armies=[["DACIA", "III", "army"]], tokens={"DACIA": "revolt"}, rules={"variants": ["imperivm"]}))
    combat = {"fighter": "galerius", "foe": "DACIA", "roman": 1, "normal": 6}
    game = restore({**data, "emperor": "galerius", "phase": "boost", "pending": {"combat": combat}})
    view = observation_of(game, 1)
    assert view.fighter[0] == 1
    assert view.foe[0].nonzero()[0].tolist() == [BOARD.space_id("DACIA")]
    assert view.combat_margin[0] == np.float32((1 + 1 - 7) / 8)
    assert game["passing"][0] == NOBODY
