"""Invariants of every position, checked in random games over random configurations."""

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.configurations import random_options
from tetrarchia_env import batch
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.engine.outcome import secured_borders
from tetrarchia_env.engine.state import DUX_MODULE, IMPERIVM, NOBODY, OFF, OVER, PATRES_PATRIAE, PHASES, PIRATES_MODULE, RUNNING, WON
from tetrarchia_env.engine.tables import BIT, BORDERS

count = np.bitwise_count
CONFIGURATIONS, GAMES_EACH = 500, 200  # 100,000 games


def begin(seed: int) -> tuple[batch.Games, batch.Masks]:
    """Return games of one random configuration; a tenth of the configurations begin close to victory."""
    games, masks = batch.new_games(random_options(seed), range(seed * GAMES_EACH, (seed + 1) * GAMES_EACH))
    if seed % 10 == 0:
        bring_close_to_victory(games)
        masks = batch.legal_masks(games)
    return games, masks


def bring_close_to_victory(games: batch.Games) -> None:
    """Remove all Revolts, secure five borders for three Emperors, and put Diocletian on the sixth."""
    for name in ("unrest", "revolts", "tokens", "glory", "army_origin", "army_kind", "owed"):
        games[name] = 0
    games["reserve"] = [21, 21, 3]
    games["army_at"] = OFF
    games["supply"] = games["level"][:, :1]
    games["tokens"][:, 1], games["tokens"][:, 2], games["tokens"][:, 3] = BIT[42] | BIT[43], BIT[44] | BIT[45], BIT[46]
    games["supply"] -= count(games["tokens"])
    games["emperor"], games["phase"], games["ip"] = 0, PHASES.index("roman"), 6
    games["at"][:, :4] = [47, 36, 37, 38]


def check_pieces(games: batch.Games) -> None:
    """R1.2: check that pieces are conserved and that no reserve or supply is negative."""
    lying = count(games["tokens"])
    assert (count(games["unrest"]) + games["reserve"][:, 0] + games["glory"].sum(1) == 21).all()
    assert (count(games["revolts"]) + games["reserve"][:, 1] == 21).all()
    assert ((games["army_at"] != OFF).sum(1) + games["reserve"][:, 2] == 3).all()
    owned, given = lying + games["supply"], games["level"][:, :1]
    assert ((owned == given) | ((games["variants"][:, None] & IMPERIVM > 0) & (owned < given))).all()
    assert (games["reserve"] >= 0).all()
    assert (games["supply"] >= 0).all()


def check_spaces(games: batch.Games) -> None:
    """R1.3: check that a space has at most one token and one figure, except for a passing figure (R4.3)."""
    kinds = np.column_stack([games["unrest"], games["revolts"], games["tokens"]])
    assert (count(kinds).sum(1) == count(np.bitwise_or.reduce(kinds, axis=1))).all()
    places = np.column_stack([games["at"], games["army_at"]])
    standing = BIT[places]
    figures = (places < OFF).sum(1) - (games["passing"] != NOBODY)
    assert (count(np.bitwise_or.reduce(standing, axis=1)) == figures).all()
    assert (games["fleets"] & games["pirates"] == 0).all()
    assert (np.diff(games["army_at"], axis=1) >= 0).all()


def check_masks(games: batch.Games, masks: batch.Masks) -> None:
    """Check that legal actions exist exactly while the game runs and belong to the configuration."""
    running = games["phase"] != OVER
    assert ((masks == 0) | (masks == 1)).all()
    assert (masks.any(1) == running).all()
    assert (running == (games["outcome"] == RUNNING)).all()
    assert (masks == batch.legal_masks(games)).all()
    blocks = {
        (a.DUX_DEPLOY, a.ORDER): games["modules"] & DUX_MODULE,
        (a.ATTACK_PIRATES, a.ATTACK_PIRATES + 1): games["modules"] & PIRATES_MODULE,
        (a.IMPERIVM_POWER, a.ACCEPT + 1): games["variants"] & IMPERIVM,
        (a.TAKE, a.GIVE + 1): games["variants"] & PATRES_PATRIAE,
        (a.ORDER, a.ACTIONS): games["variants"] & IMPERIVM,
    }
    for (first, end), has in blocks.items():
        assert not masks[has == 0, first:end].any()


def check_borders(games: batch.Games) -> None:
    """R9.1: check the secured borders against an independent count; a won game has all six."""
    afresh = np.array([sum(bool(int(tokens) >> space & 1) for space in range(42, 48) for tokens in game.tokens) for game in games[:5]])
    assert (count(np.array([secured_borders(game) for game in games[:5]])) == afresh).all()
    secured = count(np.bitwise_or.reduce(games["tokens"], axis=1) & BORDERS)
    assert ((secured == 6) == (games["outcome"] == WON)).all()


def play_and_check(seed: int) -> NDArray[np.int64]:
    """Return the number of games with each outcome, for one configuration."""
    games, masks = begin(seed)
    rngs = rng_states(batch.seed_array(range(len(games))))
    while True:
        check_pieces(games)
        check_spaces(games)
        check_masks(games, masks)
        check_borders(games)
        assert not games["risen"].any()
        if not batch.playout(games, masks, rngs, steps=1):
            return np.bincount(games["outcome"], minlength=5)


@pytest.mark.parametrize("seed", range(20))
def test_invariants(seed: int) -> None:
    assert play_and_check(seed).sum() == GAMES_EACH


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, CONFIGURATIONS, CONFIGURATIONS // 4))
def test_invariants_in_100_000_games(first: int) -> None:
    outcomes = sum(play_and_check(seed) for seed in range(first, first + CONFIGURATIONS // 4))
    assert outcomes.sum() == GAMES_EACH * CONFIGURATIONS // 4
    assert outcomes[WON] > 0
    assert outcomes[RUNNING] == 0
