"""R11: the Dux, the Pirates and the Goths."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, may, play, position, rng_for
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.notation import restore, snapshot

Changes = dict[str, Any]
DUX, PIRATES, GOTHS = ({"modules": [name]} for name in ("dux", "pirates", "goths"))
BOTH = {"modules": ["dux", "pirates"]}
BITHYNIA = (5, 6)  # R6.3: no change, because of the printed token
IN_THRACE: Changes = {"emperors": {"diocletian": "THRACIA", "galerius": None}}
UPRISING = (1, 4)  # R6.3: LVSITANIA, whose links are all normal
LVSITANIA = {"LVSITANIA": "revolt"}
ACHAEA, BAETICA, GALATIA, ASIA = (4, 5), (1, 2), (5, 3), (5, 5)


def beginning_with(actions: set[str], words: str) -> set[str]:
    return {text for text in actions if text.startswith(words)}


@pytest.mark.parametrize(
    ("changes", "spaces"),
    [
        ({"ip": 2}, {"THRACIA", "GALATIA", "ASIA"}),
        ({"ip": 1}, set()),
        ({"tokens": {"GALATIA": "unrest", "ASIA": "revolt"}}, {"THRACIA"}),
        ({"tokens": {"GALATIA": "maximian", "ASIA": "diocletian"}}, {"THRACIA", "GALATIA", "ASIA"}),
        ({"emperors": {"galerius": "THRACIA"}, "armies": [["ASIA", "V", "army"]]}, {"GALATIA"}),
        ({"emperors": {"diocletian": "CAPPADOCIA"}}, {"SYRIA", "GALATIA", "CILICIA"}),
        ({"dux": "gone"}, set()),
        ({"dux": None, "rules": {}}, set()),
    ],
)
def test_spaces_where_the_dux_may_be_deployed(changes: Changes, spaces: set[str]) -> None:
    """R11.1: for 2 IP on a linked Roman province without Unrest, Revolt or figure; once per game."""
    game = position(**Changes(rules=DUX, dux="available") | changes)
    assert beginning_with(legal(game), "dux deploy") == {f"dux deploy {space}" for space in spaces}


def test_deploying_the_dux_costs_2_ip_once_per_game() -> None:
    """R11.1: 2 IP for any link; `secure` applies only to the Emperor's own space."""
    game = position(rules=DUX, dux="available", tokens={"BITHYNIA": "galerius"})
    after = play(game, "dux deploy THRACIA")
    assert (after["dux"], after["ip"], may(game, "secure"), beginning_with(legal(game), "dux deploy")) == ("THRACIA", 4, False, set())


@pytest.mark.parametrize("emperor", EMPERORS)
@pytest.mark.parametrize(
    ("token", "text", "cost", "dux", "left"),
    [
        ({}, "dux move CARTHAGINENSIS", 1, "CARTHAGINENSIS", {}),
        ({}, "dux move TINGITANA", 2, "TINGITANA", {}),
        ({"LVSITANIA": "revolt"}, "dux move LVSITANIA", 2, "LVSITANIA", {"LVSITANIA": "revolt"}),
        ({"SICILIA": "unrest"}, "dux move SICILIA", 1, "SICILIA", {"SICILIA": "unrest"}),
        ({"BAETICA": "unrest"}, "dux subdue", 1, "BAETICA", {}),
        ({"BAETICA": "revolt"}, "dux subdue", 2, "BAETICA", {}),
        ({"BAETICA": "revolt"}, "dux calm", 1, "BAETICA", {"BAETICA": "unrest"}),
    ],
)
def test_acting_emperor_controls_the_dux(emperor: str, token: Changes, text: str, cost: int, dux: str, left: Changes) -> None:
    """R11.1: the Emperor whose turn it is pays for move (R4.1, also by fleet), subdue and calm (R4.6)."""
    after = play(position(rules=DUX, dux="BAETICA", emperor=emperor, tokens=token, fleets=["INTERNVM"]), text)
    assert (after["dux"], after["tokens"], after["ip"], after["emperor"]) == (dux, left, 6 - cost, emperor)


# the Dux, on a token of Diocletian, next to an army on a Revolt: R against N + 1
FIGHT: Changes = {"rules": DUX, "dux": "THRACIA", "armies": [["MOESIA SVPERIOR", "IV", "army"]], "emperors": {"galerius": None}}
FIGHT |= {"tokens": {"MOESIA SVPERIOR": "revolt", "THRACIA": "diocletian"}}
AT_ROME: Changes = {"dux": "ETRVRIA", "armies": [["CISALPINA", "I", "army"]], "tokens": {"CISALPINA": "revolt"}}
AT_ROME |= {"emperors": {"maximian": None}}
TWO_ARMIES: Changes = {"armies": [["MOESIA SVPERIOR", "IV", "army"], ["MACEDONIA", "V", "army"]]}
TWO_ARMIES |= {"tokens": {"MOESIA SVPERIOR": "revolt", "MACEDONIA": "revolt", "THRACIA": "diocletian"}}


@pytest.mark.parametrize(
    ("changes", "dice"),
    [
        ({}, (4, 3)),
        (AT_ROME, (4, 3)),
        ({"emperors": {"galerius": "PANNONIA INFERIOR"}}, (2, 3)),
        ({"emperors": {"galerius": "PANNONIA INFERIOR", "maximian": "DALMATIA"}}, (1, 3)),
        (TWO_ARMIES, (6, 1)),
    ],
)
def test_the_dux_has_no_support_but_is_doubled(changes: Changes, dice: tuple[int, int]) -> None:
    """R11.1, R5.1, R5.3: the values are equal only without support and with these doublings."""
    fight = FIGHT | changes
    after = play(position(dice=dice, **fight), f"dux attack {fight['armies'][0][0]}")
    assert (after["dux"], after["armies"], after["ip"], after["phase"]) == (fight["dux"], fight["armies"], 4, "roman")


@pytest.mark.parametrize(("dice", "dux", "armies", "supply"), [((6, 1), "MOESIA SVPERIOR", 3, 3), ((1, 6), "gone", 2, 4)])
def test_combat_of_the_dux_does_not_end_the_turn(dice: tuple[int, int], dux: str, armies: int, supply: int) -> None:
    """R11.1, R5.4: the Dux takes the space, or is removed with the Emperor's token on his space; the Emperor's turn continues."""
    game = position(dice=dice, **FIGHT)
    after = play(game, "dux attack MOESIA SVPERIOR")
    assert (after["dux"], after["reserve"]["armies"], after["supply"]["diocletian"]) == (dux, armies, supply)
    assert after["tokens"] == ({"MOESIA SVPERIOR": "revolt"} if dux == "gone" else {"THRACIA": "diocletian"})
    assert (after["phase"], after["emperor"], after["ip"]) == ("roman", "diocletian", 4)
    assert bool(beginning_with(legal(game), "dux")) == (dux != "gone")


@pytest.mark.parametrize(
    ("changes", "dice", "dux", "army"),
    [
        ({"dux": "MACEDONIA", "tokens": {"MACEDONIA": "revolt"}, "armies": []}, BITHYNIA, "gone", []),
        ({"dux": "MACEDONIA", "tokens": {"MACEDONIA": "unrest"}, "armies": []}, BITHYNIA, "MACEDONIA", []),
        ({}, (*BITHYNIA, 3, 3), "gone", [["THRACIA", "IV", "army"]]),
        ({}, (*BITHYNIA, 4, 3), "THRACIA", [["MOESIA SVPERIOR", "IV", "army"]]),
        ({}, (*BITHYNIA, 5, 3), "THRACIA", []),
    ],
)
def test_revolts_and_armies_remove_the_dux_permanently(changes: Changes, dice: tuple[int, ...], dux: str, army: list[list[str]]) -> None:
    """R11.1, R6.2, R8.4: the Dux is removed like an Emperor, but does not return."""
    after = play(position(dice=dice, **FIGHT | {"emperor": "maximian"} | changes), "end")
    assert (after["dux"], after["armies"], after["emperor"]) == (dux, army, "diocletian")


@pytest.mark.parametrize("text", ["attack PIRATES", "dux attack PIRATES"])
def test_no_fleet_enters_the_pirates_zone_until_they_are_beaten(text: str) -> None:
    """R11.2: neither at set-up nor by sailing; beaten Pirates leave the board, the victor stays and the turn continues."""
    start: Changes = {"rules": PIRATES, "phase": "fleets", "turn": 0, "ip": 0, "emperors": dict.fromkeys(EMPERORS)}
    assert legal(position(pirates="INTERNVM", **start)) == {"fleet ATLANTICVM", "fleet AEGAEVM"}
    game = position(rules=BOTH, dux="ASIA", pirates="AEGAEVM", fleets=["INTERNVM"], dice=(6, 1))
    assert beginning_with(legal(game), "sail") == {"sail INTERNVM ATLANTICVM"}
    after = play(game, text)
    assert (after["pirates"], after["ip"], after["phase"], after["dux"]) == ("gone", 4, "roman", "ASIA")
    assert (after["emperors"]["diocletian"], may(game, "sail INTERNVM AEGAEVM"), may(game, text)) == ("BITHYNIA", True, False)


@pytest.mark.parametrize(
    ("place", "zone", "ip", "open_to"),
    [("ASIA", "AEGAEVM", 2, True), ("ASIA", "AEGAEVM", 1, False), ("GALATIA", "AEGAEVM", 6, False), ("ASIA", "INTERNVM", 6, False)],
)
def test_conditions_for_attacking_the_pirates(place: str, zone: str, ip: int, open_to: bool) -> None:
    """R11.2: an Emperor or the Dux on that coast may attack for 2 IP."""
    assert may(position(rules=BOTH, dux="gone", emperors={"diocletian": place}, pirates=zone, ip=ip), "attack PIRATES") == open_to
    game = position(rules=BOTH, dux=place, emperors={"diocletian": "CAPPADOCIA"}, pirates=zone, ip=ip)
    assert (may(game, "dux attack PIRATES"), may(game, "attack PIRATES")) == (open_to, False)


@pytest.mark.parametrize(
    ("changes", "text", "dice"),
    [
        ({}, "attack PIRATES", (3, 4)),  # BITHYNIA's printed token
        ({"tokens": {"BITHYNIA": "galerius"}}, "attack PIRATES", (4, 4)),
        ({"tokens": {"SYRIA": "diocletian", "GALATIA": "diocletian"}}, "attack PIRATES", (2, 4)),
        ({"tokens": {"SYRIA": "galerius"}, "rules": {**PIRATES, "variants": ["diarchia"]}}, "attack PIRATES", (2, 4)),
        ({"tokens": {"SYRIA": "revolt", "MACEDONIA": "revolt", "GALATIA": "revolt"}}, "attack PIRATES", (5, 4)),
        ({"emperors": {"diocletian": "ASIA", "galerius": "MACEDONIA"}}, "attack PIRATES", (1, 4)),
        ({"emperors": {"diocletian": "LVCANIA", "maximian": None}, "pirates": "INTERNVM"}, "attack PIRATES", (3, 4)),  # ROMA
        ({"armies": [["MOESIA INFERIOR", "IV", "army"]], "tokens": {"MOESIA INFERIOR": "revolt"}}, "attack PIRATES", (3, 1)),
        ({"rules": BOTH, "dux": "SYRIA"}, "attack PIRATES", (1, 4)),
        ({"rules": BOTH, "dux": "SYRIA"}, "dux attack PIRATES", (2, 4)),
    ],
)
def test_combat_values_against_pirates(changes: Changes, text: str, dice: tuple[int, int]) -> None:
    """R11.2: tokens and Revolts of the whole coast count; each other figure and each army there doubles; a tie changes nothing."""
    before: Changes = {"rules": PIRATES, "emperors": {"diocletian": "ASIA"}, "pirates": "AEGAEVM"} | changes
    after = play(position(dice=dice, **before), text)
    assert (after["pirates"], after["ip"], after["phase"], after["emperor"]) == (before["pirates"], 4, "roman", "diocletian")
    assert (after["emperors"]["diocletian"], after["dux"]) == (before["emperors"]["diocletian"], before.get("dux"))


@pytest.mark.parametrize(("text", "emperor"), [("attack PIRATES", "galerius"), ("dux attack PIRATES", "diocletian")])
def test_defeat_by_pirates_removes_every_token_of_the_coast(text: str, emperor: str) -> None:
    """R11.2: all Emperors' tokens on this coast return to their supplies; the Roman phase ends unless the Dux attacked."""
    tokens = {"SYRIA": "diocletian", "ASIA": "maximian", "CYRENAICA": "revolt", "GALATIA": "galerius", "SICILIA": "maximian"}
    changes: Changes = {"tokens": tokens, "armies": [["AEGYPTVS", "VI", "army"]], "pirates": "AEGAEVM", "dux": "ASIA", "rules": BOTH}
    after = play(position(dice=(1, 6, *BITHYNIA), **changes), text)
    assert {space: after["tokens"].get(space) for space in tokens} == {**tokens, "SYRIA": None, "ASIA": None}
    assert (after["supply"]["diocletian"], after["supply"]["maximian"]) == (4, 3)
    assert (after["emperor"], after["pirates"]) == (emperor, "AEGAEVM")
    assert (after["emperors"]["diocletian"], after["dux"]) == ((None, "ASIA") if emperor == "galerius" else ("BITHYNIA", "gone"))


@pytest.mark.parametrize(
    ("dice", "fleets", "pirates", "then"),
    [
        (ACHAEA, [], "gone", "INTERNVM"),
        (ACHAEA, ["INTERNVM"], "gone", "AEGAEVM"),
        (ACHAEA, ["INTERNVM", "AEGAEVM"], "gone", "gone"),
        (ACHAEA, [], "ATLANTICVM", "ATLANTICVM"),
        (BAETICA, [], "gone", "ATLANTICVM"),
        (UPRISING, ["ATLANTICVM"], "gone", "gone"),
        (GALATIA, [], "gone", "gone"),
        (ASIA, [], "gone", "gone"),
    ],
)
def test_uprising_on_an_unguarded_coast_brings_the_pirates_back(dice: tuple[int, int], fleets: list[str], pirates: str, then: str) -> None:
    """R11.2: to the westernmost zone of that coast without a Roman fleet, even if no army is in the reserve (R7.2)."""
    tokens = dict.fromkeys(("ACHAEA", "BAETICA", "LVSITANIA", "GALATIA"), "revolt")
    game = position(rules=PIRATES, fleets=fleets, pirates=pirates, dice=dice, tokens=tokens, reserve={"armies": 0, "revolt": 17})
    assert play(game, "end")["pirates"] == then


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tokens": {"GERMANIA MAGNA": "maximian", **LVSITANIA}},
        {"emperors": {"constantius": "GERMANIA MAGNA"}},
        {"dux": "GERMANIA MAGNA", "rules": {"modules": ["dux", "goths"]}},
        {"armies": [["GERMANIA MAGNA", "III", "army"]]},
    ],
)
def test_the_goths_replace_everything_on_the_border(changes: Changes) -> None:
    """R11.3: token, Emperor, Dux or army leave border III; N is not rolled, and the reserve has one army fewer."""
    dice = (*UPRISING, 3, 1)
    after = play(position(**Changes(rules=GOTHS, tokens=LVSITANIA, dice=dice) | changes), "end")
    assert (after["armies"], after["reserve"]["armies"]) == ([["GERMANIA MAGNA", "III", "goths"]], 2)
    assert ("GERMANIA MAGNA" in after["tokens"], after["supply"]["maximian"]) == (False, 4)
    assert "GERMANIA MAGNA" not in (*after["emperors"].values(), after["dux"])
    assert dice_used(rng_for(dice), after["dice"]) == list(dice)


@pytest.mark.parametrize(
    ("modules", "goths", "border", "kind"),
    [(["goths"], 0, 4, "goths"), (["goths"], 0, 5, "army"), (["goths"], 1, 3, "army"), ([], 0, 3, "army")],
)
def test_conditions_for_the_goths(modules: list[str], goths: int, border: int, kind: str) -> None:
    """R11.3: only on III and IV, while they are off the board, and with the module."""
    armies = [["SARMATIA", "IV", "goths"]] * goths
    new = {3: ["GERMANIA MAGNA", "III", kind], 4: ["SARMATIA", "IV", kind], 5: ["PERSIA", "V", kind]}[border]
    after = play(position(rules={"modules": modules}, tokens=LVSITANIA, armies=armies, dice=(*UPRISING, border, 1, 1)), "end")
    assert sorted(after["armies"]) == sorted([*armies, new])


def test_the_goths_are_on_the_board_at_most_once() -> None:
    """R11.3, R7.2: while they are on the board an occupied border III keeps its token, and N is rolled."""
    changes: Changes = {"tokens": {"GERMANIA MAGNA": "maximian", **LVSITANIA}, "armies": [["SARMATIA", "IV", "goths"]]}
    after = play(position(rules=GOTHS, dice=(*UPRISING, 3, 2, 1), **changes), "end")
    assert (after["tokens"]["GERMANIA MAGNA"], after["armies"]) == ("maximian", [["SARMATIA", "IV", "goths"]])


@pytest.mark.parametrize(("reserve", "number"), [(1, 3), (0, 2)])
def test_the_goths_count_among_the_three_armies(reserve: int, number: int) -> None:
    """R11.3, R7.2: the Goths use an army of the reserve, and do not come if it is empty."""
    changes: Changes = {"armies": [["PERSIA", "V", "army"], ["LIBYA", "VI", "army"]], "reserve": {"armies": reserve, "revolt": 20}}
    after = play(position(rules=GOTHS, tokens=LVSITANIA, dice=(*UPRISING, 3, 1), **changes), "end")
    assert (len(after["armies"]), after["reserve"]["armies"]) == (number, 0)


@pytest.mark.parametrize(
    ("kinds", "dice", "fate"),
    [(["goths"], (4, 3), "equal"), (["army"], (4, 3), "won"), (["army", "goths"], (5, 1), "equal"), (["goths", "army"], (6, 1), "lost")],
)
def test_the_goths_add_1_only_when_they_fight(kinds: list[str], dice: tuple[int, int], fate: str) -> None:
    """R11.3: R + 1 against N + 1 + Revolts; next to another fighting army the Goths only double."""
    spaces = ["MOESIA SVPERIOR", "MACEDONIA"][: len(kinds)]
    armies = [[space, "IV", kind] for space, kind in zip(spaces, kinds, strict=True)]
    changes: Changes = {"armies": armies, "tokens": dict.fromkeys(spaces, "revolt"), **IN_THRACE}
    after = play(position(rules=GOTHS, dice=(*dice, *BITHYNIA), **changes), "attack MOESIA SVPERIOR")
    assert after["emperors"]["diocletian"] == {"equal": "THRACIA", "won": "MOESIA SVPERIOR", "lost": None}[fate]


def test_attacking_goths_add_1_and_return_after_a_defeat() -> None:
    """R11.3: 4 against 2 + 1 + 1 is a tie when they advance; beaten, they return to the reserve and come again on III."""
    changes: Changes = {"armies": [["MOESIA SVPERIOR", "IV", "goths"]], "tokens": {"MOESIA SVPERIOR": "revolt", **LVSITANIA}}
    after = play(position(rules=GOTHS, dice=(*BITHYNIA, 3, 2), **changes, **IN_THRACE), "end")
    assert (after["armies"], after["emperors"]["diocletian"]) == (changes["armies"], "THRACIA")
    beaten = play(position(rules=GOTHS, dice=(6, 1), **changes, **IN_THRACE), "attack MOESIA SVPERIOR")
    assert (beaten["armies"], beaten["reserve"]["armies"]) == ([], 3)
    again = play(restore(beaten | {"dice": rng_for((*UPRISING, 3, 1))}), "end")
    assert again["armies"] == [["GERMANIA MAGNA", "III", "goths"]]


@pytest.mark.parametrize(
    ("kind", "pirates", "score"),
    [("", "gone", -2), ("army", "gone", -3), ("goths", "gone", -4), ("", "AEGAEVM", -3), ("goths", "AEGAEVM", -5)],
)
def test_score(kind: str, pirates: str, score: int) -> None:
    """R11.4: -1 for the Goths in addition to -1 for an army, and -1 for the Pirates on the board."""
    armies = [["SARMATIA", "IV", kind]] if kind else []
    assert snapshot(position(rules={"modules": ["pirates", "goths"]}, armies=armies, pirates=pirates))["score"] == score
