"""The options of a game (section 1 of the interface): errors name the given value and the allowed ones."""

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tetrarchia_env.batch import new_games, reseed
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options

VARIANTS = ["imperivm", "mare_nostrvm", "diarchia", "patres_patriae", "the_great"]
MODULES = ["dux", "pirates", "goths"]
SCENARIOS = ["carausian_revolt", "danube_wars", "mauretanian_war", "great_persian_war"]

WRONG: list[tuple[dict[str, Any], list[str]]] = [
    ({"level": "1211"}, ["'1211'", "tokens", "2 to 5"]),
    ({"level": "6211"}, ["'6211'", "tokens", "2 to 5"]),
    ({"level": "4411"}, ["'4411'", "fleets", "0 to 3"]),
    ({"level": "4241"}, ["'4241'", "Revolts", "0 to 3"]),
    ({"level": "4214"}, ["'4214'", "armies", "0 to 3"]),
    ({"level": "42-1"}, ["'42-1'", "Revolts", "0 to 3"]),
    ({"level": "421"}, ["'421'", "four digits"]),
    ({"level": "42111"}, ["'42111'", "four digits"]),
    ({"level": ""}, ["''", "four digits"]),
    ({"level": "normal"}, ["'normal'", "four digits"]),
    ({"level": "\uff14211"}, ["'\uff14211'", "2 to 5"]),
    ({"level": 4211}, ["4211", "four digits"]),
    ({"level": 4.2}, ["4.2", "four digits"]),
    ({"level": []}, ["[]", "list"]),
    ({"level": ()}, ["()", "list"]),
    ({"level": [4211]}, ["4211", "four digits"]),
    ({"level": ["4211", "9211"]}, ["'9211'", "2 to 5"]),
    ({"level": {"4211"}}, ["{'4211'}", "four digits"]),
    ({"level": {"4211": 1}}, ["{'4211': 1}", "list"]),
    ({"level": [["4211"]]}, ["['4211']", "four digits"]),
    ({"variants": ["imperium"]}, ["'imperium'", *VARIANTS]),
    ({"variants": ["diarchia", "dux"]}, ["'dux'", *VARIANTS]),
    ({"variants": "imperivm"}, ["'imperivm'", *VARIANTS]),
    ({"variants": None}, ["None", *VARIANTS]),
    ({"variants": [7]}, ["7", *VARIANTS]),
    ({"variants": [["imperivm"]]}, ["['imperivm']", *VARIANTS]),
    ({"modules": ["huns"]}, ["'huns'", *MODULES]),
    ({"modules": "pirates"}, ["'pirates'", *MODULES]),
    ({"modules": 3}, ["3", *MODULES]),
    ({"modules": ["pirates"], "level": "4311"}, ["'4311'", "pirates", "fewer than 3 fleets"]),
    ({"modules": ["pirates"], "level": ["4211", "4311"]}, ["'4311'", "pirates", "fewer than 3 fleets"]),
    ({"scenario": "punic_war"}, ["'punic_war'", *SCENARIOS]),
    ({"scenario": ""}, ["''", *SCENARIOS]),
    ({"scenario": 1}, ["1", *SCENARIOS]),
    ({"scenario": ["danube_wars"]}, ["['danube_wars']", *SCENARIOS]),
    ({"scenario": "danube_wars", "level": "4122"}, ["'danube_wars'", "level"]),
    ({"scenario": "danube_wars", "level": ["4122"]}, ["'danube_wars'", "level"]),
    ({"scenario": "danube_wars", "modules": ["goths"]}, ["'danube_wars'", "modules"]),
    *[({"revolts": value}, ["revolts", repr(value), "0 to 6"]) for value in (-1, 7, "6", True, None, 2.0, [])],
    ({"revolts": {3}}, ["revolts", "{3}"]),
    ({"revolts": [0, 7]}, ["revolts[1]", "7", "0 to 6"]),
    *[({"secured": value}, ["secured", repr(value), "0 to 5"]) for value in (-1, 6, "0", False, None)],
    ({"secured": [4], "level": ["4200", "4203"]}, ["4", "'4203'", "at most 6"]),
    ({"secured": 1, "scenario": "danube_wars"}, ["'danube_wars'", "secured"]),
    ({"revolts": [6], "scenario": "danube_wars"}, ["'danube_wars'", "revolts"]),
    ({"task": "first-border"}, ["'first-border'", "last-border", "hard"]),
    *[({"task": "last-two", **other}, ["'last-two'", "omit"]) for other in ({"level": "4200"}, {"secured": 4}, {"revolts": 0})],
    ({"task": "last-two", "scenario": "danube_wars"}, ["'last-two'", "scenario"]),
    *[({"fixed_setup": value}, ["fixed_setup", repr(value), "True or False"]) for value in (1, 0, "yes", None)],
    *[({"max_turns": value}, ["max_turns", repr(value), "from 1"]) for value in (0, -1, True, False, 400.0, "400", None, 2**31)],
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[str(arguments) for arguments, _ in WRONG])
def test_invalid_option_error_names_the_value_and_the_choices(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(TetrarchiaError, match=r".") as error:
        Options(**arguments)
    assert [word for word in words if word not in str(error.value)] == []
    assert "\n" not in str(error.value)


def test_unknown_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="players"):
        Options(players=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, 1.0, True, "7", None, [3, -1], [3, 2**64], [3, False], np.float64(3), np.True_])
def test_invalid_seed_error_names_the_value_and_the_range(seed: Any) -> None:
    wrong = seed[-1] if isinstance(seed, list) else seed
    games, _ = new_games(Options(), 1)
    for use in (lambda: new_games(Options(), seed), lambda: reseed(games, seed)):
        with pytest.raises(TetrarchiaError, match="seed") as error:
            use()
        assert repr(wrong) in str(error.value)
        assert "0 to 2**64 - 1" in str(error.value)


@pytest.mark.parametrize("seed", [0, 2**64 - 1, np.uint64(2**64 - 1), np.int8(5)])
def test_unsigned_64_bit_integers_are_seeds(seed: Any) -> None:
    games, _ = new_games(Options(), seed)
    again, _ = new_games(Options(), [int(seed)])
    assert games.tobytes() == again.tobytes()


def test_defaults() -> None:
    expected = {"level": "4211", "modules": [], "variants": [], "fixed_setup": False, "max_turns": 400}
    assert Options().arguments() == expected
    assert Options() == Options(level="4211", variants=(), modules=(), scenario=None, fixed_setup=False, max_turns=400)


def test_order_and_repetition_of_names_do_not_matter() -> None:
    one = Options(variants=["the_great", "imperivm", "the_great"], modules=("goths", "dux"))
    other = Options(variants={"imperivm": 1, "the_great": 2}, modules=iter(["dux", "goths"]))
    assert one == other
    assert hash(one) == hash(other)
    assert new_games(one, 5)[0].tobytes() == new_games(other, 5)[0].tobytes()


def test_options_with_different_rules_are_not_equal() -> None:
    changes: list[dict[str, Any]] = [{}, {"level": "4210"}, {"level": ["4211"]}, {"variants": VARIANTS[:1]}, {"modules": MODULES}]
    changes += [{"fixed_setup": True}, {"max_turns": 1}, {"revolts": 5}, {"secured": 1}, {"scenario": SCENARIOS[0]}]
    options = [Options(**change) for change in changes]
    assert all(one != other for one, other in combinations(options, 2))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"level": "5300", "variants": VARIANTS, "modules": ["dux", "goths"], "fixed_setup": True, "max_turns": 3},
        {"level": ["4211"], "modules": MODULES},
        {"level": ["2013", "4211", "4211"]},
        *[{"scenario": name, "variants": ["diarchia"]} for name in SCENARIOS],
    ],
)
def test_arguments_round_trip_through_json(arguments: dict[str, Any]) -> None:
    options = Options(**arguments)
    again = Options(**json.loads(json.dumps(options.arguments())))
    assert again == options
    assert new_games(again, range(5))[0].tobytes() == new_games(options, range(5))[0].tobytes()
