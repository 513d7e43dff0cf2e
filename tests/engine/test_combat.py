"""R4.7: attacking an army; R5: combat with predetermined dice."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.notation import snapshot

ARMY = ["CARTHAGINENSIS", "I", "army"]
WON, LOST, DRAWN = "won", "lost", "drawn"
DUX: dict[str, Any] = {"rules": {"modules": ["dux"]}}


def attack(start: str, army: list[str], dice: tuple[int, int], *, emperor: str = "maximian", **changes: Any) -> str:
    """Return the result of the Emperor's attack from `start` on this army; other changes are those of `position`."""
    places = {emperor: start} | changes.pop("emperors", {})
    game = position(emperor=emperor, emperors=places, armies=[army, *changes.pop("armies", [])], dice=dice, **changes)
    place = play(game, f"attack {army[0]}")["emperors"][emperor]
    return {army[0]: WON, None: LOST, start: DRAWN}[place]


def defence(*dice: int, token: str = "maximian", **changes: Any) -> batch.Games:
    """Return a position in which an army in CARTHAGINENSIS is about to attack Maximian in TARRACONENSIS, after Unrest in SYRIA."""
    tokens = {"CARTHAGINENSIS": "revolt", "TARRACONENSIS": token} | changes.pop("tokens", {})
    places = {"maximian": "TARRACONENSIS"} | changes.pop("emperors", {})
    return position(tokens=tokens, emperors=places, armies=[ARMY, *changes.pop("armies", [])], dice=(5, 1, *dice), **changes)


@pytest.mark.parametrize(
    ("start", "army", "revolt", "cost"),
    [
        ("LVSITANIA", ARMY, False, 1),
        ("LVSITANIA", ARMY, True, 2),
        ("TARRACONENSIS", ["NARBONENSIS", "I", "army"], False, 2),
        ("TARRACONENSIS", ["NARBONENSIS", "I", "army"], True, 3),
        ("BELGICA", ["BRITANNIA", "II", "army"], False, 2),
        ("BAETICA", ["TINGITANA", "I", "army"], True, 3),
    ],
)
@pytest.mark.parametrize("fleets", [[], ["ATLANTICVM", "INTERNVM", "AEGAEVM"]])
def test_cost_of_an_attack_r4_7(start: str, army: list[str], revolt: bool, cost: int, fleets: list[str]) -> None:
    """R4.7: the cost of the link, plus 1 for a Revolt; fleets do not matter."""
    changes: dict[str, Any] = {"armies": [army], "emperors": {"diocletian": start}, "fleets": fleets}
    changes["tokens"] = {army[0]: "revolt"} if revolt else {}
    assert play(position(**changes, dice=(6, 1)), f"attack {army[0]}")["ip"] == 6 - cost
    assert may(position(**changes, ip=cost), f"attack {army[0]}")
    assert cost == 1 or not may(position(**changes, ip=cost - 1), f"attack {army[0]}")


def test_no_attack_without_a_link_or_without_an_army_r4_7() -> None:
    """R4.7: the army must be on a linked space; a shared coast with a fleet is not enough."""
    game = position(emperors={"diocletian": "TARRACONENSIS"}, armies=[["BAETICA", "I", "army"]], fleets=["INTERNVM", "ATLANTICVM"])
    assert [text for text in legal(game) if text.startswith("attack")] == []


@pytest.mark.parametrize(("dice", "result"), [((4, 3), WON), ((3, 4), LOST), ((3, 3), DRAWN), ((6, 1), WON), ((1, 6), LOST)])
def test_roman_die_is_rolled_before_the_normal_one_r5_1(dice: tuple[int, int], result: str) -> None:
    """R5.1: without support and helpers only the dice count; R is rolled before N."""
    assert attack("LVSITANIA", ARMY, dice) == result


@pytest.mark.parametrize(
    ("helpers", "dice", "result"),
    [
        ([], (2, 2), DRAWN),
        (["BAETICA"], (2, 4), DRAWN),
        (["BAETICA"], (2, 5), LOST),
        (["BAETICA"], (2, 3), WON),
        (["BAETICA", "TARRACONENSIS"], (1, 4), DRAWN),
        (["BAETICA", "TARRACONENSIS"], (1, 5), LOST),
    ],
)
def test_each_other_emperor_next_to_the_army_doubles_r5_1(helpers: list[str], dice: tuple[int, int], result: str) -> None:
    """R5.1: x2 for one helper, x4 for two; the attacker does not double himself."""
    others = dict(zip(["galerius", "constantius"], helpers, strict=False))
    assert attack("LVSITANIA", ARMY, dice, emperors=others) == result


@pytest.mark.parametrize(("dice", "result"), [((1, 4), DRAWN), ((1, 5), LOST), ((1, 3), WON)])
def test_support_is_added_before_doubling_r5_1(dice: tuple[int, int], result: str) -> None:
    """R5.1: (1 + 1) x 2 is 4."""
    assert attack("LVSITANIA", ARMY, dice, emperors={"galerius": "BAETICA"}, tokens={"LVSITANIA": "maximian"}) == result


def test_the_dux_doubles_like_an_emperor_r5_1() -> None:
    """R5.1: the Dux doubles if he is next to the army."""
    assert attack("LVSITANIA", ARMY, (2, 4), dux="BAETICA", **DUX) == DRAWN
    assert attack("LVSITANIA", ARMY, (2, 4), dux="GALLAECIA", **DUX) == LOST


def test_helpers_must_be_next_to_the_opponent_r5_1() -> None:
    """R5.1: an Emperor must be next to the army, not only to the attacker; another army must be next to the attacker."""
    assert attack("LVSITANIA", ARMY, (3, 4), emperors={"galerius": "GALLAECIA"}) == LOST
    assert attack("LVSITANIA", ARMY, (4, 3), armies=[["TARRACONENSIS", "I", "army"]]) == WON


@pytest.mark.parametrize(
    ("more", "dice", "result"),
    [(1, (4, 2), DRAWN), (1, (5, 2), WON), (1, (3, 2), LOST), (2, (4, 1), DRAWN), (2, (5, 1), WON), (2, (6, 2), LOST)],
)
def test_each_other_army_next_to_the_emperor_doubles_r5_1(more: int, dice: tuple[int, int], result: str) -> None:
    """R5.1: one or two more armies are next to Diocletian in NARBONENSIS; the attacked army does not double itself."""
    around = [["LVGDVNENSIS", "II", "army"], ["TARRACONENSIS", "I", "army"]][:more]
    assert attack("NARBONENSIS", ["AQVITANIA", "II", "army"], dice, emperor="diocletian", armies=around) == result


def test_both_sides_double_r5_1() -> None:
    """R5.1: (2 + 1) x 2 against (1 + 2) x 2."""
    changes: dict[str, Any] = {
        "emperors": {"galerius": "TARRACONENSIS"},
        "armies": [["BAETICA", "I", "army"]],
        "tokens": {"LVSITANIA": "maximian", "CARTHAGINENSIS": "revolt", "BAETICA": "revolt"},
    }
    assert attack("LVSITANIA", ARMY, (2, 1), **changes) == DRAWN
    assert attack("LVSITANIA", ARMY, (3, 1), **changes) == WON


def test_broken_links_count_without_a_roll_r5_1() -> None:
    """R5.1: army, helper, support and Revolts are all behind broken links: (1 + 1) x 2 against 3 + 1, two dice."""
    game = position(
        emperors={"diocletian": "SICILIA", "galerius": "ACHAEA", "maximian": "LVCANIA"},
        emperor="maximian",
        armies=[["EPIRVS", "IV", "army"]],
        tokens={"SICILIA": "maximian", "ROMA": "unrest", "ACHAEA": "revolt"},
        dice=(1, 3),
    )
    rng = snapshot(game)["dice"]
    after = play(game, "attack EPIRVS")
    assert (after["emperors"]["maximian"], after["armies"]) == ("LVCANIA", [["EPIRVS", "IV", "army"]])
    assert dice_used(rng, after["dice"]) == [1, 3]


@pytest.mark.parametrize(
    ("tokens", "support"),
    [
        ({}, 0),
        ({"CARTHAGINENSIS": "revolt"}, 1),
        ({"BAETICA": "revolt"}, 1),
        ({"BAETICA": "revolt", "TARRACONENSIS": "revolt"}, 1),
        ({"BAETICA": "revolt", "TARRACONENSIS": "revolt", "CARTHAGINENSIS": "revolt"}, 3),
        ({"BAETICA": "revolt", "TINGITANA": "revolt", "TARRACONENSIS": "revolt"}, 2),
        ({"TINGITANA": "revolt", "GALLAECIA": "revolt"}, 0),
        ({"CARTHAGINENSIS": "revolt", "GALLAECIA": "revolt", "TINGITANA": "revolt"}, 1),
        ({"BAETICA": "unrest", "CARTHAGINENSIS": "unrest", "TINGITANA": "revolt"}, 0),
        ({"BAETICA": "revolt", "TARRACONENSIS": "revolt", "NARBONENSIS": "revolt", "AQVITANIA": "revolt", "GALLAECIA": "galerius"}, 3),
    ],
)
def test_barbarian_support_r5_2(tokens: dict[str, str], support: int) -> None:
    """R5.2: the Revolts of the army's own chain, or of the largest adjacent chain; Unrest does not count."""
    assert attack("LVSITANIA", ARMY, (1 + support, 1), tokens=tokens) == DRAWN
    assert attack("LVSITANIA", ARMY, (2 + support, 1), tokens=tokens) == WON
    assert attack("LVSITANIA", ARMY, (1 + support, 2), tokens=tokens) == LOST


@pytest.mark.parametrize(
    ("tokens", "support"),
    [
        ({}, 0),
        ({"LVSITANIA": "maximian"}, 1),
        ({"LVSITANIA": "constantius"}, 0),
        ({"LVSITANIA": "galerius", "BAETICA": "maximian"}, 1),
        ({"BAETICA": "maximian", "GALLAECIA": "maximian"}, 1),
        ({"BAETICA": "maximian", "GALLAECIA": "maximian", "LVSITANIA": "maximian"}, 3),
        ({"BAETICA": "maximian", "TINGITANA": "maximian", "GALLAECIA": "maximian"}, 2),
        ({"TINGITANA": "maximian"}, 0),
        ({"LVSITANIA": "maximian", "TINGITANA": "maximian"}, 1),
        ({"LVSITANIA": "maximian", "BAETICA": "galerius", "TINGITANA": "maximian"}, 1),
        ({"LVSITANIA": "maximian", "CARTHAGINENSIS": "maximian", "TARRACONENSIS": "maximian"}, 3),
    ],
)
def test_roman_support_r5_3(tokens: dict[str, str], support: int) -> None:
    """R5.3: one chain of the Emperor's tokens counts: the one on his space, or the largest adjacent one."""
    assert attack("LVSITANIA", ARMY, (1, 1 + support), tokens=tokens) == DRAWN
    assert attack("LVSITANIA", ARMY, (1, 2 + support), tokens=tokens) == LOST
    assert attack("LVSITANIA", ARMY, (2, 1 + support), tokens=tokens) == WON


@pytest.mark.parametrize(("tokens", "support"), [({}, 1), ({"ETRVRIA": "maximian"}, 3), ({"ROMA": "unrest", "ETRVRIA": "maximian"}, 2)])
def test_printed_tokens_are_part_of_chains_r5_3(tokens: dict[str, str], support: int) -> None:
    """R5.3, R1.5: CISALPINA and ROMA are joined by a token between them."""
    assert attack("CISALPINA", ["RHAETIA", "III", "army"], (1, 1 + support), tokens=tokens) == DRAWN
    assert attack("CISALPINA", ["RHAETIA", "III", "army"], (2, 1 + support), tokens=tokens) == WON


@pytest.mark.parametrize("kind", [None, "unrest", "revolt"])
def test_a_won_attack_r5_4(kind: str | None) -> None:
    """R5.4: army and token go to the reserve; the Emperor takes the space and continues his turn."""
    game = position(emperors={"diocletian": "LVSITANIA"}, armies=[ARMY], tokens={} if kind is None else {ARMY[0]: kind}, dice=(6, 1))
    after = play(game, f"attack {ARMY[0]}")
    assert (after["emperors"]["diocletian"], after["armies"], after["tokens"]) == (ARMY[0], [], {})
    assert after["reserve"] == {"unrest": 21, "revolt": 21, "armies": 3}
    assert (after["emperor"], after["phase"], after["ip"]) == ("diocletian", "roman", 4 if kind == "revolt" else 5)
    assert {"end", "secure", "move BAETICA"} <= legal(game)


@pytest.mark.parametrize("owner", [None, "diocletian", "galerius"])
def test_a_lost_attack_r5_4(owner: str | None) -> None:
    """R5.4: the Emperor and any Emperor's token on his space are removed, his Roman phase ends with 5 IP left, and the army advances."""
    tokens = {} if owner is None else {"LVSITANIA": owner}
    game = position(emperors={"diocletian": "LVSITANIA"}, armies=[ARMY], tokens=tokens, dice=(1, 6, 5, 1))
    after = play(game, f"attack {ARMY[0]}")
    assert (after["emperor"], after["turn"], after["emperors"]["diocletian"]) == ("galerius", 9, None)
    assert after["armies"] == [["TARRACONENSIS", "I", "army"]]
    assert after["tokens"] == {"SYRIA": "unrest", "TARRACONENSIS": "revolt"}
    assert after["supply"]["diocletian"] == after["supply"]["galerius"] == 4


@pytest.mark.parametrize("kind", ["unrest", "revolt"])
def test_a_lost_attack_leaves_unrest_and_revolts_r5_4(kind: str) -> None:
    """R5.4: only Emperors' tokens are removed; tokens on other spaces stay."""
    tokens = {"LVSITANIA": kind, "GALLAECIA": "diocletian"}
    game = position(emperors={"diocletian": "LVSITANIA"}, armies=[ARMY], tokens=tokens, dice=(1, 6, 5, 1))
    after = play(game, f"attack {ARMY[0]}")
    assert after["tokens"] == tokens | {"SYRIA": "unrest", "TARRACONENSIS": "revolt"}


def test_a_lost_attack_frees_a_secured_border_r5_4() -> None:
    """R5.4, Note: the token on a border is removed too."""
    game = position(
        emperors={"diocletian": "PERSIA"}, armies=[["CAPPADOCIA", "V", "army"]], tokens={"PERSIA": "galerius"}, dice=(1, 6, 1, 4)
    )
    after = play(game, "attack CAPPADOCIA")
    assert ("PERSIA" in after["tokens"], after["supply"]["galerius"]) == (False, 4)


def test_a_drawn_attack_changes_nothing_and_can_be_repeated_r5_4() -> None:
    """R5.4: only the IP are spent."""
    game = position(emperors={"diocletian": "LVSITANIA"}, armies=[ARMY], tokens={ARMY[0]: "revolt"}, dice=(3, 2, 6, 1))
    before = snapshot(game)
    after = play(game, f"attack {ARMY[0]}")
    assert {name for name in after if after[name] != before[name]} == {"ip", "dice"}
    assert play(game, f"attack {ARMY[0]}")["emperors"]["diocletian"] == ARMY[0]


def test_winning_army_takes_the_space_r5_5() -> None:
    """R5.5, R8.3: 1 + 1 against 2 + 1: Maximian is removed, and a Revolt replaces his token."""
    after = play(defence(1, 2), "end")
    assert (after["emperors"]["maximian"], after["armies"]) == (None, [["TARRACONENSIS", "I", "army"]])
    assert after["tokens"] == {"SYRIA": "unrest", "CARTHAGINENSIS": "revolt", "TARRACONENSIS": "revolt"}
    assert after["supply"]["maximian"] == 4


def test_losing_army_is_removed_with_its_token_r5_5() -> None:
    """R5.5: 2 + 1 against 1 + 1: army and Revolt go to the reserve, Maximian stays."""
    after = play(defence(2, 1), "end")
    assert (after["emperors"]["maximian"], after["armies"]) == ("TARRACONENSIS", [])
    assert after["tokens"] == {"SYRIA": "unrest", "TARRACONENSIS": "maximian"}
    assert (after["reserve"]["armies"], after["reserve"]["revolt"]) == (3, 21)


def test_a_draw_leaves_both_where_they_are_r5_5() -> None:
    """R5.5: 3 + 1 against 3 + 1."""
    after = play(defence(3, 3), "end")
    assert (after["emperors"]["maximian"], after["armies"]) == ("TARRACONENSIS", [ARMY])
    assert after["tokens"] == {"SYRIA": "unrest", "CARTHAGINENSIS": "revolt", "TARRACONENSIS": "maximian"}


@pytest.mark.parametrize(("dice", "left"), [((2, 5), 1), ((2, 6), 1), ((2, 4), 0)])
def test_helpers_double_the_defender_r5_5(dice: tuple[int, int], left: int) -> None:
    """R5.5, R5.1: with Galerius next to the army the values are (2 + 1) x 2 and N + 1."""
    after = play(defence(*dice, emperors={"galerius": "LVSITANIA"}), "end")
    assert len(after["armies"]) == left
    assert (after["emperors"]["maximian"] is None) == (dice == (2, 6))


@pytest.mark.parametrize(("dice", "place"), [((5, 2), "TARRACONENSIS"), ((4, 2), None)])
def test_other_armies_next_to_the_defender_double_the_attacker_r5_5(dice: tuple[int, int], place: str | None) -> None:
    """R5.5, R5.1: with a second army, stopped in NARBONENSIS, the values are R + 1 and (2 + 1) x 2."""
    after = play(defence(1, *dice, armies=[["NARBONENSIS", "I", "army"]]), "end")
    assert after["emperors"]["maximian"] == place
    assert ARMY in after["armies"] if place else ARMY not in after["armies"]
