"""R4.1 to R4.4: moving, passing other figures, sailing."""

from typing import Any

import pytest

from helpers.positions import legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS

DUX: dict[str, Any] = {"rules": {"modules": ["dux"]}}


def moves(game: batch.Games, word: str = "move") -> set[str]:
    """The goals of the legal moves, and proof that nothing else is legal."""
    texts = legal(game)
    assert all(text.startswith(f"{word} ") for text in texts)
    return {text.removeprefix(f"{word} ") for text in texts}


def from_lucania(ip: int, **changes: Any) -> batch.Games:
    """Diocletian in LVCANIA with Galerius next to him in ROMA; CISALPINA is empty."""
    places = {"diocletian": "LVCANIA", "galerius": "ROMA", "maximian": "BELGICA"} | changes.pop("emperors", {})
    return position(emperors=places, ip=ip, **changes)


@pytest.mark.parametrize(
    ("start", "goal", "token", "fleets", "cost"),
    [
        ("GALATIA", "ASIA", None, [], 1),
        ("GALATIA", "ASIA", "revolt", [], 2),
        ("GALATIA", "CILICIA", None, [], 2),
        ("GALATIA", "CILICIA", "revolt", [], 3),
        ("TINGITANA", "BAETICA", None, [], 2),
        ("TINGITANA", "BAETICA", None, ["ATLANTICVM"], 1),
        ("TINGITANA", "BAETICA", None, ["INTERNVM", "AEGAEVM"], 2),
        ("TINGITANA", "BAETICA", "revolt", ["ATLANTICVM"], 2),
        ("BITHYNIA", "AEGYPTVS", None, ["AEGAEVM"], 1),
        ("BITHYNIA", "AEGYPTVS", "revolt", ["AEGAEVM"], 2),
        ("BITHYNIA", "ASIA", None, ["AEGAEVM"], 1),
        ("ACHAEA", "SICILIA", None, ["INTERNVM"], 1),
        ("ACHAEA", "AEGYPTVS", None, ["AEGAEVM"], 1),
        ("BELGICA", "BRITANNIA", None, ["ATLANTICVM"], 2),
    ],
)
def test_what_a_move_costs_r4_1(start: str, goal: str, token: str | None, fleets: list[str], cost: int) -> None:
    """R4.1: normal 1, broken 2, by fleet 1, the cheapest of them; 1 more to a Revolt."""
    changes: dict[str, Any] = {"emperors": {"diocletian": start}, "tokens": {} if token is None else {goal: token}, "fleets": fleets}
    after = play(position(**changes), f"move {goal}")
    assert (after["emperors"]["diocletian"], after["ip"]) == (goal, 6 - cost)
    assert may(position(**changes, ip=cost), f"move {goal}")
    assert cost == 1 or not may(position(**changes, ip=cost - 1), f"move {goal}")


@pytest.mark.parametrize(
    ("start", "goal", "fleets"),
    [
        ("GALATIA", "SYRIA", []),
        ("BITHYNIA", "BITHYNIA", ["AEGAEVM"]),
        ("BITHYNIA", "AEGYPTVS", []),
        ("BITHYNIA", "AEGYPTVS", ["INTERNVM", "ATLANTICVM"]),
        ("GALATIA", "AEGYPTVS", ["AEGAEVM"]),
        ("BITHYNIA", "CAPPADOCIA", ["AEGAEVM"]),
        ("BITHYNIA", "SICILIA", ["INTERNVM", "AEGAEVM"]),
        ("LVSITANIA", "BRITANNIA", ["ATLANTICVM"]),
    ],
)
def test_no_move_without_a_link_or_a_fleet_r4_1(start: str, goal: str, fleets: list[str]) -> None:
    """R4.1: not two links at once, not from or to the inland by fleet, not across two zones."""
    assert not may(position(emperors={"diocletian": start}, fleets=fleets), f"move {goal}")


@pytest.mark.parametrize("fleets", [[], ["AEGAEVM"]])
def test_no_move_to_a_space_with_an_army_r4_1(fleets: list[str]) -> None:
    """R4.1: neither over land nor by sea."""
    game = position(armies=[["ASIA", "V", "army"]], fleets=fleets)
    assert not may(game, "move ASIA")
    assert may(game, "move GALATIA")


@pytest.mark.parametrize("kind", ["unrest", *EMPERORS])
def test_only_a_revolt_makes_a_move_dearer_r4_2(kind: str) -> None:
    """R4.2: Unrest and anyone's tokens neither stop nor cost."""
    assert play(position(tokens={"ASIA": kind}), "move ASIA")["ip"] == 5
    assert may(position(tokens={"ASIA": kind}, ip=1), "move ASIA")


@pytest.mark.parametrize("kind", [None, "unrest", *EMPERORS])
def test_a_border_is_entered_and_left_like_a_province_r4_2(kind: str | None) -> None:
    """R4.2: PERSIA over its two broken links, whoever secured it."""
    game = position(emperors={"diocletian": "SYRIA"}, tokens={} if kind is None else {"PERSIA": kind})
    assert play(game, "move PERSIA")["ip"] == 4
    assert play(game, "move CAPPADOCIA")["ip"] == 2


def test_entering_where_another_stands_needs_an_ip_to_leave_r4_3() -> None:
    """R4.3: 1 IP in, and 1 more out again."""
    assert not may(from_lucania(1), "move ROMA")
    game = from_lucania(2)
    after = play(game, "move ROMA")
    assert (after["passing"], after["ip"]) == ("diocletian", 1)
    assert moves(game) == {"ETRVRIA", "LVCANIA"}
    after = play(from_lucania(3), "move ROMA", "move ETRVRIA")
    assert (after["passing"], after["emperors"]["diocletian"], after["ip"]) == (None, "ETRVRIA", 1)


def test_nothing_but_moves_while_passing_r4_3() -> None:
    """R4.3: no end, no sailing, subduing, attacking or deploying until he is past, then all of it."""
    game = from_lucania(6, tokens={"ROMA": "revolt"}, fleets=["AEGAEVM"], armies=[["ETRVRIA", "I", "army"]], dux="available", **DUX)
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}
    play(game, "move LVCANIA")
    assert {"end", "secure", "sail AEGAEVM INTERNVM", "dux deploy SICILIA"} <= legal(game)


def test_he_cannot_secure_where_he_passes_r4_3() -> None:
    """R4.3: ROMA bears no token, and he may not place one on the way."""
    game = from_lucania(6)
    play(game, "move ROMA")
    assert not may(game, "secure")


def test_the_space_he_came_from_is_an_exit_r4_3() -> None:
    """R4.3: an army closes ETRVRIA; LVCANIA, which he left, is free."""
    game = from_lucania(2, armies=[["ETRVRIA", "I", "army"]])
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}
    assert play(from_lucania(3, armies=[["ETRVRIA", "I", "army"]]), "move ROMA", "move LVCANIA")["ip"] == 1


def test_an_exit_may_be_too_dear_because_of_revolts_r4_3() -> None:
    """R4.3, R4.1: every exit of ROMA costs 2; an Unrest would not."""
    revolts = {"ETRVRIA": "revolt", "LVCANIA": "revolt"}
    assert not may(from_lucania(2, tokens=revolts), "move ROMA")
    assert may(from_lucania(3, tokens=revolts), "move ROMA")
    assert may(from_lucania(2, tokens=revolts | {"ETRVRIA": "unrest"}), "move ROMA")


def test_the_entry_counts_its_revolt_too_r4_3() -> None:
    """R4.3, R4.1: 2 IP into ROMA in revolt, so 3 in all."""
    assert not may(from_lucania(2, tokens={"ROMA": "revolt"}), "move ROMA")
    assert may(from_lucania(3, tokens={"ROMA": "revolt"}), "move ROMA")


def test_an_exit_may_be_too_dear_because_of_broken_links_r4_3() -> None:
    """R4.3: from BELGICA over the sea to BRITANNIA and back are 2 + 2 IP."""
    changes: dict[str, Any] = {"emperors": {"diocletian": "BELGICA", "galerius": "BRITANNIA"}}
    assert not may(position(**changes, ip=3), "move BRITANNIA")
    game = position(**changes, ip=4)
    play(game, "move BRITANNIA")
    assert moves(game) == {"BELGICA", "LVGDVNENSIS"}


def test_two_occupied_spaces_in_a_row_r4_3() -> None:
    """R4.3: Galerius in ROMA, Maximian in ETRVRIA: past both are 3 IP; with 2 only the way back is left."""
    row = {"emperors": {"maximian": "ETRVRIA"}}
    short = from_lucania(2, **row)
    play(short, "move ROMA")
    assert moves(short) == {"LVCANIA"}
    game = from_lucania(3, **row)
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA", "ETRVRIA"}
    after = play(game, "move ETRVRIA")
    assert (after["passing"], after["ip"]) == ("diocletian", 1)
    assert moves(game) == {"CISALPINA"}


def test_he_may_wander_among_others_while_an_exit_is_left_r4_3() -> None:
    """R4.3: from ETRVRIA he may turn to ROMA again with 2 IP left, not with 1."""
    game = from_lucania(4, emperors={"maximian": "ETRVRIA"})
    play(game, "move ROMA", "move ETRVRIA")
    assert moves(game) == {"CISALPINA", "SARDINIA", "ROMA"}
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}


def test_three_occupied_spaces_and_the_dux_in_a_row_r4_3() -> None:
    """R4.3: ROMA, ETRVRIA, CISALPINA and PANNONIA SVPERIOR are taken, LVCANIA has an army: past all four are 5 IP."""
    places = {"diocletian": None, "galerius": "ROMA", "maximian": "ETRVRIA", "constantius": "CISALPINA"}
    game = position(
        emperors=places, phase="arrival", dux="PANNONIA SVPERIOR", armies=[["LVCANIA", "IV", "army"]], tokens={"SARDINIA": "revolt"}, **DUX
    )
    play(game, "enter ROMA", "move ETRVRIA", "move CISALPINA")
    assert moves(game) == {"ETRVRIA", "PANNONIA SVPERIOR", "RHAETIA", "NARBONENSIS", "GERMANIA SVPERIOR"}
    assert play(game, "move PANNONIA SVPERIOR", "move DALMATIA")["ip"] == 2


def test_the_only_way_past_is_the_dearest_r4_3() -> None:
    """R4.3, R4.1: armies in LVCANIA and CISALPINA; over ETRVRIA (1) and SARDINIA in revolt (3) to SICILIA (2) are just 6 IP."""
    places = {"diocletian": "ROMA", "galerius": "ROMA", "constantius": "ETRVRIA", "maximian": "SARDINIA"}
    armies = [["LVCANIA", "IV", "army"], ["CISALPINA", "III", "army"]]
    game = position(emperors=places, passing="diocletian", armies=armies, tokens={"SARDINIA": "revolt"})
    for space in ("ETRVRIA", "SARDINIA", "SICILIA"):
        assert moves(game) == {space}
        play(game, f"move {space}")


def test_armies_close_exits_r4_3() -> None:
    """R4.3: from SARDINIA to Galerius in ETRVRIA: an army in CISALPINA and Constantius in ROMA leave exits of 2 IP only."""
    changes: dict[str, Any] = {
        "emperors": {"diocletian": "SARDINIA", "galerius": "ETRVRIA", "constantius": "ROMA", "maximian": "BELGICA"},
        "armies": [["CISALPINA", "III", "army"]],
    }
    assert not may(position(**changes, ip=3), "move ETRVRIA")
    game = position(**changes, ip=4)
    play(game, "move ETRVRIA")
    assert moves(game) == {"SARDINIA", "ROMA"}
    open_pass = position(emperors=changes["emperors"], ip=3)
    play(open_pass, "move ETRVRIA")
    assert moves(open_pass) == {"CISALPINA"}


def test_a_fleet_makes_exits_r4_3() -> None:
    """R4.3, R4.1: out of SICILIA by sea for 1 IP, and only to the fleet's coast."""
    changes: dict[str, Any] = {"emperors": {"diocletian": "LVCANIA", "galerius": "SICILIA"}, "ip": 3}
    assert not may(position(**changes), "move SICILIA")
    assert not may(position(**changes, fleets=["AEGAEVM"]), "move SICILIA")
    game = position(emperors=changes["emperors"], ip=2, fleets=["INTERNVM"])
    play(game, "move SICILIA")
    assert {"LVCANIA", "ROMA", "BAETICA", "EPIRVS"} <= moves(game)


def test_a_border_is_an_exit_r4_3() -> None:
    """R4.3, R4.2: DACIA's neighbours are all broken links; armies leave only GERMANIA MAGNA."""
    game = position(
        emperors={"diocletian": "MOESIA SVPERIOR", "galerius": "DACIA"},
        armies=[["PANNONIA INFERIOR", "III", "army"], ["SARMATIA", "IV", "army"]],
        tokens={"MOESIA SVPERIOR": "revolt"},
        ip=4,
    )
    play(game, "move DACIA")
    assert moves(game) == {"GERMANIA MAGNA"}


def test_the_dux_is_an_obstacle_r4_3() -> None:
    """R4.3, R11.1: the Dux in ROMA is passed like an Emperor."""
    changes: dict[str, Any] = {"emperors": {"galerius": "ASIA"}, "dux": "ROMA", **DUX}
    assert not may(from_lucania(1, **changes), "move ROMA")
    game = from_lucania(2, **changes)
    assert play(game, "move ROMA")["passing"] == "diocletian"
    assert moves(game) == {"ETRVRIA", "LVCANIA"}


def test_the_dux_passes_r4_3() -> None:
    """R4.3, R11.1: while he passes only his moves are legal, not those of the Emperor whose turn it is."""
    assert not may(position(emperors={"galerius": "ROMA"}, dux="LVCANIA", ip=1, **DUX), "dux move ROMA")
    game = position(emperors={"galerius": "ROMA"}, dux="LVCANIA", ip=3, **DUX)
    assert play(game, "dux move ROMA")["passing"] == "dux"
    assert moves(game, "dux move") == {"ETRVRIA", "LVCANIA"}
    assert play(game, "dux move ETRVRIA")["passing"] is None
    assert may(game, "move ASIA")


def test_the_emperor_whose_turn_it_is_stands_in_the_way_of_the_dux_r4_3() -> None:
    """R4.3: Diocletian himself is an obstacle to the Dux."""
    assert not may(position(dux="GALATIA", ip=1, **DUX), "dux move BITHYNIA")
    game = position(dux="GALATIA", ip=2, **DUX)
    play(game, "dux move BITHYNIA")
    assert moves(game, "dux move") == {"GALATIA", "ASIA"}


@pytest.mark.parametrize(
    ("fleets", "sails"),
    [
        (["ATLANTICVM"], {"ATLANTICVM INTERNVM"}),
        (["INTERNVM"], {"INTERNVM ATLANTICVM", "INTERNVM AEGAEVM"}),
        (["AEGAEVM"], {"AEGAEVM INTERNVM"}),
        (["ATLANTICVM", "INTERNVM"], {"INTERNVM AEGAEVM"}),
        (["ATLANTICVM", "AEGAEVM"], {"ATLANTICVM INTERNVM", "AEGAEVM INTERNVM"}),
        (["INTERNVM", "AEGAEVM"], {"INTERNVM ATLANTICVM"}),
        (["ATLANTICVM", "INTERNVM", "AEGAEVM"], set()),
        ([], set()),
    ],
)
def test_fleets_sail_to_adjacent_zones_without_fleet_r4_4(fleets: list[str], sails: set[str]) -> None:
    """R4.4: one zone at a time, from any space, the inland too."""
    game = position(emperors={"diocletian": "GALATIA"}, fleets=fleets)
    assert {text for text in legal(game) if text.startswith("sail")} == {f"sail {sail}" for sail in sails}


def test_sailing_costs_1_and_serves_at_once_r4_4() -> None:
    """R4.4, R4.1: the fleet comes to AEGAEVM and carries him on."""
    game = position(fleets=["INTERNVM"], ip=3)
    after = play(game, "sail INTERNVM AEGAEVM")
    assert (after["fleets"], after["ip"]) == (["AEGAEVM"], 2)
    assert may(game, "move AEGYPTVS")
    assert play(game, "sail AEGAEVM INTERNVM")["ip"] == 1
    assert play(position(fleets=["INTERNVM"], ip=1), "secure")["emperor"] == "galerius"  # no sailing with 0 IP, so it is over


def test_no_sailing_to_pirates_r4_4() -> None:
    """R4.4, R11.2: their zone is closed."""
    rules: dict[str, Any] = {"rules": {"level": "4200", "modules": ["pirates"]}}
    assert not may(position(fleets=["INTERNVM"], pirates="AEGAEVM", **rules), "sail INTERNVM AEGAEVM")
    assert may(position(fleets=["INTERNVM"], pirates="gone", **rules), "sail INTERNVM AEGAEVM")
