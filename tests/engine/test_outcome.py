"""Winning, losing, the final position, the score (R9), and truncation at max_turns."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, play, position
from tetrarchia_env.board import BOARD
from tetrarchia_env.notation import Snapshot, snapshot

QUIET = (5, 6)  # BITHYNIA, which its printed token protects
BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")
FIVE = {"GAETVLIA": "maximian", "BRITANNIA": "constantius", "GERMANIA MAGNA": "galerius", "SARMATIA": "galerius", "PERSIA": "galerius"}
NO_UNREST, NO_REVOLT = {"unrest": 0}, {"revolt": 0}


def end_turn(*, dice: tuple[int | None, ...] = QUIET, **changes: Any) -> tuple[Snapshot, Snapshot, list[int]]:
    """Return the snapshots before and after the Barbarian phase, and the dice it used."""
    game = position(dice=dice, **changes)
    before = snapshot(game)
    after = play(game, "end")
    return before, after, dice_used(before["dice"], after["dice"])


def changes(before: Snapshot, after: Snapshot) -> dict[str, Any]:
    """Return the entries that changed, except for the dice and the score."""
    return {name: value for name, value in after.items() if value != before[name] and name not in ("dice", "score")}


def lost(**also: Any) -> dict[str, Any]:
    """Return the changes of a game that is lost at once, without finishing the turn, plus these."""
    return {"phase": "over", "outcome": "reserve empty", **also}


# R9.1: won


@pytest.mark.parametrize("last", BORDERS)
def test_sixth_border_wins_at_once(last: str) -> None:
    """R9.1: with any border as the last, and with an army next to ROMA; there is no Barbarian phase and no roll."""
    tokens = {name: "galerius" if i < 3 else "maximian" for i, name in enumerate(BORDERS) if name != last}
    army = ["ETRVRIA", "I", "army"]
    game = position(tokens=tokens | {"ETRVRIA": "revolt"}, emperors={"diocletian": last}, armies=[army])
    before = snapshot(game)
    after = play(game, "secure")
    tokens_then = before["tokens"] | {last: "diocletian"}
    assert changes(before, after) == {
        "phase": "over",
        "outcome": "won",
        "ip": 4,
        "tokens": {name: tokens_then[name] for name in BOARD.names if name in tokens_then},
        "supply": before["supply"] | {"diocletian": 3},
    }
    assert (after["dice"], legal(game)) == (before["dice"], set())


def test_five_borders_are_not_enough() -> None:
    """R9.1: after the fifth border the turn continues; a Revolt on the sixth is not an Emperor's token."""
    four = {name: owner for name, owner in FIVE.items() if name != "PERSIA"} | {"LIBYA": "revolt"}
    after = play(position(tokens=four, armies=[["LIBYA", "VI", "rebel"]], emperors={"diocletian": "PERSIA"}), "secure")
    assert (after["outcome"], after["phase"], after["ip"]) == ("running", "roman", 4)


# R9.2, R9.4: lost


@pytest.mark.parametrize("token", [None, "unrest", "revolt", "maximian"])
def test_roma_falls(token: str | None) -> None:
    """R9.2, R9.4: the army is in ROMA, its token stays, and nothing else changes, even if no Revolt is left."""
    tokens = {"ROMA": token} if token else {}  # no Revolt in ETRVRIA, or Unrest would rise by R6.1
    before, after, used = end_turn(tokens=tokens, armies=[["ETRVRIA", "III", "army"]], reserve=NO_REVOLT)
    assert changes(before, after) == {"phase": "over", "outcome": "rome fell", "armies": [["ROMA", "III", "army"]]}
    assert used == [5, 6]


def test_beaten_defender_of_roma_is_removed() -> None:
    """R9.4: the defender's token on ROMA stays."""
    where = {"emperors": {"maximian": "ROMA"}, "tokens": {"LVCANIA": "revolt", "ROMA": "maximian"}}
    before, after, _ = end_turn(dice=(*QUIET, 1, 6), armies=[["LVCANIA", "IV", "army"]], **where)
    fallen = {"emperors": before["emperors"] | {"maximian": None}, "armies": [["ROMA", "IV", "army"]]}
    assert changes(before, after) == {"phase": "over", "outcome": "rome fell", **fallen}


def test_no_unrest_left_loses() -> None:
    """R9.2, R9.4: R6.3 needs Unrest for an empty province; the armies do not advance."""
    before, after, used = end_turn(dice=(4, 5), reserve=NO_UNREST, tokens={"THRACIA": "revolt"}, armies=[["THRACIA", "IV", "army"]])
    assert changes(before, after) == lost()
    assert used == [4, 5]


def test_no_revolt_left_for_unrest_loses() -> None:
    """R9.2, R9.4: R6.3 needs a Revolt; the Unrest stays."""
    before, after, used = end_turn(dice=(4, 5), reserve=NO_REVOLT, tokens={"ACHAEA": "unrest"})
    assert changes(before, after) == lost()
    assert used == [4, 5]


def test_no_revolt_left_for_the_status_loses() -> None:
    """R9.2, R9.4: R6.1 needs a Revolt; no Emperor is removed by R6.2, and the Unrest stays."""
    tokens = {"BAETICA": "revolt", "CARTHAGINENSIS": "unrest"}
    before, after, used = end_turn(reserve=NO_REVOLT, tokens=tokens, emperors={"maximian": "BAETICA"})
    assert changes(before, after) == lost()
    assert used == []


def test_revolts_already_placed_by_the_status_stay() -> None:
    """R9.4: the first of BAETICA's two neighbours takes the last Revolt, the second loses the game."""
    tokens = {"BAETICA": "revolt", "CARTHAGINENSIS": "unrest", "LVSITANIA": "unrest"}
    before, after, _ = end_turn(reserve={"revolt": 1}, tokens=tokens)
    put = {"tokens": tokens | {"CARTHAGINENSIS": "revolt"}, "reserve": {"unrest": 20, "revolt": 0, "armies": 3}}
    assert changes(before, after) == lost(**put)


@pytest.mark.parametrize(("dice", "outcome"), [((4,), "reserve empty"), ((3, 5, 6), "running")])
def test_status_rolls_before_it_checks_the_reserve(dice: tuple[int, ...], outcome: str) -> None:
    """R9.4: a broken link that fails its roll needs no Revolt."""
    _, after, used = end_turn(dice=dice, reserve=NO_REVOLT, tokens={"TINGITANA": "revolt", "BAETICA": "unrest"})
    assert (after["outcome"], used) == (outcome, list(dice))


def test_no_revolt_left_for_an_uprising_loses() -> None:
    """R9.2, R9.4: LVSITANIA takes the last Revolt, TARRACONENSIS keeps its token, and no army is placed."""
    tokens = {"TARRACONENSIS": "maximian", "GALLAECIA": "revolt"}
    before, after, used = end_turn(dice=(1, 5), reserve={"revolt": 1}, tokens=tokens)
    put = {"LVSITANIA": "revolt", **tokens}
    assert changes(before, after) == lost(tokens=put, reserve={"unrest": 21, "revolt": 0, "armies": 3})
    assert used == [1, 5]


@pytest.mark.parametrize(
    ("dice", "tokens"),
    [((2, 3), {"GERMANIA SVPERIOR": "revolt"}), ((), {"GERMANIA SVPERIOR": "revolt", "BELGICA": "unrest", "RHAETIA": "unrest"})],
    ids=["uprising", "status"],
)
def test_no_die_is_rolled_after_the_end(dice: tuple[int, ...], tokens: dict[str, str]) -> None:
    """R9.4: no Revolt is left for BELGICA, so RHAETIA behind its broken link is not rolled for."""
    before, after, used = end_turn(dice=dice, reserve=NO_REVOLT, tokens=tokens)
    assert changes(before, after) == lost()
    assert used == list(dice)


@pytest.mark.parametrize(("dice", "outcome"), [((3,), "running"), ((4,), "reserve empty")])
def test_uprising_rolls_before_it_checks_the_reserve(dice: tuple[int, ...], outcome: str) -> None:
    """R9.4: TINGITANA's only neighbour without Revolt is behind a broken link."""
    tokens = {"TINGITANA": "revolt", "BAETICA": "revolt"}
    _, after, used = end_turn(dice=(1, 1, *dice), reserve={"revolt": 0, "armies": 0}, tokens=tokens)
    assert (after["outcome"], used) == (outcome, [1, 1, *dice])


@pytest.mark.parametrize("lying", [None, "galerius"])
def test_no_revolt_left_for_an_army_loses(lying: str | None) -> None:
    """R9.2, R9.4: the army has entered, the token there stays, and the following army does not move."""
    tokens = {"THRACIA": "revolt", "MOESIA SVPERIOR": "revolt"} | ({"MACEDONIA": lying} if lying else {})
    armies = [["MOESIA SVPERIOR", "IV", "army"], ["THRACIA", "IV", "army"]]
    before, after, _ = end_turn(reserve=NO_REVOLT, tokens=tokens, armies=armies)
    assert changes(before, after) == lost(armies=[armies[0], ["MACEDONIA", "IV", "army"]])


def test_army_that_enters_a_revolt_needs_no_token() -> None:
    """R9.2: no Revolt is needed, so the game continues."""
    tokens = {"THRACIA": "revolt", "MACEDONIA": "revolt"}
    _, after, _ = end_turn(reserve=NO_REVOLT, tokens=tokens, armies=[["THRACIA", "IV", "army"]])
    assert (after["outcome"], after["armies"]) == ("running", [["MACEDONIA", "IV", "army"]])


@pytest.mark.parametrize(("dice", "outcome"), [((3,), "running"), ((4,), "reserve empty")])
def test_advance_rolls_before_it_checks_the_reserve(dice: tuple[int, ...], outcome: str) -> None:
    """R9.4: an army that stays needs no Revolt."""
    _, after, used = end_turn(dice=(*QUIET, *dice), reserve=NO_REVOLT, armies=[["SARMATIA", "IV", "army"]])
    assert (after["outcome"], used) == (outcome, [*QUIET, *dice])


def test_emperor_beaten_at_the_end_is_removed() -> None:
    """R9.4: the army wins and enters before the missing Revolt ends the game."""
    where = {"emperors": {"diocletian": "SYRIA", "galerius": "MACEDONIA"}, "tokens": {"THRACIA": "revolt", "MACEDONIA": "maximian"}}
    before, after, _ = end_turn(dice=(*QUIET, 1, 6), reserve=NO_REVOLT, armies=[["THRACIA", "IV", "army"]], **where)
    beaten = {"armies": [["MACEDONIA", "IV", "army"]], "emperors": before["emperors"] | {"galerius": None}}
    assert changes(before, after) == lost(**beaten)


def test_last_tokens_of_the_reserve_may_be_placed() -> None:
    """R9.2: an empty reserve alone does not lose the game."""
    _, after, _ = end_turn(dice=(4, 5), reserve={"unrest": 1})
    assert (after["outcome"], after["reserve"]["unrest"]) == ("running", 0)


# R9.3: score


def revolts_and_unrest(*spaces: str, **region: int) -> dict[str, str]:
    """Return Revolts on these spaces; `_6=4` adds Unrest on four spaces from id 6 on, where no Revolt is."""
    unrest = {BOARD.names[int(first[1:]) + i]: "unrest" for first, number in region.items() for i in range(number)}
    return unrest | dict.fromkeys(spaces, "revolt")


@pytest.mark.parametrize(
    ("tokens", "armies", "score"),
    [
        ({}, [], 4 - 6),
        ({"LIBYA": "maximian"}, [], 1 + 4 - 5),
        (FIVE, [], 5 + 4 - 1),
        ({"ETRVRIA": "maximian", "ACHAEA": "maximian"}, [], 4 - 6),
        (revolts_and_unrest("SARDINIA"), [], -6),  # a Revolt in ITALIA
        (revolts_and_unrest(_36=6), [], 4 - 6),  # Unrest only, and 6 IP
        (revolts_and_unrest("ROMA", "ETRVRIA", "CISALPINA"), [], -6),  # 6 IP
        (revolts_and_unrest("ROMA", _36=6), [], -6 - 1),  # 7 IP
        (revolts_and_unrest("BELGICA", "LVGDVNENSIS", "AQVITANIA"), [], 4 - 6),  # 6 IP
        (revolts_and_unrest("BELGICA", "LVGDVNENSIS", "AQVITANIA") | {"NARBONENSIS": "unrest"}, [], 4 - 6 - 1),  # 7 IP
        (revolts_and_unrest(_6=6), [], 4 - 6),
        (revolts_and_unrest("BELGICA", _6=6), [], 4 - 6 - 1),
        (
            revolts_and_unrest("BELGICA", "LVGDVNENSIS", "AQVITANIA", "BRITANNIA"),
            [["BRITANNIA", "II", "rebel"]],
            4 - 6 - 1,
        ),  # borders are not provinces
        (revolts_and_unrest(*BOARD.names[:12]), [], 4 - 6 - 2),
        (revolts_and_unrest(*BOARD.names[36:42], *BOARD.names[30:36]), [], -6 - 2),
        (revolts_and_unrest("SYRIA"), [["SARMATIA", "IV", "army"], ["SYRIA", "V", "army"], ["LIBYA", "VI", "army"]], 4 - 6 - 3),
        (FIVE | revolts_and_unrest("LVCANIA"), [["LVCANIA", "VI", "army"]], 5 - 1 - 1),
    ],
)
def test_score_equals_hand_computed_value(tokens: dict[str, str], armies: list[list[str]], score: int) -> None:
    """R9.3: +1 or -1 for each border, +4 for ITALIA without Revolt, -1 for each army and each region over 6 IP."""
    assert snapshot(position(tokens=tokens, armies=armies))["score"] == score


def test_score_of_a_lost_game() -> None:
    """R9.3, R9.4: the army in ROMA counts; ITALIA has a Revolt in ETRVRIA but none in ROMA."""
    _, after, _ = end_turn(tokens=FIVE | {"ETRVRIA": "revolt"}, armies=[["ETRVRIA", "I", "army"]])
    assert (after["outcome"], after["score"]) == ("rome fell", 5 - 1 - 1)


# truncation at max_turns (INTERFACE, section 1)


@pytest.mark.parametrize(("max_turns", "outcome"), [(9, "truncated"), (10, "running")])
def test_game_is_truncated_after_max_turns(max_turns: int, outcome: str) -> None:
    """R9.1, R9.2: neither won nor lost; the ninth turn is completed, with its dice, and no other begins."""
    game = position(dice=(4, 5), rules={"max_turns": max_turns}, emperors={"galerius": None})
    after = play(game, "end")
    assert (after["outcome"], after["turn"], after["tokens"]) == (outcome, 9, {"ACHAEA": "unrest"})
    assert (after["emperor"], after["phase"]) == (("diocletian", "over") if max_turns == 9 else ("galerius", "arrival"))
    assert after["emperors"]["galerius"] is None
    assert bool(legal(game)) == (outcome == "running")


def test_game_lost_in_its_last_turn_is_not_truncated() -> None:
    """R9.2, R9.4: the turn does not count as finished."""
    _, after, _ = end_turn(tokens={"ETRVRIA": "revolt"}, armies=[["ETRVRIA", "I", "army"]], rules={"max_turns": 9})
    assert (after["outcome"], after["turn"]) == ("rome fell", 8)
