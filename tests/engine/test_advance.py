"""The advance of the armies (R8)."""

from itertools import pairwise
from typing import Any

import pytest

from helpers.positions import dice_used, play, position
from tetrarchia_env.board import BOARD, BROKEN
from tetrarchia_env.notation import Snapshot, snapshot

QUIET = (5, 6)  # BITHYNIA, which its printed token protects
SIDES = [1, 2, 3, 4, 5, 6]
PATHS = {
    "I": "GAETVLIA - TINGITANA - BAETICA - CARTHAGINENSIS - TARRACONENSIS - NARBONENSIS - CISALPINA - ETRVRIA",
    "II": "BRITANNIA - BELGICA - GERMANIA INFERIOR - GERMANIA SVPERIOR - LVGDVNENSIS - AQVITANIA - NARBONENSIS - CISALPINA - ETRVRIA",
    "III": "GERMANIA MAGNA - DACIA - PANNONIA INFERIOR - NORICVM - RHAETIA - PANNONIA SVPERIOR - CISALPINA - ETRVRIA",
    "IV": "SARMATIA - MOESIA INFERIOR - MOESIA SVPERIOR - THRACIA - MACEDONIA - EPIRVS - LVCANIA",
    "V": "PERSIA - SYRIA - CAPPADOCIA - GALATIA - CILICIA - ASIA - BITHYNIA - THRACIA - MACEDONIA - EPIRVS - LVCANIA",
    "VI": "LIBYA - AEGYPTVS - CYRENAICA - TRIPOLITANIA - PROCONSVLARIS - SICILIA - LVCANIA",
}  # as in docs/board.md, without the last step into ROMA


def advance(*armies: tuple[str, str], dice: tuple[int, ...] = (), **changes: Any) -> tuple[Snapshot, list[int]]:
    """Play a Barbarian phase without trouble for these armies (space, origin), on Revolts in provinces; return the dice rolled by R8."""
    revolts = {space: "revolt" for space, _ in armies if BOARD.space_id(space) < 42}
    changes["tokens"] = revolts | changes.get("tokens", {})
    game = position(dice=QUIET + dice, armies=[[*army, "army"] for army in armies], **changes)
    before = snapshot(game)["dice"]
    after = play(game, "end")
    used = dice_used(before, after["dice"])
    assert used[:2] == list(QUIET)
    return after, used[2:]


def army_positions(after: Snapshot) -> set[tuple[str, str]]:
    """Return the space and the origin of each army."""
    return {(space, origin) for space, origin, _ in after["armies"]}


# R8.1: which armies, in which order


@pytest.mark.parametrize(("dice", "moved"), [((4, 1), {"AEGYPTVS", "GAETVLIA"}), ((1, 4), {"LIBYA", "TINGITANA"})])
def test_army_with_the_fewest_steps_moves_first(dice: tuple[int, int], moved: set[str]) -> None:
    """R8.1: LIBYA has 7 steps to ROMA, GAETVLIA 8, so LIBYA rolls first for its broken link."""
    after, used = advance(("GAETVLIA", "I"), ("LIBYA", "VI"), dice=dice)
    assert {space for space, _ in army_positions(after)} == moved
    assert used == list(dice)


@pytest.mark.parametrize(("dice", "moved"), [((4, 1), {"MOESIA INFERIOR", "LIBYA"}), ((1, 4), {"SARMATIA", "AEGYPTVS"})])
def test_equal_steps_are_ordered_by_region(dice: tuple[int, int], moved: set[str]) -> None:
    """R8.1: both have 7 steps; SARMATIA is in region IV, LIBYA in VI."""
    after, used = advance(("LIBYA", "VI"), ("SARMATIA", "IV"), dice=dice)
    assert {space for space, _ in army_positions(after)} == moved
    assert used == list(dice)


@pytest.mark.parametrize("rival", ["IV", "V"])
def test_current_region_is_compared_before_the_origin(rival: str) -> None:
    """R8.1: SICILIA and EPIRVS are 2 steps away; ITALIA is region 0, so the army of VI enters LVCANIA; the other stays without a roll."""
    after, used = advance(("EPIRVS", rival), ("SICILIA", "VI"), dice=(4,))
    assert army_positions(after) == {("LVCANIA", "VI"), ("EPIRVS", rival)}
    assert used == [4]


@pytest.mark.parametrize(("west", "east"), [("I", "IV"), ("II", "VI"), ("III", "V")])
def test_remaining_ties_are_ordered_by_origin(west: str, east: str) -> None:
    """R8.1: ETRVRIA and LVCANIA are both in ITALIA, 1 step away; the lower origin enters ROMA and ends the game."""
    after, _ = advance(("LVCANIA", east), ("ETRVRIA", west))
    assert army_positions(after) == {("ROMA", west), ("LVCANIA", east)}


def test_three_armies_advance_in_order() -> None:
    """R8.1: MOESIA INFERIOR is 6 steps away over a normal link, LIBYA 7, PERSIA 11; the dice are used in this order."""
    after, used = advance(("PERSIA", "V"), ("LIBYA", "VI"), ("MOESIA INFERIOR", "IV"), dice=(1, 4))
    assert army_positions(after) == {("MOESIA SVPERIOR", "IV"), ("LIBYA", "VI"), ("SYRIA", "V")}
    assert used == [1, 4]


def test_army_placed_in_this_turn_advances() -> None:
    """R8.1: the dice are those of the Uprising in GALLAECIA, of its border, and of the army's step."""
    game = position(dice=(1, 5, 6, 4), tokens={"GALLAECIA": "revolt"})
    assert army_positions(play(game, "end")) == {("AEGYPTVS", "VI")}


def test_column_of_armies_advances() -> None:
    """R8.1: the army closest to ROMA moves first, so the next one finds its space free."""
    after, used = advance(("THRACIA", "IV"), ("MACEDONIA", "V"), ("EPIRVS", "IV"), dice=(4,))
    assert army_positions(after) == {("MACEDONIA", "IV"), ("EPIRVS", "V"), ("LVCANIA", "IV")}
    assert used == [4]


# R8.2: the step


@pytest.mark.parametrize("origin", PATHS)
def test_army_follows_the_path_of_its_region(origin: str) -> None:
    """R8.2: armies move one space per turn and roll only for a broken link."""
    path = PATHS[origin].split(" - ")
    away = {"diocletian": "SARDINIA", "galerius": None, "constantius": None, "maximian": None}
    for space, goal in pairwise(path):
        broken = bool(BOARD.links[BOARD.space_id(space), BOARD.space_id(goal)] == BROKEN)
        tokens = {"ACHAEA": "maximian"} | ({space: "revolt"} if space != path[0] else {})
        game = position(dice=(4, 5, 4), tokens=tokens, armies=[[space, origin, "army"]], emperors=away)
        before = snapshot(game)["dice"]
        after = play(game, "end")
        assert after["armies"] == [[goal, origin, "army"]]
        assert dice_used(before, after["dice"]) == [4, 5] + [4] * broken


@pytest.mark.parametrize("die", SIDES)
def test_broken_link_stops_an_advance_on_1_to_3(die: int) -> None:
    """R8.2, R6.5: the army stays on 1 to 3 and moves on 4 to 6."""
    after, used = advance(("SARMATIA", "IV"), dice=(die,))
    assert army_positions(after) == {("MOESIA INFERIOR" if die >= 4 else "SARMATIA", "IV")}
    assert after["tokens"] == ({"MOESIA INFERIOR": "revolt"} if die >= 4 else {})
    assert used == [die]


def test_army_behind_another_stays_without_a_roll() -> None:
    """R8.2: the army in TINGITANA fails its roll; that in GAETVLIA is behind it, so its broken link takes no die."""
    after, used = advance(("GAETVLIA", "I"), ("TINGITANA", "I"), dice=(1, 4))
    assert army_positions(after) == {("GAETVLIA", "I"), ("TINGITANA", "I")}
    assert used == [1]


def test_broken_link_is_rolled_before_an_attack() -> None:
    """R8.2: on 3 the army does not attack the Emperor behind the link."""
    after, used = advance(("SARMATIA", "IV"), dice=(3,), emperors={"galerius": "MOESIA INFERIOR"})
    assert army_positions(after) == {("SARMATIA", "IV")}
    assert after["emperors"]["galerius"] == "MOESIA INFERIOR"
    assert used == [3]


# R8.3: entering


@pytest.mark.parametrize("lying", [None, "unrest", "revolt", "diocletian", "galerius", "constantius", "maximian"])
def test_army_replaces_any_token_with_a_revolt(lying: str | None) -> None:
    """R8.3: the replaced token returns to its owner; a Revolt stays."""
    after, _ = advance(("LIBYA", "VI"), dice=(4,), tokens={"AEGYPTVS": lying} if lying else {})
    assert army_positions(after) == {("AEGYPTVS", "VI")}
    assert after["tokens"] == {"AEGYPTVS": "revolt"}
    assert after["reserve"] == {"unrest": 21, "revolt": 20, "armies": 2}
    assert set(after["supply"].values()) == {4}


def test_printed_token_does_not_stop_the_revolt() -> None:
    """R8.3: an army that enters an empty capital places a Revolt there, as in any province."""
    after, _ = advance(("DACIA", "III"), dice=(4,), emperors={"galerius": "ACHAEA"})
    assert army_positions(after) == {("PANNONIA INFERIOR", "III")}
    assert after["tokens"]["PANNONIA INFERIOR"] == "revolt"


def test_border_left_behind_stays_empty() -> None:
    """R8.3: Revolts are placed in the provinces that armies enter, not on the spaces they leave."""
    after, _ = advance(("GERMANIA MAGNA", "III"), dice=(5,))
    assert after["tokens"] == {"DACIA": "revolt"}


def test_entering_roma_loses_the_game() -> None:
    """R8.3: the game ends at once; no Revolt is placed and the following army does not move."""
    after, used = advance(("ETRVRIA", "II"), ("CISALPINA", "I"), tokens={"ROMA": "galerius"}, emperors={"maximian": "RHAETIA"})
    assert (after["outcome"], after["phase"]) == ("rome fell", "over")
    assert army_positions(after) == {("ROMA", "II"), ("CISALPINA", "I")}
    assert after["tokens"] == {"ETRVRIA": "revolt", "CISALPINA": "revolt", "ROMA": "galerius"}
    assert used == []


# R8.4: attacking; test_combat.py has the results (R5.5)


def test_links_are_not_rolled_for_support() -> None:
    """R6.5: the army's own step is rolled for, but not the broken link to its Revolt in DACIA: 3 equals 2 + 1."""
    changes = {"emperors": {"galerius": "MOESIA INFERIOR"}, "tokens": {"DACIA": "revolt"}}
    after, used = advance(("SARMATIA", "IV"), dice=(4, 3, 2), **changes)
    assert (after["emperors"]["galerius"], army_positions(after)) == ("MOESIA INFERIOR", {("SARMATIA", "IV")})
    assert used == [4, 3, 2]
