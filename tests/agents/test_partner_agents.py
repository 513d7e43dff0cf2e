"""Tests of the partners: each plays legally and as described, and no two play alike."""

from itertools import combinations

import numpy as np
import pytest

from tetrarchia_agents import make_agent, rollout
from tetrarchia_agents.partners import load_partners, partner_names, steps_to_teammates
from tetrarchia_agents.search.chance import is_attack
from tetrarchia_env.batch import Games, Masks, is_over, legal_masks, new_games, playout, rng_states
from tetrarchia_env.constants import END
from tetrarchia_env.engine.state import ROMAN
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options

MIN_DISAGREEMENT = 0.05  # share of positions in which two partners choose different actions


def positions(number: int = 200) -> tuple[Games, Masks]:
    """Return positions of random games at 4222, in the Roman phase."""
    seeds = np.arange(number, dtype=np.uint64)
    games, masks = new_games(Options(level="4222"), seeds)
    playout(games, masks, rng_states(seeds), 30)
    games = games[~is_over(games) & (games["phase"] == ROMAN)]
    return games, legal_masks(games)


@pytest.fixture(scope="module")
def choices() -> dict[str, np.ndarray]:
    games, masks = positions()
    ids = np.arange(len(games))
    return {name: make_agent(f"partner:{name}").act(games.copy(), masks.copy(), ids) for name in load_partners()}


def test_every_partner_plays_whole_games_legally() -> None:
    for name in load_partners():
        (result,) = rollout(f"partner:{name}", 1, level="4200", seed=3, max_turns=20)
        assert result.steps > 0


def test_no_two_partners_play_alike(choices: dict[str, np.ndarray]) -> None:
    shares = {pair: (choices[pair[0]] != choices[pair[1]]).mean() for pair in combinations(choices, 2)}
    assert min(shares.values()) >= MIN_DISAGREEMENT, min(shares, key=lambda pair: shares[pair])


def test_the_pacifist_never_attacks_where_others_do(choices: dict[str, np.ndarray]) -> None:
    assert not any(map(is_attack, choices["pacifist"].tolist()))
    assert any(map(is_attack, choices["italia-guard"].tolist()))


def test_the_hasty_partner_ends_its_turn_with_its_last_ip(choices: dict[str, np.ndarray]) -> None:
    games, masks = positions()
    few = (games["ip"] <= 1) & (masks[:, END] != 0)
    assert few.any()
    assert (choices["hasty"][few] == END).all()


def test_a_follower_moves_nearer_to_a_distant_teammate(choices: dict[str, np.ndarray]) -> None:
    games, masks = positions()
    steps = steps_to_teammates(games, masks)
    assert (steps >= 0).any()
    assert (steps < 0).any()
    assert (choices["follower"][steps >= 0] == steps[steps >= 0]).all()


def test_noise_replaces_its_share_of_the_actions() -> None:
    games, masks = positions(2000)
    noisy, plain = make_agent("partner:noisy-planner"), make_agent("planner:beam=8:ends=8:attacks=2")
    ids = np.arange(len(games))

    share = (noisy.act(games, masks, ids) != plain.act(games, masks, ids)).mean()

    assert 0.02 < share < 0.06


def test_both_splits_have_partners_and_an_unknown_name_is_refused() -> None:
    assert set(partner_names("held-out")) | set(partner_names("validation")) == set(load_partners())
    assert partner_names("held-out")
    assert partner_names("validation")
    with pytest.raises(TetrarchiaError, match="pacifist"):
        make_agent("partner:pacifists")
