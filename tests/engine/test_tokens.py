"""R1: the pieces and where they are; R4.5 and R4.6: placing and removing tokens."""

from typing import Any

import pytest

from helpers.positions import legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.notation import snapshot
from tetrarchia_env.options import Options

COUPLES = ({"diocletian", "galerius"}, {"constantius", "maximian"})


def fight_in_lusitania(emperor: str, **changes: Any) -> str:
    """Return the result of the Emperor's attack from LVSITANIA on an army without support; both dice show 3."""
    game = position(emperor=emperor, emperors={emperor: "LVSITANIA"}, armies=[["CARTHAGINENSIS", "I", "army"]], dice=(3, 3), **changes)
    return "won" if play(game, "attack CARTHAGINENSIS")["emperors"][emperor] == "CARTHAGINENSIS" else "drawn"


@pytest.mark.parametrize("helper", EMPERORS)
@pytest.mark.parametrize("emperor", EMPERORS)
def test_couples_of_east_and_west_share_support_r1_1(emperor: str, helper: str) -> None:
    """R1.1, R10.3: with Diarchia a token supports its owner and his partner, but no other Emperor."""
    result = fight_in_lusitania(emperor, tokens={"LVSITANIA": helper}, rules={"variants": ["diarchia"]})
    assert result == ("won" if {emperor, helper} in COUPLES or emperor == helper else "drawn")


@pytest.mark.parametrize("tokens", [2, 3, 4, 5])
def test_reserve_and_supplies_at_the_start_r1_2(tokens: int) -> None:
    """R1.2: 21 Unrest, 21 Revolts (6 of them on the board) and 3 armies; each Emperor has the tokens of the level."""
    start = snapshot(batch.new_games(Options(level=f"{tokens}000"), 1)[0])
    assert start["reserve"] == {"unrest": 21, "revolt": 21 - 6, "armies": 3}
    assert start["supply"] == dict.fromkeys(EMPERORS, tokens)


def test_a_zone_holds_one_fleet_r1_3() -> None:
    """R1.3: neither set-up nor sailing puts two fleets in one zone."""
    games, _ = batch.new_games(Options(level="4300"), 5)
    assert legal(games) == {"fleet ATLANTICVM", "fleet INTERNVM", "fleet AEGAEVM"}
    play(games, "fleet INTERNVM")
    assert legal(games) == {"fleet ATLANTICVM", "fleet AEGAEVM"}
    assert not may(position(fleets=["INTERNVM", "AEGAEVM"]), "sail INTERNVM AEGAEVM")


@pytest.mark.parametrize(
    ("cover", "dice", "place"),
    [
        (None, (3, 3), "SICILIA"),
        (None, (3, 4), "LVCANIA"),
        ("unrest", (3, 3), "LVCANIA"),
        ("constantius", (3, 3), "LVCANIA"),
        ("own", (3, 3), "SICILIA"),
        ("own", (3, 4), "LVCANIA"),
    ],
)
@pytest.mark.parametrize("emperor", ["diocletian", "galerius", "maximian"])
def test_uncovered_roma_supports_every_emperor_r1_5(emperor: str, cover: str | None, dice: tuple[int, int], place: str) -> None:
    """R1.5, R5.3: ROMA's printed token supports every Emperor with 1; if it is covered, only the covering token counts."""
    tokens = {} if cover is None else {"ROMA": emperor if cover == "own" else cover}
    game = position(emperor=emperor, emperors={emperor: "LVCANIA"}, armies=[["SICILIA", "VI", "army"]], tokens=tokens, dice=dice)
    assert play(game, "attack SICILIA")["emperors"][emperor] == place


@pytest.mark.parametrize(
    ("emperor", "cover", "won"), [("galerius", None, True), ("galerius", "unrest", False), ("diocletian", None, False)]
)
def test_uncovered_capital_supports_its_emperor_r1_5(emperor: str, cover: str | None, won: bool) -> None:
    """R1.5, R5.3: in PANNONIA INFERIOR Galerius adds 1 to his die, Diocletian does not."""
    tokens = {} if cover is None else {"PANNONIA INFERIOR": cover}
    places = {"galerius": "BITHYNIA", "diocletian": "ASIA"} | {emperor: "PANNONIA INFERIOR"}
    game = position(emperor=emperor, emperors=places, armies=[["NORICVM", "III", "army"]], tokens=tokens, dice=(3, 3))
    assert (play(game, "attack NORICVM")["emperors"][emperor] == "NORICVM") == won


@pytest.mark.parametrize(("space", "cost"), [("GALATIA", 1), ("BITHYNIA", 1), ("PERSIA", 2)])
def test_secure_costs_1_and_2_on_a_border_r4_5(space: str, cost: int) -> None:
    """R4.5: a token from the Emperor's supply is placed on his space; a printed token does not prevent it."""
    after = play(position(emperors={"diocletian": space}), "secure")
    assert (after["tokens"], after["supply"]["diocletian"], after["ip"]) == ({space: "diocletian"}, 3, 6 - cost)
    assert may(position(emperors={"diocletian": space}, ip=cost), "secure")
    assert cost == 1 or not may(position(emperors={"diocletian": space}, ip=cost - 1), "secure")


@pytest.mark.parametrize("kind", ["unrest", "revolt", *EMPERORS])
@pytest.mark.parametrize("space", ["GALATIA", "BITHYNIA", "PERSIA"])
def test_secure_needs_a_space_without_token_r4_5(space: str, kind: str) -> None:
    """R4.5: any token on the space prevents it, even the Emperor's own."""
    assert not may(position(emperors={"diocletian": space}, tokens={space: kind}), "secure")


def test_secure_needs_a_token_in_the_supply_r4_5() -> None:
    """R4.5: tokens come from the Emperor's own supply."""
    assert not may(position(supply={"diocletian": 0}), "secure")
    assert may(position(supply={"galerius": 0, "diocletian": 1}), "secure")


@pytest.mark.parametrize("province", ["SYRIA", "CAPPADOCIA", "GALATIA", "CILICIA", "ASIA", "BITHYNIA"])
def test_secure_on_a_border_needs_its_region_free_of_revolts_r4_5(province: str) -> None:
    """R4.5: a Revolt in any of the six provinces prevents it; Unrest or an Emperor's token does not."""
    at_the_border = {"diocletian": "PERSIA"}
    assert not may(position(emperors=at_the_border, tokens={province: "revolt"}), "secure")
    assert may(position(emperors=at_the_border, tokens={province: "unrest"}), "secure")
    assert may(position(emperors=at_the_border, tokens={province: "galerius"}), "secure")


def test_secure_ignores_revolts_elsewhere_r4_5() -> None:
    """R4.5: securing a border ignores other regions, and securing a province ignores its region."""
    revolts = {"THRACIA": "revolt", "AEGYPTVS": "revolt", "ROMA": "revolt", "LIBYA": "revolt"}
    assert may(position(emperors={"diocletian": "PERSIA"}, tokens=revolts), "secure")
    assert may(position(emperors={"diocletian": "GALATIA"}, tokens={"ASIA": "revolt"}), "secure")


@pytest.mark.parametrize(("kind", "cost"), [("unrest", 1), ("revolt", 2)])
def test_subdue_removes_unrest_for_1_and_a_revolt_for_2_r4_6(kind: str, cost: int) -> None:
    """R4.6: the token returns to the reserve."""
    after = play(position(tokens={"BITHYNIA": kind}), "subdue")
    assert (after["tokens"], after["ip"], after["reserve"][kind]) == ({}, 6 - cost, 21)
    assert may(position(tokens={"BITHYNIA": kind}, ip=cost), "subdue")
    assert cost == 1 or not may(position(tokens={"BITHYNIA": kind}, ip=cost - 1), "subdue")


def test_calm_turns_a_revolt_into_unrest_for_1_r4_6() -> None:
    """R4.6: one token is exchanged for the other; calming and subduing can follow each other."""
    game = position(tokens={"BITHYNIA": "revolt"})
    after = play(game, "calm")
    assert (after["tokens"], after["ip"]) == ({"BITHYNIA": "unrest"}, 5)
    assert (after["reserve"]["unrest"], after["reserve"]["revolt"]) == (20, 21)
    assert play(game, "subdue")["ip"] == 4


def test_calm_needs_unrest_in_the_reserve_r4_6() -> None:
    """R4.6, Ruling: without Unrest in the reserve only subduing is possible."""
    revolt = {"BITHYNIA": "revolt"}
    assert may(position(tokens=revolt, reserve={"unrest": 1}, ip=1), "calm")
    game = position(tokens=revolt, reserve={"unrest": 0})
    assert may(game, "subdue")
    assert not may(game, "calm")


@pytest.mark.parametrize("kind", [None, "unrest", *EMPERORS])
def test_nothing_else_can_be_calmed_or_subdued_r4_6(kind: str | None) -> None:
    """R4.6: Unrest cannot be calmed; Emperors' tokens, placed or printed, and tokens on adjacent spaces cannot be removed."""
    tokens = {"GALATIA": "revolt"} | ({} if kind is None else {"BITHYNIA": kind})
    game = position(tokens=tokens)
    assert not may(game, "calm")
    assert may(game, "subdue") == (kind == "unrest")
