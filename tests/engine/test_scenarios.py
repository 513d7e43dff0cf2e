"""Scenarios (R12): every cell of the table, and the rules for Rebels."""

from typing import Any, NamedTuple

import pytest

from helpers.positions import dice_used, legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.engine.state import DUX, DUX_MODULE
from tetrarchia_env.notation import Snapshot, snapshot
from tetrarchia_env.options import Options


class Row(NamedTuple):
    """A row of the table of scenarios."""

    name: str
    level: str
    revolts: list[str]
    """Fixed Revolts, including those under Rebels."""
    other_regions: list[int]
    armies: list[list[str]]
    placed: dict[str, str]
    starts: str
    pirates: str | None
    modules: list[str]


TABLE = [
    Row(  # R12.1
        "carausian_revolt",
        "4231",
        ["BELGICA", "GERMANIA INFERIOR", "LVGDVNENSIS", "AQVITANIA", "BRITANNIA"],
        [1, 3, 4, 5, 6],
        [["BRITANNIA", "II", "rebel"]],
        {"constantius": "GERMANIA SVPERIOR"},
        "constantius",
        "ATLANTICVM",
        ["pirates"],
    ),
    Row(  # R12.2
        "danube_wars",
        "4122",
        ["NORICVM", "RHAETIA", "MOESIA INFERIOR", "MOESIA SVPERIOR"],
        [1, 2, 5, 6],
        [["GERMANIA MAGNA", "III", "army"], ["SARMATIA", "IV", "goths"]],
        {"diocletian": "THRACIA", "galerius": "PANNONIA SVPERIOR"},
        "diocletian",
        None,
        ["goths"],
    ),
    Row(  # R12.3
        "mauretanian_war",
        "4221",
        ["TINGITANA", "BAETICA", "NVMIDIA", "CAESARIENSIS", "GAETVLIA"],
        [2, 3, 4, 5],
        [["GAETVLIA", "I", "rebel"]],
        {"maximian": "CARTHAGINENSIS"},
        "maximian",
        "ATLANTICVM",
        ["pirates"],
    ),
    Row(  # R12.4
        "great_persian_war",
        "4132",
        ["AEGYPTVS", "CYRENAICA", "SYRIA", "CAPPADOCIA", "GALATIA", "PERSIA", "LIBYA"],
        [1, 2, 3, 4],
        [["PERSIA", "V", "rebel"], ["LIBYA", "VI", "rebel"]],
        {"diocletian": "BITHYNIA", "galerius": "CILICIA"},
        "diocletian",
        None,
        [],
    ),
]
each_scenario = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)


def new(row: Row, seed: int = 0, **arguments: Any) -> batch.Games:
    return batch.new_games(Options(scenario=row.name, **arguments), seed)[0]


def initial_rng_state(seed: int) -> int:
    """Return the RNG state before the first die; test_setup checks it."""
    return int(rng_states(batch.seed_array(seed))[0])


def war(scenario: str, **changes: Any) -> batch.Games:
    """Return a position of this scenario; its Pirates, if any, are beaten."""
    pirates = "gone" if scenario in ("carausian_revolt", "mauretanian_war") else None
    return position(**{"rules": {"scenario": scenario}, "pirates": pirates, **changes})


def carausius(dice: tuple[int | None, ...] = (), tokens: dict[str, str] | None = None, **changes: Any) -> batch.Games:
    """Return a position with Maximian in BELGICA, next to the Rebel, and a fleet in ATLANTICVM."""
    tokens = {"BRITANNIA": "revolt"} | (tokens or {})
    rebel = {"armies": [["BRITANNIA", "II", "rebel"]], "emperor": "maximian", "emperors": {"maximian": "BELGICA"}}
    return war("carausian_revolt", dice=dice, tokens=tokens, **{"fleets": ["ATLANTICVM"], **rebel, **changes})


def end_turn(game: batch.Games) -> tuple[Snapshot, list[int]]:
    before = snapshot(game)["dice"]
    after = play(game, "end")
    return after, dice_used(before, after["dice"])


@each_scenario
def test_scenario_position_equals_the_table(row: Row) -> None:
    """R12.1, R12.2, R12.3, R12.4, R2.7: check the whole position, with province 3 in the other regions and no roll."""
    start = snapshot(new(row, 5, fixed_setup=True))
    thirds = [BOARD.names[6 * (region - 1) + 2] for region in row.other_regions]
    assert start["tokens"] == dict.fromkeys(row.revolts + thirds, "revolt")
    assert start["armies"] == row.armies
    assert start["emperors"] == {**dict.fromkeys(start["emperors"], None), **row.placed}
    assert start["pirates"] == row.pirates
    assert start["supply"] == dict.fromkeys(start["supply"], 4)
    assert start["reserve"] == {"unrest": 21, "revolt": 21 - len(row.revolts) - len(thirds), "armies": 3 - len(row.armies)}
    assert start["dice"] == initial_rng_state(5)


@each_scenario
def test_other_regions_are_rolled(row: Row) -> None:
    """R12.1, R12.2, R12.3, R12.4: R2.2 applies to the regions without fixed Revolts; R2.3, R2.4 and R2.5 do not apply."""
    for seed in range(40):
        start = snapshot(new(row, seed))
        dice = dice_used(initial_rng_state(seed), start["dice"])
        numbers = [die for die in dice if die != 1]
        rolled = [BOARD.names[6 * (region - 1) + number - 1] for region, number in zip(row.other_regions, numbers, strict=True)]
        assert start["tokens"] == dict.fromkeys(row.revolts + rolled, "revolt")
        assert (start["armies"], start["pirates"]) == (row.armies, row.pirates)


@each_scenario
def test_scenario_fleets_and_first_turn(row: Row) -> None:
    """R12.1, R12.2, R12.3, R12.4: the starting Emperor places the level's fleets, never in the Pirates' zone."""
    game = new(row)
    zones = ["INTERNVM", "AEGAEVM"][: int(row.level[1])]
    for zone in zones:
        assert (snapshot(game)["phase"], snapshot(game)["emperor"]) == ("fleets", row.starts)
        assert may(game, "fleet ATLANTICVM") == (row.pirates is None)
        play(game, f"fleet {zone}")
    first = snapshot(game)
    assert (first["phase"], first["emperor"], first["ip"], first["fleets"]) == ("roman", row.starts, 6, zones)


@each_scenario
def test_scenario_sets_level_and_modules(row: Row) -> None:
    """R12.1, R12.2, R12.3, R12.4: the scenario sets both; giving them too is refused; variants may be added."""
    options = Options(scenario=row.name, variants=["imperivm"])
    assert (options.level, list(options.modules)) == (row.level, row.modules)
    for extra in ({"level": row.level}, {"modules": ["dux"]}):
        with pytest.raises(ValueError, match=row.name):
            Options(scenario=row.name, **extra)


@pytest.mark.parametrize(("row", "following"), [(TABLE[0], "maximian"), (TABLE[2], "diocletian")])
def test_turn_order_continues_from_the_starting_emperor(row: Row, following: str) -> None:
    """R12.1, R12.3: constantius is followed by maximian, maximian by diocletian."""
    game = new(row)
    assert play(game, "fleet INTERNVM", "fleet AEGAEVM", "end")["emperor"] == following


def test_goths_come_back_in_the_danube_wars() -> None:
    """R12.2: the Goths module is on, so beaten Goths are the next army on border III or IV."""
    goths = {"armies": [["SARMATIA", "IV", "goths"]], "emperors": {"diocletian": "MOESIA INFERIOR"}}
    game = war("danube_wars", dice=(6, 1, 2, 1, 3), tokens={"BELGICA": "revolt"}, **goths)
    assert play(game, "attack SARMATIA")["armies"] == []
    after, used = end_turn(game)
    assert [army[1:] for army in after["armies"]] == [["III", "goths"]]
    assert used[:3] == [2, 1, 3]


@pytest.mark.parametrize(
    ("scenario", "border", "origin"),
    [
        ("carausian_revolt", "BRITANNIA", "II"),
        ("mauretanian_war", "GAETVLIA", "I"),
        ("great_persian_war", "PERSIA", "V"),
        ("great_persian_war", "LIBYA", "VI"),
    ],
)
def test_rebel_never_moves(scenario: str, border: str, origin: str) -> None:
    """R12.1, R12.3, R12.4: a Rebel stays without a roll, while another army advances."""
    rebel, army = [border, origin, "rebel"], ["MACEDONIA", "IV", "army"]
    game = war(scenario, dice=(5, 6, 6), tokens={border: "revolt", "MACEDONIA": "revolt"}, armies=[rebel, army])
    after, used = end_turn(game)
    assert after["armies"] == [["EPIRVS", "IV", "army"], rebel]
    assert used == [5, 6]


@pytest.mark.parametrize(
    ("scenario", "border", "origin", "space"),
    [("carausian_revolt", "BRITANNIA", "II", "BELGICA"), ("mauretanian_war", "GAETVLIA", "I", "TINGITANA")],
)
@pytest.mark.parametrize("fleets", [[], ["INTERNVM"], ["INTERNVM", "AEGAEVM"], ["ATLANTICVM"], ["ATLANTICVM", "AEGAEVM"]])
def test_rebel_is_attacked_only_with_a_fleet_in_the_west(scenario: str, border: str, origin: str, space: str, fleets: list[str]) -> None:
    """R12.1, R12.3: an attack needs a fleet in ATLANTICVM."""
    rebel = {"armies": [[border, origin, "rebel"]], "tokens": {border: "revolt"}}
    game = war(scenario, fleets=fleets, emperors={"diocletian": space}, **rebel)
    assert may(game, f"attack {border}") == ("ATLANTICVM" in fleets)


@pytest.mark.parametrize("fleet", ["ATLANTICVM", "INTERNVM"])
def test_fleet_condition_applies_to_the_dux(fleet: str) -> None:
    """R12.1: the condition is the same as for an Emperor. No scenario has the Dux module, so the test sets it."""
    game = carausius(fleets=[fleet], emperors={"maximian": "CISALPINA"})
    game["modules"] |= DUX_MODULE
    game["at"][0, DUX] = BOARD.space_id("BELGICA")
    assert may(game, "dux attack BRITANNIA") == (fleet == "ATLANTICVM")


def test_ordinary_armies_need_no_fleet() -> None:
    """R12.1: the condition applies to the Rebel, not to an army that comes to BRITANNIA later."""
    assert may(carausius(fleets=[], tokens={}, armies=[["BRITANNIA", "II", "army"]]), "attack BRITANNIA")


@pytest.mark.parametrize(("border", "origin", "space"), [("PERSIA", "V", "SYRIA"), ("LIBYA", "VI", "AEGYPTVS")])
def test_persian_rebels_need_no_fleet(border: str, origin: str, space: str) -> None:
    """R12.4: this scenario has no condition on fleets."""
    rebel = {"armies": [[border, origin, "rebel"]], "tokens": {border: "revolt"}}
    assert may(war("great_persian_war", emperors={"diocletian": space}, **rebel), f"attack {border}")


def test_rebel_occupies_its_border() -> None:
    """R12.1: no Emperor can enter the border, and by R7.2 no army is placed there: N is rolled instead."""
    game = carausius(dice=(1, 5, 2, 3), tokens={"GALLAECIA": "revolt"})
    assert "move BRITANNIA" not in legal(game)
    after, used = end_turn(game)
    assert after["armies"] == [["BRITANNIA", "II", "rebel"]]
    assert after["tokens"]["GERMANIA SVPERIOR"] == "unrest"
    assert used == [1, 5, 2, 3]


@pytest.mark.parametrize(("roman", "emperor_at", "rebels"), [(5, "BRITANNIA", 0), (4, "BELGICA", 1), (3, None, 1)])
def test_revolt_under_the_rebel_counts_as_support(roman: int, emperor_at: str | None, rebels: int) -> None:
    """R12.1: it forms a chain of three with BELGICA and LVGDVNENSIS (R5.2), so N = 1 gives 4."""
    game = carausius(dice=(roman, 1, 5, 6), tokens={"BELGICA": "revolt", "LVGDVNENSIS": "revolt"})
    after = play(game, "attack BRITANNIA")
    assert after["emperors"]["maximian"] == emperor_at
    assert len(after["armies"]) == rebels


def test_revolt_under_the_rebel_spreads() -> None:
    """R12.1: it spreads in the Empire status (R6.1), over broken links like any other Revolt."""
    after, used = end_turn(carausius(dice=(4, 3, 5, 6), tokens={"LVGDVNENSIS": "unrest", "BELGICA": "unrest"}, emperors={}))
    assert after["tokens"] == {"BRITANNIA": "revolt", "BELGICA": "revolt", "LVGDVNENSIS": "revolt"}
    assert used == [4, 3, 5, 6]


def test_beaten_rebel_returns_to_the_reserve_with_its_revolt() -> None:
    """R12.1: the attack costs 3 IP (broken link, Revolt), the Revolt is removed, and the Emperor takes the space."""
    after = play(carausius(dice=(6, 1)), "attack BRITANNIA")
    assert (after["armies"], after["tokens"], after["ip"]) == ([], {}, 3)
    assert after["reserve"] == {"unrest": 21, "revolt": 21, "armies": 3}
    assert after["emperors"]["maximian"] == "BRITANNIA"


def test_beaten_rebel_becomes_an_ordinary_army() -> None:
    """R12.1: placed on the Rebel's border again, the army advances."""
    after, used = end_turn(war("carausian_revolt", dice=(1, 5, 2, 4), tokens={"GALLAECIA": "revolt"}))
    assert after["armies"] == [["BELGICA", "II", "army"]]
    assert used == [1, 5, 2, 4]


def test_rebels_count_in_the_maximum_of_3_armies() -> None:
    """R12.4: two Rebels and an army leave the reserve empty, so an Uprising brings no army (R7.2)."""
    armies = [["PERSIA", "V", "rebel"], ["LIBYA", "VI", "rebel"], ["SARMATIA", "IV", "army"]]
    tokens = dict.fromkeys(("PERSIA", "LIBYA", "GALLAECIA"), "revolt")
    after, used = end_turn(war("great_persian_war", dice=(1, 5, 1), tokens=tokens, armies=armies))
    assert after["armies"] == [["SARMATIA", "IV", "army"], ["PERSIA", "V", "rebel"], ["LIBYA", "VI", "rebel"]]
    assert used == [1, 5, 1]
