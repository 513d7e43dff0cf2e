"""The heuristic: each feature in a small position, the weights, the win probability and the distances."""

import math
import tomllib
from typing import Any

import numpy as np
import pytest

from helpers.positions import play, position
from tetrarchia_env.batch import Games, new_games, playout
from tetrarchia_env.board import BOARD, EMPERORS, SPACES
from tetrarchia_env.engine.distances import DISTANCES, FAR
from tetrarchia_env.engine.state import RUNNING
from tetrarchia_env.heuristic import FEATURES, WEIGHTS_FILE, features_of, load_weights, logit, weights_of, win_probability
from tetrarchia_env.options import Options
from tetrarchia_train.tune_planner import DEFAULT_WEIGHTS

Changes = dict[str, Any]
BUT_LIBYA = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA")
LIBYA_LEFT = dict(zip(BUT_LIBYA, ("maximian", "constantius", "galerius", "galerius", "constantius"), strict=True))
DUX: Changes = {"rules": {"modules": ["dux"]}}
PIRATES: Changes = {"rules": {"modules": ["pirates"]}}
REBEL: Changes = {"rules": {"scenario": "great_persian_war"}, "armies": [["LIBYA", "VI", "rebel"]], "tokens": {"LIBYA": "revolt"}}
BEFORE_DACIA: Changes = {"armies": [["DACIA", "III", "army"]]}
IN_NORICVM: Changes = {"armies": [["NORICVM", "III", "army"]]}


def revolts(*names: str, **others: str) -> Changes:
    """Return changes that place Revolts in these spaces, and other tokens."""
    return {"tokens": dict.fromkeys(names, "revolt") | others}


# feature, changes to positions.EMPTY (all Emperors in their capitals, nothing else on the board), value
EXAMPLES: list[tuple[str, Changes, float]] = [
    ("always", {}, 1),
    ("borders", {}, 0),
    ("borders", {"tokens": {"LIBYA": "maximian", "PERSIA": "galerius", "ROMA": "maximian"}}, 2),
    ("borders_squared", {"tokens": {"LIBYA": "maximian", "PERSIA": "galerius"}}, 4 / 6),
    ("borders_squared", {"tokens": LIBYA_LEFT}, 25 / 6),
    ("revolts", revolts("BELGICA", "ROMA", SYRIA="unrest"), 2),
    ("unrest", revolts("BELGICA", "ROMA", SYRIA="unrest"), 1),
    ("infected", revolts("BAETICA", CARTHAGINENSIS="unrest", LVSITANIA="unrest", GALLAECIA="unrest"), 2),
    ("infected", revolts("BAETICA", TINGITANA="unrest"), 0),  # spreading over a broken link needs a roll
    ("exposed", revolts("LVSITANIA"), 3),
    ("exposed", revolts("BELGICA"), 3),  # never BRITANNIA (R7.1)
    ("exposed", revolts("LVSITANIA", "BAETICA", GALLAECIA="unrest"), 4),
    ("revolts_in_the_way", revolts("BELGICA", "BAETICA", "ROMA", BRITANNIA="galerius"), 1),
    ("ready", {}, 6),
    ("ready", revolts("BELGICA", "BAETICA", BRITANNIA="galerius"), 4),
    ("nearly_ready", revolts("BELGICA", "BAETICA", "ASIA", "CILICIA", BRITANNIA="galerius"), 1),
    ("longest_chain", revolts("BAETICA", "LVSITANIA", "SYRIA"), 2),
    ("longest_chain", revolts("TINGITANA", "BAETICA", "CARTHAGINENSIS", "SYRIA", "AEGYPTVS"), 3),
    ("revolts_in_italia", revolts("ROMA", "SICILIA", "BELGICA"), 2),
    ("armies", {}, 0),
    ("armies", {"armies": [["EPIRVS", "IV", "army"], ["LIBYA", "VI", "army"]]}, 2),
    ("army_nearness", {"armies": [["LVCANIA", "IV", "army"]]}, 11 / 12),
    ("army_nearness", {"armies": [["EPIRVS", "V", "army"], ["LIBYA", "VI", "army"]]}, 10 / 12 + 5 / 12),
    ("army_at_the_gates", {"armies": [["LVCANIA", "IV", "army"], ["EPIRVS", "IV", "army"], ["THRACIA", "IV", "army"]]}, 9 + 4),
    ("army_on_border", {"armies": [["EPIRVS", "IV", "army"], ["LIBYA", "VI", "army"]]}, 1),
    ("army_support", {"armies": [["CARTHAGINENSIS", "I", "army"]]} | revolts("BAETICA", "LVSITANIA", "SYRIA"), 2),
    ("army_unmet", {"armies": [["MACEDONIA", "IV", "army"]]}, 2),
    ("army_unmet", {"armies": [["MACEDONIA", "IV", "army"], ["ETRVRIA", "I", "army"]]}, 3),
    ("army_ganged", IN_NORICVM, 0),
    ("army_ganged", IN_NORICVM | {"emperors": {"maximian": "RHAETIA"}}, 1),
    ("army_ganged", IN_NORICVM | {"emperors": {"maximian": "RHAETIA"}, "dux": "PANNONIA SVPERIOR"} | DUX, 2),
    ("goths_or_rebels", IN_NORICVM, 0),
    ("goths_or_rebels", {"armies": [["SARMATIA", "IV", "goths"], ["LIBYA", "VI", "army"]], "rules": {"modules": ["goths"]}}, 1),
    ("goths_or_rebels", REBEL, 1),
    ("pirates", PIRATES | {"pirates": "AEGAEVM"}, 1),
    ("pirates", PIRATES | {"pirates": "gone"}, 0),
    ("away", {}, 0),
    ("away", {"emperors": {"galerius": None, "maximian": None}}, 2),
    ("on_revolt", revolts("BITHYNIA", "CISALPINA", "SYRIA"), 2),
    ("in_the_path", BEFORE_DACIA, 1),
    ("in_the_path", BEFORE_DACIA | {"emperors": {"galerius": "NORICVM"}}, 0),
    ("in_the_path", REBEL | {"emperors": {"diocletian": "AEGYPTVS"}}, 0),  # a Rebel never moves
    ("dux", DUX | {"dux": "ASIA"}, 1),
    ("dux", DUX | {"dux": "available"}, 0),
    ("dux", DUX | {"dux": "gone"}, 0),
    ("supply", {}, 16),
    ("supply", {"supply": {"galerius": 0, "maximian": 1}}, 9),
    ("empty_supply", {"supply": {"galerius": 0, "maximian": 0}}, 2),
    ("short", {"supply": dict.fromkeys(EMPERORS, 1)}, 2),
    ("short", {"supply": dict.fromkeys(EMPERORS, 1), "tokens": LIBYA_LEFT}, 0),
    ("protected", {"tokens": {"BELGICA": "galerius", "ROMA": "maximian", "LIBYA": "galerius"}}, 2),
    ("walls", revolts("LVGDVNENSIS", "AQVITANIA", BELGICA="galerius", ROMA="maximian"), 1),
    ("border_unmet", {"tokens": LIBYA_LEFT}, 6),
    ("border_unmet", {"tokens": LIBYA_LEFT, "fleets": ["AEGAEVM"]}, 3),
    ("border_unmet", {"tokens": LIBYA_LEFT, "emperors": {"maximian": "AEGYPTVS"}}, 2),
    ("border_unmet", {"tokens": LIBYA_LEFT, "emperors": {"maximian": "AEGYPTVS"}, "supply": {"maximian": 0}}, 6),
    ("border_unmet", {"tokens": LIBYA_LEFT, "armies": [["LIBYA", "VI", "army"]]}, 0),  # counted by army_unmet instead
    ("revolt_unmet", revolts("SYRIA"), 3),
    ("revolt_unmet", revolts("SYRIA", "BELGICA"), 3 + 1),
    ("revolt_unmet", revolts("SYRIA") | {"emperor": "galerius", "emperors": {"diocletian": None}}, 3),  # Diocletian enters at his capital
    ("revolt_unmet", revolts("LVCANIA") | {"emperor": "galerius", "emperors": {"diocletian": None}}, 1),  # or at ROMA
    ("revolt_unmet", revolts("TINGITANA") | {"fleets": ["ATLANTICVM", "INTERNVM"]}, 2),
    ("revolt_unmet", revolts("TINGITANA") | {"fleets": ["ATLANTICVM", "INTERNVM"], "rules": {"variants": ["mare_nostrvm"]}}, 1),
    ("first_idle", {}, 4),  # from BITHYNIA to PERSIA
    ("first_idle", revolts("ASIA"), 1),
    ("first_idle", {"emperor": "galerius"}, 2),  # from PANNONIA INFERIOR to GERMANIA MAGNA
    ("others_idle", {}, 2 + 3 + 4),
    ("others_idle", {"emperor": "galerius"}, 4 + 3 + 4),
    ("few_unrest", {"reserve": {"unrest": 6}}, 0),
    ("few_unrest", {"reserve": {"unrest": 4}}, 4),
    ("few_revolts", {"reserve": {"revolt": 7}}, 0),
    ("few_revolts", {"reserve": {"revolt": 3}}, 9),
    ("ip", {"ip": 5}, 5),
    ("ip", {"phase": "arrival", "emperors": {"diocletian": None}}, 6),
    ("ip", {"phase": "fleets", "turn": 0, "ip": 0}, 0),
]


def feature_value(name: str, game: Games) -> float:
    return float(features_of(game)[0, list(FEATURES).index(name)])


@pytest.mark.parametrize(("name", "changes", "counted"), EXAMPLES)
def test_feature_value(name: str, changes: Changes, counted: float) -> None:
    assert feature_value(name, position(**changes)) == pytest.approx(counted)


def test_every_feature_has_an_example() -> None:
    assert {name for name, _, counted in EXAMPLES if counted} == set(FEATURES)


def test_ip_are_zero_while_a_reaction_is_pending() -> None:
    """R10.1: the IP may be lost with the combat."""
    game = position(rules={"variants": ["imperivm"]}, emperor="galerius", dice=(2, 3), **IN_NORICVM)
    assert play(game, "attack NORICVM")["phase"] == "boost"
    assert game["ip"][0] == 5
    assert feature_value("ip", game) == 0


@pytest.mark.parametrize("path", [WEIGHTS_FILE, DEFAULT_WEIGHTS], ids=lambda path: path.name)
def test_weight_files_list_exactly_the_features(path: Any) -> None:
    assert list(tomllib.loads(path.read_text(encoding="utf-8"))) == list(FEATURES)


def test_loaded_weights_are_those_of_the_file() -> None:
    kept = tomllib.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    assert {name: float(load_weights()[0][name]) for name in FEATURES} == kept


def midgame_positions() -> Games:
    games, masks = new_games(Options(level="4212", modules=["dux", "pirates", "goths"]), range(30))
    playout(games, masks, np.arange(1, 31, dtype=np.uint64), 25)
    return np.compress(games["outcome"] == RUNNING, games)


def test_logit_is_the_weighted_sum_of_the_features() -> None:
    games, weights = midgame_positions(), load_weights()
    summed = features_of(games) @ np.array(weights[0].tolist())
    assert len(games) > 20
    assert [logit(game, weights[0]) for game in games] == pytest.approx(summed)


def test_win_probability_is_the_logistic_function_of_the_logit() -> None:
    """R9: a won game has probability 1, any other finished game 0."""
    game = position(ip=2)
    only_ip = weights_of([float(name == "ip") for name in FEATURES])[0]
    assert win_probability(game[0], only_ip) == pytest.approx(1 / (1 + math.exp(-2)))
    won = position(tokens=LIBYA_LEFT, emperors={"diocletian": "LIBYA"})
    assert play(won, "secure")["outcome"] == "won"
    assert win_probability(won[0], only_ip) == 1
    lost = position(armies=[["LVCANIA", "IV", "army"]], dice=(5, 6))
    assert play(lost, "end")["outcome"] == "rome fell"
    assert win_probability(lost[0], only_ip) == 0
    truncated = position(rules={"max_turns": 9}, dice=(5, 6))
    assert play(truncated, "end")["outcome"] == "truncated"
    assert win_probability(truncated[0], only_ip) == 0


def test_computing_features_changes_nothing() -> None:
    games = midgame_positions()
    before = games.tobytes()
    features_of(games)
    assert games.tobytes() == before


# Distances


@pytest.mark.parametrize(
    ("start", "goal", "fleets", "joined", "cost"),
    [
        ("ROMA", "ROMA", 0, 0, 0),
        ("BITHYNIA", "GALATIA", 0, 0, 1),
        ("BITHYNIA", "THRACIA", 0, 0, 2),
        ("BITHYNIA", "THRACIA", 4, 0, 1),
        ("PROCONSVLARIS", "ROMA", 0, 0, 5),
        ("PROCONSVLARIS", "ROMA", 2, 0, 1),
        ("PROCONSVLARIS", "ROMA", 5, 0, 5),
        ("GALLAECIA", "SYRIA", 7, 0, 3),
        ("GALLAECIA", "SYRIA", 7, 1, 1),
        ("GALLAECIA", "SYRIA", 5, 1, 8),
    ],
)
def test_distances_over_links_and_by_sea(start: str, goal: str, fleets: int, joined: int, cost: int) -> None:
    """R4.1, R10.2: `fleets` has one bit per zone, from west to east."""
    start_id, goal_id = BOARD.space_id(start), BOARD.space_id(goal)
    assert DISTANCES[joined, fleets, start_id, goal_id] == DISTANCES[joined, fleets, goal_id, start_id] == cost


def test_fleets_never_lengthen_distances_and_off_the_board_is_far() -> None:
    assert (DISTANCES[:, :, :SPACES, :SPACES] <= DISTANCES[:, :1, :SPACES, :SPACES]).all()
    assert (DISTANCES[1] <= DISTANCES[0]).all()
    assert (DISTANCES[:, :, SPACES:] == FAR).all()
