"""The choices of `play`: costs, odds, parsing of input, and undo."""

import random
import re
from itertools import product

import pytest

from helpers.configurations import random_options
from helpers.positions import play, position
from tetrarchia_app.playing.choices import Choice, choices, parse_choice
from tetrarchia_app.terminal.player import menu, parse_emperors
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.notation import legal_actions


def choices_at(**changes: object) -> dict[str, Choice]:
    return {choice.text: choice for choice in choices(position(**changes))}


def test_costs_match_the_rules() -> None:
    costs = {text: choice.cost for text, choice in choices_at(tokens={"GALATIA": "revolt"}).items()}
    assert costs["move GALATIA"] == "2 IP"
    assert costs["secure"] == "1 IP"
    assert costs["end"] == ""


def test_powers_cost_a_token_and_may_gain_ip() -> None:
    maximian = choices_at(emperor="maximian", rules={"variants": ["imperivm"]})
    assert maximian["imperivm"].cost == "1 token, gains 1 IP"
    diocletian = choices_at(rules={"variants": ["patres_patriae"]})
    assert diocletian["take"].cost == "gains 1 IP"


@pytest.mark.parametrize("seed", range(8))
def test_choices_are_the_legal_actions_with_correct_costs(seed: int) -> None:
    game, rng = Game.from_options(random_options(seed), seed), random.Random(seed)
    while not game.is_over and len(game.moves) < 120:
        offer = choices(game.position)
        assert sorted(choice.action for choice in offer) == legal_actions(game.position)
        assert len({choice.number for choice in offer}) == len(offer)
        choice, ip, turn = rng.choice(offer), game.position[0].ip, game.position[0].turn
        game.play(choice.action)
        if game.position[0].turn == turn and not game.is_over and "IP" in choice.cost and "gain" not in choice.cost:
            assert choice.cost == f"{ip - game.position[0].ip} IP"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("attack PERSIA", {"armies": [["PERSIA", "V", "army"]], "emperors": {"diocletian": "SYRIA"}}),
        (
            "attack SARMATIA",
            {"armies": [["SARMATIA", "IV", "goths"]], "emperors": {"diocletian": "MOESIA INFERIOR"}, "rules": {"modules": ["goths"]}},
        ),
        ("dux attack PERSIA", {"armies": [["PERSIA", "V", "army"]], "dux": "SYRIA", "rules": {"modules": ["dux"]}}),
        ("attack PIRATES", {"pirates": "AEGAEVM", "rules": {"modules": ["pirates"]}}),
        ("dux attack PIRATES", {"pirates": "AEGAEVM", "dux": "SYRIA", "rules": {"modules": ["dux", "pirates"]}}),
    ],
)
def test_odds_match_all_36_rolls(text: str, changes: dict[str, object]) -> None:
    shares = {"win": 0, "draw": 0, "loss": 0}
    for dice in product(range(1, 7), repeat=2):
        after = play(position(dice=dice, **changes), text)
        foes_left = bool(after["armies"]) or after["pirates"] == "AEGAEVM"
        figure_left = after["dux"] != "gone" if text.startswith("dux") else after["emperors"]["diocletian"] is not None
        shares["loss" if not figure_left else "draw" if foes_left else "win"] += 1
    win, loss = round(100 * shares["win"] / 36), round(100 * shares["loss"] / 36)
    assert choices_at(**changes)[text].odds == f"win {win}% draw {100 - win - loss}% loss {loss}%"


def test_block_and_accept_show_cost_and_odds() -> None:
    game = position(
        dice=(1, 1, 6),  # the roll I 1, then the die for the broken link
        emperors={"constantius": "BELGICA"},
        armies=[["BRITANNIA", "II", "army"]],
        rules={"variants": ["imperivm"]},
    )
    assert play(game, "end")["phase"] == "block"
    offer = {choice.text: choice for choice in choices(game)}
    assert offer["block"].cost == "1 token"
    assert offer["accept"].odds.startswith("win ")


TWINS = ("end", "enter ROMA", "enter capital", "secure", "subdue", "move GERMANIA INFERIOR", "move GERMANIA SVPERIOR", "move LVCANIA")
OFFER = [Choice(number, number, text, "", "") for number, text in enumerate(TWINS)]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("0", "end"),
        ("3", "secure"),
        ("end", "end"),
        ("SEC", "secure"),
        ("enter roma", "enter ROMA"),
        ("m germ inf", "move GERMANIA INFERIOR"),
        ("move lucania", "move LVCANIA"),
        ("  move   germania  superior ", "move GERMANIA SVPERIOR"),
    ],
)
def test_numbers_and_abbreviations_are_parsed(typed: str, meant: str) -> None:
    assert parse_choice(OFFER, typed).text == meant


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("s", "'s' is ambiguous: secure, subdue"),
        ("move germania", "move GERMANIA INFERIOR, move GERMANIA SVPERIOR"),
        ("12", "there is no number 12"),
        ("move BELGICA", "'move BELGICA' is not possible now"),
        ("mvoe BELGICA", "did you mean 'move BELGICA'"),
        ("pray", "type a number"),
    ],
)
def test_ambiguous_and_unknown_texts_are_refused(typed: str, message: str) -> None:
    with pytest.raises(TetrarchiaError, match=re.escape(message)):
        parse_choice(OFFER, typed)


@pytest.mark.parametrize("seed", range(6))
def test_undo_restores_the_same_bytes_but_never_undoes_dice(seed: int) -> None:
    game, rng = Game.from_options(random_options(seed), seed), random.Random(seed)
    while not game.is_over and len(game.moves) < 150:
        before, number, action = game.position.copy(), len(game.moves), rng.choice(legal_actions(game.position))
        game.play(action)
        free = bool(before[0].dice == game.position[0].dice and before[0].turn == game.position[0].turn)
        assert game.undo() == free
        if free:
            assert game.position.tobytes() == before.tobytes()
            assert len(game.moves) == number
            game.play(action)


def test_menu_fits_the_width_and_lists_each_choice_once() -> None:
    offer = choices(position(armies=[["PERSIA", "V", "army"]], emperors={"diocletian": "SYRIA"}, fleets=["AEGAEVM"]))
    lines = list(menu(offer, 100))
    assert max(map(len, lines)) <= 100
    assert all(sum(str(choice) in line for line in lines) == 1 for choice in offer)


def test_emperors_are_parsed() -> None:
    assert parse_emperors("all") == list(EMPERORS)
    assert parse_emperors("maximian,galerius") == ["maximian", "galerius"]
    with pytest.raises(TetrarchiaError, match="unknown Emperor ''"):
        parse_emperors("")
