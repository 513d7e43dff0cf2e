"""Previews of actions: combat values and places agree with the rules."""

import random

import pytest

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_app.playing.choices import DICE_OUTCOMES, fighters
from tetrarchia_app.playing.previews import Preview, previews
from tetrarchia_env.board import BOARD
from tetrarchia_env.engine.combat import barbarian_side, roman_side
from tetrarchia_env.engine.state import GOTHS, PIRATES, ROMAN
from tetrarchia_env.game import Game
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
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


def previews_at(**changes: object) -> dict[str, Preview]:
    return {preview.action: preview for preview in previews(position(**changes))}


@pytest.mark.parametrize(("seed", "tokens"), [*((seed, 0) for seed in range(8)), (8, 3), (9, 3)])
def test_R3_5_actions_that_end_the_turn_are_marked(seed: int, tokens: int) -> None:
    local = LocalOptions(2, message_tokens=tokens) if tokens else FULL_INFORMATION
    game, rng = Game.from_options(random_options(seed), seed, local=local), random.Random(seed)
    while not game.is_over and len(game.moves) < 150:
        before, chosen = game.position.copy()[0], rng.choice(previews(game.position, message_tokens=tokens))
        lines = game.play(chosen.action)
        after = game.position[0]
        if before.phase == ROMAN and not chosen.combat:
            has_ended = after.turn != before.turn or after.phase != ROMAN
            assert chosen.ends_turn == (has_ended and game.outcome != "won"), (chosen, lines)
        else:
            assert not chosen.ends_turn


def test_R6_2_figures_that_the_end_of_the_turn_drives_off_are_named() -> None:
    emperors = {"diocletian": "GALATIA", "galerius": "CILICIA", "maximian": "BITHYNIA", "constantius": "THRACIA"}
    tokens = {"GALATIA": "revolt", "CILICIA": "unrest", "BITHYNIA": "unrest", "THRACIA": "constantius"}
    links = BOARD.links[BOARD.space_id("GALATIA")]
    assert [links[BOARD.space_id(name)] for name in ("BITHYNIA", "CILICIA")] == [1, 2]  # normal, broken

    found = previews_at(emperors=emperors, tokens=tokens)

    assert (found["end"].driven_off, found["end"].at_risk) == (("diocletian", "maximian"), ("galerius",))
    assert not found["subdue"].ends_turn
    last = previews_at(emperors=emperors, tokens=tokens, ip=2)["subdue"]
    assert (last.ends_turn, last.driven_off, last.at_risk) == (True, (), ())
