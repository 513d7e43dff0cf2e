"""R4.1 to R4.4: moving, passing other figures, sailing."""

from typing import Any

import pytest

from helpers.positions import legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS

DUX: dict[str, Any] = {"rules": {"modules": ["dux"]}}


def moves(game: batch.Games, word: str = "move") -> set[str]:
    """Return the destinations of the legal moves; assert that no other action is legal."""
    texts = legal(game)
    assert all(text.startswith(f"{word} ") for text in texts)
    return {text.removeprefix(f"{word} ") for text in texts}


def from_lucania(ip: int, **changes: Any) -> batch.Games:
    """Return a position with Diocletian in LVCANIA next to Galerius in ROMA; CISALPINA is empty."""
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
def test_cost_of_a_move_r4_1(start: str, goal: str, token: str | None, fleets: list[str], cost: int) -> None:
    """R4.1: normal link 1, broken link 2, fleet 1, whichever is cheapest; plus 1 for a Revolt."""
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
    """R4.1: neither over two links at once, nor by fleet from or to inland spaces, nor across two zones."""
    assert not may(position(emperors={"diocletian": start}, fleets=fleets), f"move {goal}")


@pytest.mark.parametrize("fleets", [[], ["AEGAEVM"]])
def test_no_move_to_a_space_with_an_army_r4_1(fleets: list[str]) -> None:
    """R4.1: neither over land nor by sea."""
    game = position(armies=[["ASIA", "V", "army"]], fleets=fleets)
    assert not may(game, "move ASIA")
    assert may(game, "move GALATIA")


@pytest.mark.parametrize("kind", ["unrest", *EMPERORS])
def test_only_a_revolt_makes_a_move_more_expensive_r4_2(kind: str) -> None:
    """R4.2: Unrest and Emperors' tokens neither prevent a move nor make it cost more."""
    assert play(position(tokens={"ASIA": kind}), "move ASIA")["ip"] == 5
    assert may(position(tokens={"ASIA": kind}, ip=1), "move ASIA")


@pytest.mark.parametrize("kind", [None, "unrest", *EMPERORS])
def test_a_border_is_entered_and_left_like_a_province_r4_2(kind: str | None) -> None:
    """R4.2: PERSIA is entered and left over its two broken links, regardless of its token."""
    game = position(emperors={"diocletian": "SYRIA"}, tokens={} if kind is None else {"PERSIA": kind})
    assert play(game, "move PERSIA")["ip"] == 4
    assert play(game, "move CAPPADOCIA")["ip"] == 2


def test_entering_an_occupied_space_needs_ip_to_leave_r4_3() -> None:
    """R4.3: 1 IP to enter and 1 more to leave."""
    assert not may(from_lucania(1), "move ROMA")
    game = from_lucania(2)
    after = play(game, "move ROMA")
    assert (after["passing"], after["ip"]) == ("diocletian", 1)
    assert moves(game) == {"ETRVRIA", "LVCANIA"}
    after = play(from_lucania(3), "move ROMA", "move ETRVRIA")
    assert (after["passing"], after["emperors"]["diocletian"], after["ip"]) == (None, "ETRVRIA", 1)


def test_only_moves_are_legal_while_passing_r4_3() -> None:
    """R4.3: only moves are legal until the Emperor has passed; then all actions are."""
    game = from_lucania(6, tokens={"ROMA": "revolt"}, fleets=["AEGAEVM"], armies=[["ETRVRIA", "I", "army"]], dux="available", **DUX)
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}
    play(game, "move LVCANIA")
    assert {"end", "secure", "sail AEGAEVM INTERNVM", "dux deploy SICILIA"} <= legal(game)


def test_passing_emperor_cannot_secure_r4_3() -> None:
    """R4.3: ROMA has no token, but a passing Emperor may not place one."""
    game = from_lucania(6)
    play(game, "move ROMA")
    assert not may(game, "secure")


def test_the_previous_space_is_an_exit_r4_3() -> None:
    """R4.3: an army blocks ETRVRIA; LVCANIA, which the Emperor left, is free."""
    game = from_lucania(2, armies=[["ETRVRIA", "I", "army"]])
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}
    assert play(from_lucania(3, armies=[["ETRVRIA", "I", "army"]]), "move ROMA", "move LVCANIA")["ip"] == 1


def test_revolts_make_an_exit_too_expensive_r4_3() -> None:
    """R4.3, R4.1: every exit from ROMA costs 2; with Unrest it would cost 1."""
    revolts = {"ETRVRIA": "revolt", "LVCANIA": "revolt"}
    assert not may(from_lucania(2, tokens=revolts), "move ROMA")
    assert may(from_lucania(3, tokens=revolts), "move ROMA")
    assert may(from_lucania(2, tokens=revolts | {"ETRVRIA": "unrest"}), "move ROMA")


def test_a_revolt_makes_the_entry_more_expensive_r4_3() -> None:
    """R4.3, R4.1: entering ROMA costs 2 IP because of its Revolt, so passing costs 3."""
    assert not may(from_lucania(2, tokens={"ROMA": "revolt"}), "move ROMA")
    assert may(from_lucania(3, tokens={"ROMA": "revolt"}), "move ROMA")


def test_broken_links_make_an_exit_too_expensive_r4_3() -> None:
    """R4.3: crossing the sea from BELGICA to BRITANNIA and back costs 2 + 2 IP."""
    changes: dict[str, Any] = {"emperors": {"diocletian": "BELGICA", "galerius": "BRITANNIA"}}
    assert not may(position(**changes, ip=3), "move BRITANNIA")
    game = position(**changes, ip=4)
    play(game, "move BRITANNIA")
    assert moves(game) == {"BELGICA", "LVGDVNENSIS"}


def test_two_occupied_spaces_in_a_row_r4_3() -> None:
    """R4.3: Galerius is in ROMA, Maximian in ETRVRIA: passing both costs 3 IP; with 2 IP the Emperor can only go back."""
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


def test_passing_emperor_may_move_while_an_exit_is_affordable_r4_3() -> None:
    """R4.3: from ETRVRIA the Emperor may return to ROMA with 2 IP left, but not with 1."""
    game = from_lucania(4, emperors={"maximian": "ETRVRIA"})
    play(game, "move ROMA", "move ETRVRIA")
    assert moves(game) == {"CISALPINA", "SARDINIA", "ROMA"}
    play(game, "move ROMA")
    assert moves(game) == {"LVCANIA"}


def test_three_occupied_spaces_and_the_dux_in_a_row_r4_3() -> None:
    """R4.3: ROMA, ETRVRIA, CISALPINA and PANNONIA SVPERIOR are occupied, LVCANIA has an army: passing all four costs 5 IP."""
    places = {"diocletian": None, "galerius": "ROMA", "maximian": "ETRVRIA", "constantius": "CISALPINA"}
    game = position(
        emperors=places, phase="arrival", dux="PANNONIA SVPERIOR", armies=[["LVCANIA", "IV", "army"]], tokens={"SARDINIA": "revolt"}, **DUX
    )
    play(game, "enter ROMA", "move ETRVRIA", "move CISALPINA")
    assert moves(game) == {"ETRVRIA", "PANNONIA SVPERIOR", "RHAETIA", "NARBONENSIS", "GERMANIA SVPERIOR"}
    assert play(game, "move PANNONIA SVPERIOR", "move DALMATIA")["ip"] == 2


def test_the_only_exit_costs_all_ip_r4_3() -> None:
    """R4.3, R4.1: armies block LVCANIA and CISALPINA; ETRVRIA (1), SARDINIA in revolt (3) and SICILIA (2) cost exactly 6 IP."""
    places = {"diocletian": "ROMA", "galerius": "ROMA", "constantius": "ETRVRIA", "maximian": "SARDINIA"}
    armies = [["LVCANIA", "IV", "army"], ["CISALPINA", "III", "army"]]
    game = position(emperors=places, passing="diocletian", armies=armies, tokens={"SARDINIA": "revolt"})
    for space in ("ETRVRIA", "SARDINIA", "SICILIA"):
        assert moves(game) == {space}
        play(game, f"move {space}")


def test_armies_block_exits_r4_3() -> None:
    """R4.3: from ETRVRIA, an army in CISALPINA and Constantius in ROMA leave only exits of 2 IP."""
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


def test_a_fleet_provides_exits_r4_3() -> None:
    """R4.3, R4.1: the fleet allows leaving SICILIA by sea for 1 IP, only to its own coast."""
    changes: dict[str, Any] = {"emperors": {"diocletian": "LVCANIA", "galerius": "SICILIA"}, "ip": 3}
    assert not may(position(**changes), "move SICILIA")
    assert not may(position(**changes, fleets=["AEGAEVM"]), "move SICILIA")
    game = position(emperors=changes["emperors"], ip=2, fleets=["INTERNVM"])
    play(game, "move SICILIA")
    assert {"LVCANIA", "ROMA", "BAETICA", "EPIRVS"} <= moves(game)


def test_a_border_is_an_exit_r4_3() -> None:
    """R4.3, R4.2: all links of DACIA are broken; armies leave only GERMANIA MAGNA."""
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


def test_the_dux_passes_an_emperor_r4_3() -> None:
    """R4.3, R11.1: while the Dux passes only his moves are legal, not those of the acting Emperor."""
    assert not may(position(emperors={"galerius": "ROMA"}, dux="LVCANIA", ip=1, **DUX), "dux move ROMA")
    game = position(emperors={"galerius": "ROMA"}, dux="LVCANIA", ip=3, **DUX)
    assert play(game, "dux move ROMA")["passing"] == "dux"
    assert moves(game, "dux move") == {"ETRVRIA", "LVCANIA"}
    assert play(game, "dux move ETRVRIA")["passing"] is None
    assert may(game, "move ASIA")


def test_the_acting_emperor_is_an_obstacle_to_the_dux_r4_3() -> None:
    """R4.3: Diocletian is an obstacle to the Dux in his own turn."""
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
    """R4.4: one zone at a time; the Emperor may be on any space, even inland."""
    game = position(emperors={"diocletian": "GALATIA"}, fleets=fleets)
    assert {text for text in legal(game) if text.startswith("sail")} == {f"sail {sail}" for sail in sails}


def test_sailing_costs_1_and_takes_effect_at_once_r4_4() -> None:
    """R4.4, R4.1: the fleet sails to AEGAEVM and is available to the Emperor at once."""
    game = position(fleets=["INTERNVM"], ip=3)
    after = play(game, "sail INTERNVM AEGAEVM")
    assert (after["fleets"], after["ip"]) == (["AEGAEVM"], 2)
    assert may(game, "move AEGYPTVS")
    assert play(game, "sail AEGAEVM INTERNVM")["ip"] == 1
    assert play(position(fleets=["INTERNVM"], ip=1), "secure")["emperor"] == "galerius"  # no sailing with 0 IP, so the turn is over
