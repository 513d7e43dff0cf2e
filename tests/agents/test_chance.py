"""Tests of the planner's chance model: results of attacks and of the Barbarian phase equal those of the engine."""

from typing import Any

import numpy as np
import pytest

from helpers.positions import play, position
from tetrarchia_agents.search.beam_search import new_search_buffers
from tetrarchia_agents.search.chance import after_barbarians, attack_odds, is_attack, settle_attack
from tetrarchia_env.batch import Games, legal_masks, reseed, step
from tetrarchia_env.engine.actions import ACCEPT, ACTIONS, END
from tetrarchia_env.engine.state import BLOCK, BOOST
from tetrarchia_env.engine.turn import act, answer_boost
from tetrarchia_env.heuristic import load_weights, win_probability
from tetrarchia_env.notation import action_id, action_text

Changes = dict[str, Any]
WEIGHTS = load_weights()[0]
BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")
DUX, PIRATES, GREAT = {"modules": ["dux"]}, {"modules": ["dux", "pirates"]}, {"variants": ["the_great"]}

# R5.1: attacks

ARMY = ["CARTHAGINENSIS", "I", "army"]
IN_LVSITANIA: Changes = {"emperors": {"diocletian": "LVSITANIA"}, "armies": [ARMY]}
AT_SEA: Changes = {"rules": PIRATES, "pirates": "AEGAEVM", "dux": "ASIA", "emperors": {"diocletian": "CILICIA"}}
ATTACKS: dict[str, tuple[Changes, str]] = {
    "plain": (IN_LVSITANIA, "attack CARTHAGINENSIS"),
    "on a Revolt": (IN_LVSITANIA | {"tokens": {"CARTHAGINENSIS": "revolt", "BAETICA": "revolt"}}, "attack CARTHAGINENSIS"),
    "from a token": (IN_LVSITANIA | {"tokens": {"CARTHAGINENSIS": "unrest", "LVSITANIA": "diocletian"}}, "attack CARTHAGINENSIS"),
    "broken link": (
        {"emperors": {"diocletian": "TARRACONENSIS"}, "armies": [["NARBONENSIS", "I", "army"]], "tokens": {"NARBONENSIS": "revolt"}},
        "attack NARBONENSIS",
    ),
    "doubled": (IN_LVSITANIA | {"emperors": {"diocletian": "LVSITANIA", "galerius": "BAETICA"}}, "attack CARTHAGINENSIS"),
    "doubled against": (
        {"emperors": {"diocletian": "NARBONENSIS"}, "armies": [["AQVITANIA", "II", "army"], ["LVGDVNENSIS", "II", "army"]]},
        "attack AQVITANIA",
    ),
    "Goths": (
        {
            "emperor": "maximian",
            "armies": [["RHAETIA", "III", "goths"]],
            "tokens": {"CISALPINA": "galerius"},
            "rules": {"modules": ["goths"]},
        },
        "attack RHAETIA",
    ),
    "Rebel": (
        {
            "rules": {"scenario": "great_persian_war"},
            "armies": [["LIBYA", "VI", "rebel"]],
            "tokens": {"LIBYA": "revolt"},
            "emperors": {"diocletian": "AEGYPTVS"},
        },
        "attack LIBYA",
    ),
    "the Great": (IN_LVSITANIA | {"rules": GREAT, "glory": {"diocletian": 1}}, "attack CARTHAGINENSIS"),
    "the Great, no glory": (IN_LVSITANIA | {"rules": GREAT, "reserve": {"unrest": 0}}, "attack CARTHAGINENSIS"),
    "Dux": (
        {"rules": DUX, "dux": "LVSITANIA", "armies": [ARMY], "tokens": {"LVSITANIA": "galerius", "CARTHAGINENSIS": "revolt"}},
        "dux attack CARTHAGINENSIS",
    ),
    "Pirates": (AT_SEA | {"tokens": {"ASIA": "diocletian", "SYRIA": "revolt", "THRACIA": "maximian"}}, "attack PIRATES"),
    "Dux at sea": (AT_SEA | {"tokens": {"SYRIA": "revolt", "THRACIA": "maximian"}, "ip": 2}, "dux attack PIRATES"),
    "boosts declined": (
        {"rules": {"variants": ["imperivm"]}, "emperor": "galerius", "armies": [["NORICVM", "III", "army"]]},
        "attack NORICVM",
    ),
}


def resolve_attack(changes: Changes, text: str, dice: tuple[int, int]) -> Games:
    """Return the engine's game record after the attack with the given dice, without a boost (R10.1)."""
    game = position(**changes, dice=dice)
    act(game[0], action_id(text))
    if game["phase"][0] == BOOST:
        answer_boost(game[0], ACCEPT)
    return game


@pytest.mark.parametrize(("changes", "text"), ATTACKS.values(), ids=ATTACKS)
def test_attack_results_equal_those_of_the_engine(changes: Changes, text: str) -> None:
    """R5.1, R5.4, R4.7, R10.5, R11: each of the 36 rolls yields one of the three results, with the computed probabilities."""
    action, settled = action_id(text), {}
    for result in (1, 0, -1):
        game = position(**changes)
        settle_attack(game[0], action, result)
        game["dice"] = 0
        settled[game.tobytes()] = result
    seen = []
    for dice in np.ndindex(6, 6):
        game = resolve_attack(changes, text, (dice[0] + 1, dice[1] + 1))
        game["dice"] = 0
        seen.append(settled[game.tobytes()])
    assert len(settled) == len(set(seen)) == 3
    assert attack_odds(position(**changes)[0], action) == pytest.approx([seen.count(result) / 36 for result in (1, 0, -1)])


def test_is_attack_agrees_with_action_texts() -> None:
    assert [action for action in range(ACTIONS) if is_attack(action) != ("attack" in action_text(action))] == []


# R6: the Barbarian phase


def value_of_ending(game: Games, rng: int) -> float:
    """Return the planner's value of ending the turn."""
    return float(after_barbarians(game, 0, new_search_buffers().spare, WEIGHTS, np.uint64(rng)))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokens": {"LVSITANIA": "revolt", "GALLAECIA": "unrest", "BELGICA": "galerius", "ASIA": "unrest"}, "reserve": {"armies": 0}},
        {"tokens": {"GALLAECIA": "revolt", "LVSITANIA": "unrest"}, "reserve": {"armies": 0}, "emperors": {"maximian": "LVSITANIA"}},
        {"reserve": {"unrest": 0}},
        {"tokens": {"ASIA": "unrest"}, "reserve": {"revolt": 0}},
    ],
    ids=["nothing", "uprising", "expelled", "no Unrest left", "no Revolt left"],
)
def test_the_value_of_ending_a_turn_is_the_mean_over_36_strikes(changes: Changes) -> None:
    """R6.3: the mean is exact if the strike is the only roll."""
    values = []
    for region, number in np.ndindex(6, 6):
        game = position(**changes, dice=(region + 1, number + 1))
        play(game, "end")
        values.append(win_probability(game[0], WEIGHTS))
    assert value_of_ending(position(**changes), 1) == pytest.approx(np.mean(values), abs=1e-12)
    assert value_of_ending(position(**changes), 2) == pytest.approx(np.mean(values), abs=1e-12)


STORMY: Changes = {
    "tokens": {"TINGITANA": "revolt", "BAETICA": "unrest", "DACIA": "revolt", "MOESIA SVPERIOR": "unrest", "SYRIA": "revolt"},
    "armies": [["SARMATIA", "IV", "army"], ["RHAETIA", "III", "army"]],
    "emperors": {"maximian": "PANNONIA SVPERIOR", "constantius": "MOESIA INFERIOR"},
}


REACTIONS: Changes = {"rules": {"variants": ["imperivm"], "modules": ["pirates", "goths"]}, "pirates": "AEGAEVM"}
NO_WAY_IN: Changes = {  # R3.3: Galerius cannot enter while both armies and Constantius are present
    "armies": [["ETRVRIA", "I", "army"], ["LVCANIA", "IV", "army"]],
    "emperors": {"galerius": None, "constantius": "ROMA"},
    "tokens": {"PANNONIA INFERIOR": "maximian"},
}


@pytest.mark.parametrize("changes", [STORMY, STORMY | REACTIONS, NO_WAY_IN], ids=["base", "reactions", "no way in"])
def test_the_value_of_ending_a_turn_is_the_mean_over_sampled_dice(changes: Changes) -> None:
    """R6 to R8, R10.1 with reactions declined: the value is within four standard errors of the engine's mean."""
    start = position(**changes)
    games = np.repeat(start, 6000)
    reseed(games, range(len(games)))
    masks = legal_masks(games)
    step(games, np.full(len(games), END), masks)
    while (waiting := np.isin(games["phase"], (BOOST, BLOCK))).any():
        part, part_masks = games[waiting], masks[waiting]
        step(part, np.full(len(part), ACCEPT), part_masks)
        games[waiting], masks[waiting] = part, part_masks
    played = np.array([win_probability(game, WEIGHTS) for game in games])
    computed = np.array([value_of_ending(start, int(rng)) for rng in np.random.default_rng(1).integers(1, 2**63, 300)])
    error = np.hypot(played.std() / len(played) ** 0.5, computed.std() / len(computed) ** 0.5)
    assert error < 0.01
    assert abs(played.mean() - computed.mean()) < 4 * error


def test_the_value_of_a_finished_game_is_its_outcome() -> None:
    """R9: no Barbarian phase follows the end of the game."""
    won = position(tokens=dict.fromkeys(BORDERS[1:], "galerius"), supply={"galerius": 0}, emperors={"diocletian": BORDERS[0]})
    lost = position(armies=[["LVCANIA", "IV", "army"]], dice=(5, 6))
    assert (play(won, "secure")["outcome"], play(lost, "end")["outcome"]) == ("won", "rome fell")
    assert (value_of_ending(won, 1), value_of_ending(lost, 1)) == (1, 0)


def test_evaluation_does_not_change_the_game() -> None:
    game = position(**STORMY)
    before = game.tobytes()
    value_of_ending(game, 7)
    assert game.tobytes() == before
