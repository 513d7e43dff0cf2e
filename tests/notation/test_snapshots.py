"""Snapshots (section 5 of the interface): exact in both directions; damaged ones are refused with the name of the entry."""

import copy
import json
import random
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from helpers.positions import EMPTY, play, position
from tetrarchia_env.batch import Games, legal_masks, new_games, playout
from tetrarchia_env.engine.state import PHASES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import restore, snapshot
from tetrarchia_env.options import Options

VARIANTS = ["imperivm", "mare_nostrvm", "diarchia", "patres_patriae", "the_great"]
MODULES = ["dux", "pirates", "goths"]
SCENARIOS = ["carausian_revolt", "danube_wars", "mauretanian_war", "great_persian_war"]
EXAMPLE = """
{"turn": 7, "emperor": "maximian", "phase": "roman", "ip": 4, "passing": null,
 "tokens": {"BELGICA": "revolt", "ROMA": "maximian", "SYRIA": "unrest"},
 "emperors": {"diocletian": "BITHYNIA", "galerius": null, "constantius": "BELGICA", "maximian": "ROMA"},
 "dux": null, "armies": [["GERMANIA MAGNA", "III", "army"]], "fleets": ["INTERNVM"], "pirates": null,
 "supply": {"diocletian": 4, "galerius": 4, "constantius": 3, "maximian": 3}, "reserve": {"unrest": 20, "revolt": 13, "armies": 2},
 "glory": {"diocletian": 0, "galerius": 0, "constantius": 0, "maximian": 0}, "outcome": "running", "score": -1, "dice": 1234567890}
"""


def random_options(rng: random.Random) -> Options:
    common: dict[str, Any] = {"variants": rng.sample(VARIANTS, rng.randrange(6)), "fixed_setup": rng.random() < 0.2}
    common["max_turns"] = rng.choice([3, 20, 400])
    if rng.random() < 0.2:
        return Options(scenario=rng.choice(SCENARIOS), **common)
    modules = rng.sample(MODULES, rng.randrange(4))
    level = "".join(rng.choice(digits) for digits in ("2345", "012" if "pirates" in modules else "0123", "0123", "0123"))
    return Options(level=level, modules=modules, **common)


@cache
def random_positions() -> tuple[Games, ...]:
    """Return at most two positions of each phase from random games of each of 40 random configurations."""
    rng = random.Random(7)
    found: list[Games] = []
    for _ in range(40):
        games, masks = new_games(random_options(rng), range(10))
        rng_states = np.array([rng.randrange(1, 2**64) for _ in range(10)], dtype=np.uint64)
        seen: Counter[int] = Counter()
        for _ in range(150):
            for i in range(10):
                if seen[int(games["phase"][i])] < 2 and rng.random() < (0.1 if games["phase"][i] == PHASES.index("roman") else 1):
                    found.append(games[i : i + 1].copy())
                    seen[int(games["phase"][i])] += 1
            playout(games, masks, rng_states, 1)
    return tuple(found)


def bytes_after_playout(game: Games) -> bytes:
    """Return the bytes of the game after 60 more random actions."""
    game = game.copy()
    playout(game, legal_masks(game), np.array([99], dtype=np.uint64), 60)
    return game.tobytes()


def test_random_positions_show_every_phase() -> None:
    phases = Counter(PHASES[int(game["phase"][0])] for game in random_positions())
    assert set(phases) == {"fleets", "arrival", "roman", "boost", "block", "over"}
    assert min(phases.values()) >= 5


def test_restored_game_is_exact_and_continues_identically() -> None:
    for game in random_positions():
        again = restore(json.loads(json.dumps(snapshot(game))))
        assert again.tobytes() == game.tobytes(), snapshot(game)
        assert bytes_after_playout(again) == bytes_after_playout(game)
        assert snapshot(again) == snapshot(game)


def test_snapshot_and_game_are_independent() -> None:
    for game in random_positions()[::10]:
        before, data = game.tobytes(), snapshot(game)
        kept = copy.deepcopy(data)
        bytes_after_playout(restore(data))
        assert (game.tobytes(), data) == (before, kept)


def test_interface_example_can_be_restored() -> None:
    data = json.loads(EXAMPLE)
    again = snapshot(restore(data))
    assert {key: again[key] for key in data if key != "score"} == {key: data[key] for key in data if key != "score"}
    assert again["score"] == -6 + 4 - 1  # R9.3: six unsecured borders, ITALIA without Revolt, one army


@pytest.mark.parametrize("left_out", ["score", "pending", "rules"])
def test_optional_entries_may_be_omitted(left_out: str) -> None:
    data = snapshot(position())
    del data[left_out]
    assert snapshot(restore(data)) == snapshot(position())


def test_entries_of_a_snapshot() -> None:
    """Check the entries of the interface in positions that contain them."""
    data = snapshot(position(rules={"modules": MODULES}, dux="available", pirates="gone", fleets=["AEGAEVM", "ATLANTICVM"]))
    assert (data["dux"], data["pirates"], data["fleets"]) == ("available", "gone", ["ATLANTICVM", "AEGAEVM"])
    data = snapshot(position(rules={"modules": ["dux"]}, dux="ASIA", armies=[["LIBYA", "VI", "army"], ["DACIA", "III", "army"]]))
    assert (data["dux"], data["pirates"], data["armies"]) == ("ASIA", None, [["DACIA", "III", "army"], ["LIBYA", "VI", "army"]])
    assert play(position(rules={"modules": ["dux"]}, dux="ASIA"), "move ASIA")["passing"] == "diocletian"


BOOST = play(
    position(rules={"variants": ["imperivm"]}, emperor="galerius", armies=[["NORICVM", "III", "army"]], dice=(1, 6)), "attack NORICVM"
)
BLOCK_PLACES = {"constantius": "GERMANIA SVPERIOR"}
BLOCK_ARMY = [["GERMANIA INFERIOR", "II", "army"]]
BLOCK = play(position(rules={"variants": ["imperivm"]}, emperor="maximian", emperors=BLOCK_PLACES, armies=BLOCK_ARMY, dice=(5, 1)), "end")
ARMY = [["DACIA", "III", "army"]]
TWO, FAR = [["NORICVM", "III", "army"], *ARMY], ["ETRVRIA", "III", "army"]
ONE_LEFT = {"unrest": 20, "revolt": 20, "armies": 1}
REBELS = BLOCK | {"reserve": ONE_LEFT, "armies": [*BLOCK_ARMY, ["SARMATIA", "IV", "rebel"]]}
OWN = EMPTY["emperors"]
TABLES = ("tokens", "emperors", "supply", "reserve", "glory")
AT_SEA = {"modules": ["pirates"]}
NO_NUMBERS: list[Any] = [-1, 1.5, "1", True, None, []]
NO_NAMES: list[Any] = ["nero", None, 0, []]
NO_TABLES: list[Any] = [None, [], "x", 3]
NO_LISTS: list[Any] = [None, {}, "ROMA", 3]
NO_PLACES: list[Any] = ["ATLANTIS", 3, ["ROMA"], {}]
NO_PENDING: list[Any] = [None, [], "x", {"luck": 1}]
NO_ZONES: list[Any] = ["ROMA", 3, ["INTERNVM"], {}]
NO_RULES: list[Any] = [None, ["x"], {"players": 2}, {"level": ["4211", "4200"]}]
DAMAGE: list[tuple[str, dict[str, Any], str]] = [
    *[(f"{key} is missing", {key: KeyError}, key) for key in EMPTY if key not in ("score", "pending", "rules")],
    *[(f"{key} is {value!r}", {key: value}, key) for key in ("turn", "ip", "dice") for value in NO_NUMBERS],
    *[(f"{key} is {value!r}", {key: value}, key) for key in ("emperor", "phase", "outcome") for value in NO_NAMES],
    *[(f"{key} is {value!r}", {key: value}, key) for key in TABLES for value in NO_TABLES],
    *[(f"{key} is {value!r}", {key: value}, key) for key in ("armies", "fleets") for value in NO_LISTS],
    *[(f"pending is {value!r}", {"pending": value}, "pending") for value in NO_PENDING],
    *[(f"rules are {value!r}", {"rules": value}, "rules") for value in NO_RULES],
    *[(f"dux is {value!r}", {"dux": value, "rules": {"modules": ["dux"]}}, "dux") for value in NO_PLACES],
    *[(f"pirates are {value!r}", {"pirates": value, "rules": AT_SEA}, "pirates") for value in NO_ZONES],
    *[(f"passing is {value!r}", {"passing": value}, "passing") for value in NO_PLACES],
    ("unknown entry", {"luck": 1}, "luck"),
    ("unknown variant", {"rules": {"variants": ["chess"]}}, "chess"),
    ("bad level", {"rules": {"level": "9999"}}, "9999"),
    ("the RNG state is 0", {"dice": 0}, "dice"),
    ("the RNG state is too large", {"dice": 2**64}, "dice"),
    ("ip without end", {"ip": 10**9}, "ip"),
    ("unknown space of a token", {"tokens": {"ATLANTIS": "unrest"}}, "ATLANTIS"),
    ("unknown token", {"tokens": {"ROMA": "nero"}}, "ROMA"),
    ("unhashable token", {"tokens": {"ROMA": ["unrest"]}}, "ROMA"),
    ("an Emperor is missing", {"emperors": {"diocletian": "ROMA"}}, "galerius"),
    ("unknown Emperor", {"emperors": {**OWN, "nero": None}}, "nero"),
    ("unknown space of an Emperor", {"emperors": {**OWN, "galerius": "ATLANTIS"}}, "galerius"),
    ("two Emperors on a space", {"emperors": {**OWN, "galerius": "BITHYNIA"}}, "more than one figure"),
    ("Emperor and army on a space", {"emperors": {**OWN, "galerius": "DACIA"}, "armies": ARMY}, "more than one figure"),
    ("Dux and Emperor on a space", {"dux": "BITHYNIA", "rules": {"modules": ["dux"]}}, "more than one figure"),
    ("two armies on a space", {"armies": [*ARMY, ["DACIA", "III", "army"]]}, "more than one figure"),
    ("four armies", {"armies": [[name, "III", "army"] for name in ("DACIA", "NORICVM", "RHAETIA", "ETRVRIA")]}, "armies"),
    ("an army too many", {"armies": ARMY, "reserve": {"unrest": 21, "revolt": 21, "armies": 3}}, "armies"),
    ("an army off its path", {"armies": [["DACIA", "I", "army"]]}, "armies"),
    ("an army with a bad origin", {"armies": [["DACIA", "VII", "army"]]}, "armies"),
    ("an army of a bad kind", {"armies": [["DACIA", "III", "huns"]]}, "armies"),
    ("an army in parts", {"armies": [["DACIA", "III"]]}, "armies"),
    ("an army as a text", {"armies": ["abc"]}, "armies"),
    ("a Rebel inside the Empire", {"armies": [["DACIA", "III", "rebel"]]}, "armies"),
    ("an army in ROMA in a running game", {"armies": [["ROMA", "III", "army"]]}, "ROMA"),
    ("Goths without their module", {"armies": [["DACIA", "III", "goths"]]}, "goths"),
    ("the Goths twice", {"armies": [["DACIA", "III", "goths"], ["SARMATIA", "IV", "goths"]], "rules": {"modules": ["goths"]}}, "goths"),
    ("unknown zone of a fleet", {"fleets": ["PONTVS"]}, "fleets"),
    ("two fleets in a zone", {"fleets": ["INTERNVM", "INTERNVM"]}, "fleets"),
    ("a fleet in the Pirates' zone", {"fleets": ["INTERNVM"], "pirates": "INTERNVM", "rules": {"modules": ["pirates"]}}, "pirates"),
    ("a Dux without his module", {"dux": "ROMA", "rules": {}}, "dux"),
    ("no Dux with his module", {"rules": {"modules": ["dux"]}}, "dux"),
    ("Pirates without their module", {"pirates": "gone", "rules": {}}, "pirates"),
    ("no Pirates with their module", {"rules": {"modules": ["pirates"]}}, "pirates"),
    ("Pirates with three fleets", {"pirates": "gone", "rules": {"modules": ["pirates"], "level": "4311"}}, "pirates"),
    ("a supply is missing", {"supply": {"diocletian": 4}}, "supply"),
    ("a negative supply", {"supply": {**EMPTY["supply"], "galerius": -1}}, "galerius"),
    ("a supply too large", {"supply": {**EMPTY["supply"], "galerius": 6}}, "galerius"),
    ("too many of an Emperor's tokens", {"tokens": {"ROMA": "galerius"}, "supply": {**EMPTY["supply"], "galerius": 5}}, "supply"),
    ("a Revolt too many", {"tokens": {"ROMA": "revolt"}, "reserve": EMPTY["reserve"]}, "revolt"),
    ("an Unrest too many", {"tokens": {"ROMA": "unrest"}, "reserve": EMPTY["reserve"]}, "unrest"),
    ("glory too many", {"glory": {**EMPTY["glory"], "galerius": 1}, "reserve": EMPTY["reserve"]}, "unrest"),
    ("a negative reserve", {"reserve": {**EMPTY["reserve"], "armies": -1}}, "armies"),
    ("negative glory", {"glory": {**EMPTY["glory"], "galerius": -1}}, "galerius"),
    ("passing alone", {"passing": "diocletian"}, "passing"),
    ("passing off the board", {"passing": "galerius", "emperors": {**OWN, "galerius": None}}, "passing"),
    ("another passes without orders", {"passing": "galerius", "emperors": {**OWN, "galerius": "CISALPINA"}}, "passing"),
    ("a Roman phase without its Emperor", {"emperors": {**OWN, "diocletian": None}}, "phase"),
    ("an arrival of one on the board", {"phase": "arrival"}, "phase"),
    ("a boost without combat", {"phase": "boost"}, "phase"),
    ("a block without march", {"phase": "block"}, "phase"),
    ("over without outcome", {"phase": "over"}, "phase"),
    ("a phase that never waits", {"phase": "barbarian"}, "phase"),
    ("an outcome in a running game", {"outcome": "won"}, "outcome"),
    ("fleets that are all placed", {"phase": "fleets", "ip": 0, "fleets": ["ATLANTICVM", "INTERNVM"]}, "phase"),
    ("owed to an unknown Emperor", {"pending": {"owed": {"nero": 1}}}, "owed"),
    ("owed too much", {"pending": {"owed": {"galerius": 9}}}, "owed"),
    ("an unknown use", {"pending": {"used": ["magic"]}}, "used"),
    ("a march without an army", {"pending": {"march": ["DACIA"]}}, "march"),
    ("a march in the Roman phase", {"armies": ARMY, "pending": {"march": ["DACIA"]}}, "march"),
    ("a combat in parts", BOOST | {"pending": {"combat": {"fighter": "galerius"}}}, "combat"),
    ("a combat in the Roman phase", {"pending": BOOST["pending"], "armies": BOOST["armies"]}, "combat"),
    ("a combat without a foe", BOOST | {"armies": []}, "combat"),
    ("a combat of an absent fighter", BOOST | {"emperors": {**BOOST["emperors"], "galerius": None}}, "combat"),
    ("a combat with a bad die", BOOST | {"pending": {"combat": {**BOOST["pending"]["combat"], "normal": 7}}}, "combat"),
    ("a combat far away", BOOST | {"emperors": {**BOOST["emperors"], "galerius": "ROMA"}}, "combat: there is no such combat"),
    ("a combat in the turn of another", BOOST | {"emperor": "maximian"}, "combat: there is no such combat"),
    ("a combat that is won", BOOST | {"pending": {"combat": {**BOOST["pending"]["combat"], "roman": 11}}}, "combat: galerius has won it"),
    (
        "a combat while another marches",
        BOOST | {"reserve": ONE_LEFT, "armies": TWO, "pending": {**BOOST["pending"], "march": ["DACIA"]}},
        "combat",
    ),
    (
        "an army that marches twice",
        BLOCK | {"pending": {"march": ["GERMANIA INFERIOR"] * 2}},
        "march: the armies do not advance in this order",
    ),
    (
        "a march out of order",
        BLOCK | {"reserve": ONE_LEFT, "armies": [*BLOCK_ARMY, FAR], "pending": {"march": ["GERMANIA INFERIOR", "ETRVRIA"]}},
        "march: the armies",
    ),
    ("rebels that march", REBELS | {"pending": {"march": ["GERMANIA INFERIOR", "SARMATIA"]}}, "march: rebels do not march"),
    ("as many turns as there are", {"turn": 400}, "turn"),
    ("more turns than there are", {"turn": 6, "rules": {"max_turns": 5}}, "turn"),
    ("too many turns at the end", {"turn": 401, "phase": "over", "outcome": "truncated"}, "turn"),
    ("a lone surrogate", {"emperor": "\ud800"}, "surrogate"),
    ("a boost of another", BOOST | {"pending": {"combat": {**BOOST["pending"]["combat"], "fighter": "maximian"}}}, "phase"),
    ("a boost without tokens", BOOST | {"supply": {**BOOST["supply"], "galerius": 0}}, "phase"),
    ("a boost without the variant", BOOST | {"rules": {}}, "phase"),
    ("a block without a march", BLOCK | {"emperors": {**BLOCK["emperors"], "constantius": "ROMA"}}, "phase"),
    ("a block without tokens", BLOCK | {"supply": {**BLOCK["supply"], "constantius": 0}}, "phase"),
    ("a block without the variant", BLOCK | {"rules": {}}, "phase"),
]


def test_positions_are_valid_before_damage() -> None:
    for data in (snapshot(position()), BOOST, BLOCK):
        assert snapshot(restore(data)) == data
    assert (BOOST["phase"], BLOCK["phase"]) == ("boost", "block")


@pytest.mark.parametrize(("changes", "word"), [row[1:] for row in DAMAGE], ids=[row[0] for row in DAMAGE])
def test_damaged_entry_is_refused_and_named(changes: dict[str, Any], word: str) -> None:

    data: dict[str, Any] = copy.deepcopy(EMPTY) | {"reserve": {"unrest": 20, "revolt": 20, "armies": 0}} | changes
    data = {key: value for key, value in data.items() if value is not KeyError}
    with pytest.raises(TetrarchiaError, match=word) as error:
        restore(data)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [None, [], "snapshot", 7])
def test_non_snapshot_is_refused(data: Any) -> None:
    with pytest.raises(ValueError, match="snapshot"):
        restore(data)
