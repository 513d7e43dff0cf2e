"""Previews of actions: combat values and places agree with the rules."""

import random

import pytest

from helpers.configurations import random_options
from tetrarchia_app.playing.choices import DICE_OUTCOMES, fighters
from tetrarchia_app.playing.previews import previews
from tetrarchia_env.board import BOARD
from tetrarchia_env.engine.combat import barbarian_side, roman_side
from tetrarchia_env.engine.state import GOTHS, PIRATES
from tetrarchia_env.game import Game
from tetrarchia_env.notation import action_id, legal_actions


@pytest.mark.parametrize("seed", range(12))
def test_R5_2_chains_of_a_preview_match_the_combat_values(seed: int) -> None:
    game, rng = Game.from_options(random_options(seed), seed), random.Random(seed)
    while not game.is_over and len(game.moves) < 150:
        record = game.position[0]
        for preview in previews(game.position):
            found = fighters(record, action_id(preview.action))
            assert (preview.combat is None) == (found is None)
            if preview.combat is None or found is None:
                continue
            figure, foe = found
            extra = foe != PIRATES and GOTHS in record.army_kind[record.army_at == foe]
            assert len(preview.combat.roman.chain) == preview.combat.roman.adds == roman_side(record, figure, foe)[0]
            assert len(preview.combat.barbarian.chain) + extra == preview.combat.barbarian.adds == barbarian_side(record, figure, foe)[0]
            assert preview.combat.win + preview.combat.draw + preview.combat.loss == DICE_OUTCOMES
        game.play(rng.choice(legal_actions(game.position)))


@pytest.mark.parametrize("seed", range(12))
def test_preview_is_placed_at_the_space_or_zone_of_its_action(seed: int) -> None:
    game, rng = Game.from_options(random_options(seed), seed), random.Random(seed)
    while not game.is_over and len(game.moves) < 150:
        for preview in previews(game.position):
            named = [name for name in (*BOARD.names, *BOARD.zones) if preview.action.endswith(f" {name}")]
            if named:
                assert preview.place == max(named, key=len)
            elif "PIRATES" not in preview.action and "capital" not in preview.action:
                assert preview.place is None
        game.play(rng.choice(legal_actions(game.position)))
