"""Tests of R13: one to four players share the four Emperors, and the rules do not change."""

import dataclasses

import numpy as np
import pytest

from tetrarchia_env.batch import legal_masks, new_games, playout
from tetrarchia_env.engine.state import BLOCK, BOOST, CONSTANTIUS, GALERIUS, GAME, OVER
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.options import Options

EVERYTHING = Options(level="4202", variants=["imperivm", "patres_patriae"], modules=["dux", "pirates", "goths"])


def test_neither_arguments_nor_record_contain_the_players() -> None:
    """R13.1: the rules do not change, so they do not contain the number of players."""
    names = {field.name for field in dataclasses.fields(Options)} | set(GAME.names or ())
    assert not any("player" in name or "assign_players" in name for name in names)


@pytest.mark.parametrize("options", [Options(), EVERYTHING])
def test_exactly_one_emperor_decides_at_a_time(options: Options) -> None:
    """R13.1: the Emperor whose turn it is decides, except for Galerius' boost and Constantius' block."""
    games, masks = new_games(options, range(40))
    rngs = np.arange(1, 41, dtype=np.uint64)
    seen = set()
    for _ in range(400):
        for game, mask in zip(games, masks, strict=True):
            reacting = {int(BOOST): GALERIUS, int(BLOCK): CONSTANTIUS}
            assert agent_to_act(game) == reacting.get(int(game.phase), game.emperor)
            assert mask.any() == (game.phase != OVER)
            seen.add((int(agent_to_act(game)), agent_to_act(game) == game.emperor))
        playout(games, masks, rngs, 1)
    jumps = {agent for agent, own_turn in seen if not own_turn}
    assert {agent for agent, own_turn in seen if own_turn} == {0, 1, 2, 3}
    assert jumps == ({int(GALERIUS), int(CONSTANTIUS)} if options is EVERYTHING else set())


def test_legal_actions_depend_only_on_the_game() -> None:
    """R13.1, R3.1: an Emperor makes several decisions in a row; the legal actions depend only on the game."""
    games, masks = new_games(Options(), range(20))
    playout(games, masks, np.arange(1, 21, dtype=np.uint64), 30)
    assert (legal_masks(games) == masks).all()
    assert (legal_masks(games.copy()) == masks).all()
