"""Tests of result files: round trip, and refusal of damaged files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options
from tetrarchia_env.schema import validate
from tetrarchia_eval.match import Match, MatchSpec, game_line, spec_line
from tetrarchia_eval.result_files import ResultFile, load_match

SPEC = MatchSpec(
    format=1,
    environment="tetrarchia_v0",
    arguments={"modules": [], "variants": [], "fixed_setup": False, "max_turns": 400},
    levels=("4200", "4211"),
    agents=("random",) * 4,
    fingerprints={"random": "0123456789ab"},
    games=2,
    first_seed=7,
    seed=0,
    versions={"tetrarchia": "0.1.0"},
    machine={"cores": 2},
)
OUTCOMES = ("won", "rome fell", "reserve empty", "truncated")
MATCH = Match(
    SPEC,
    tuple(
        GameResult(*SPEC.job(i), outcome, 3 - i, 30 + i, 6, (20, 30, 40, 10), (0.25, 1e-06, 12.3, 0.0))
        for i, outcome in enumerate(OUTCOMES)
    ),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a valid result file."""
    path = tmp_path / "match.jsonl"
    path.write_text(spec_line(SPEC) + "".join(map(game_line, MATCH.games)))
    return path


def refusal(path: Path) -> str:
    """Return the error message of loading this file."""
    with pytest.raises(TetrarchiaError, match=r".") as error:
        load_match(path)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(f"results {path}: ")
    return str(error.value)


def change(path: Path, line: int, alter: Callable[[dict[str, Any]], object]) -> None:
    """Change one line, counted from 1."""
    lines = path.read_text().splitlines(keepends=True)
    content = json.loads(lines[line - 1])
    alter(content)
    lines[line - 1] = json.dumps(content) + "\n"
    path.write_text("".join(lines))


def test_a_match_is_read_back_as_written(file: Path) -> None:
    assert load_match(file) == MATCH


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("borders", 99, "borders must be from 0 to 6; got 99"),
        ("borders", -1, "borders must be from 0 to 6; got -1"),
        ("borders", 0, "borders must be 6"),
        ("turns", -5, "turns must be from 0"),
        ("turns", 401, "turns must be at most 400; got 401"),
        ("score", 11, "score must be from -18 to 10; got 11"),
        ("score", 10**400, "score"),
        ("decisions", [-1, 0, 0, 0], "decisions"),
        ("seconds", [-0.1, 0, 0, 0], "seconds"),
        ("seconds", [1e300, 0, 0, 0], "seconds"),
        ("seconds", [float("nan"), 0, 0, 0], "seconds"),
        ("seconds", [float("inf"), 0, 0, 0], "seconds"),
    ],
)
def test_impossible_game_is_refused(file: Path, name: str, value: Any, words: str) -> None:
    change(file, 2, lambda game: game.update({name: value}))
    message = refusal(file)
    assert "line 2 is damaged" in message
    assert words in message
    assert len(message) < 1000


def test_numbers_that_overflow_a_float_are_refused(file: Path) -> None:
    file.write_text(file.read_text().replace("0.25", "1e999"))
    assert "line 2 is damaged" in refusal(file)


@pytest.mark.parametrize("line", [1, 2])
def test_deep_nesting_is_refused(file: Path, line: int) -> None:
    lines = file.read_text().splitlines()
    lines[line - 1] = lines[line - 1][:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    file.write_text("\n".join(lines) + "\n")
    assert f"line {line} is damaged" in refusal(file)


@pytest.mark.parametrize("letters", [1, 100])
def test_an_incomplete_first_line_is_reported(file: Path, letters: int) -> None:
    file.write_text(file.read_text()[:letters])
    assert refusal(file).endswith("its first line, which describes the match, is cut off: delete the file to start again")
    file.write_text("")
    assert refusal(file).endswith("it is empty")


def test_disk_errors_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ResultFile.open(SPEC, tmp_path / "new.jsonl")
    with file.appending():

        class Full:
            def write(self, _: str) -> None:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(file, "_open", Full(), raising=False)
        with pytest.raises(OSError, match=r"No space left on device: '.*new\.jsonl'"):
            file.append(MATCH.games)


def test_only_the_outcome_won_is_a_win() -> None:
    assert [game.won for game in MATCH.games] == [True, False, False, False]


def test_all_levels_use_the_same_seeds() -> None:
    assert [SPEC.job(index) for index in range(4)] == [("4200", 7), ("4200", 8), ("4211", 7), ("4211", 8)]
    assert SPEC.options("4211") == Options(level="4211")


def test_a_scenario_has_its_own_level() -> None:
    scenario = Options(scenario="danube_wars")
    spec = replace(SPEC, arguments=scenario.arguments(), levels=scenario.level_names)
    assert spec.options(*spec.levels) == scenario
    with pytest.raises(TetrarchiaError, match=r"level must be that of danube_wars; got '5300'"):
        replace(spec, levels=("5300",))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"games": 0}, "games must be an integer of at least 1; got 0"),
        ({"games": True}, "games must be an integer of at least 1; got True"),
        ({"levels": ()}, "levels must be a list of levels"),
        ({"levels": ("4200", "4200")}, "levels must be different"),
        ({"levels": ("9200",)}, "tokens per Emperor must be 2 to 5"),
        ({"agents": ("random",)}, "agents must be a list of agents, one for each of diocletian"),
        ({"fingerprints": {}}, "fingerprints must have one entry for each of random"),
        ({"fingerprints": {"random": 7}}, "fingerprints must be a table with a text for each agent; got"),
        ({"first_seed": -1}, "first_seed must be an integer from 0"),
        ({"first_seed": 2**64 - 1}, "an integer from 0"),
        ({"seed": 0.5}, "seed must be an integer from 0"),
        ({"arguments": {"colour": 1}}, "unknown argument 'colour'"),
    ],
)
def test_an_invalid_match_spec_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(TetrarchiaError, match=message):
        validate({**asdict(SPEC), **wrong}, MatchSpec, "")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "none.jsonl")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "it cannot be read (" in refusal(tmp_path)


@pytest.mark.parametrize("key", ["format", "environment"])
def test_another_format_or_environment_is_refused(file: Path, key: str) -> None:
    change(file, 1, lambda content: content.update({key: "tetrarchia_v9"}))
    assert "'tetrarchia_v9'" in refusal(file)
    assert "must be 1 and 'tetrarchia_v0'" in refusal(file)


@pytest.mark.parametrize(
    ("line", "alter", "message"),
    [
        (1, lambda content: content.pop("agents"), "line 1 is damaged: 'agents' is missing"),
        (
            1,
            lambda content: content.update(levels="4200"),
            "line 1 is damaged: levels must be a list of levels of four digits; got '4200'",
        ),
        (1, lambda content: content.update(fingerprints=[]), "line 1 is damaged: fingerprints must be a table"),
        (1, lambda content: content.update(games="2"), "line 1 is damaged: games must be an integer"),
        (
            1,
            lambda content: content.update(levels=[None]),
            "line 1 is damaged: levels",
        ),
        (1, lambda content: content.update(levels=[[]]), "line 1 is damaged: "),
        (3, lambda content: content.pop("score"), "line 3 is damaged: 'score' is missing"),
        (3, lambda content: content.update(seed=7), "line 3 is damaged: it is not game 1 of the match"),
        (3, lambda content: content.update(outcome="running"), "line 3 is damaged: outcome must be one of won"),
        (3, lambda content: content.update(outcome=[]), "line 3 is damaged: outcome"),
        (4, lambda content: content.update(turns="9"), "line 4 is damaged: turns must be an integer"),
        (5, lambda content: content.update(decisions=[1, 2, 3]), "line 5 is damaged: decisions"),
    ],
)
def test_the_error_names_the_damaged_line(file: Path, line: int, alter: Callable[[dict[str, Any]], object], message: str) -> None:
    change(file, line, alter)
    assert message in refusal(file)


@pytest.mark.parametrize("damage", [b"\n", b"{]\n", b"\xff\xfe\n", b"[1]\n", b"[" * 100_000 + b"\n"])
def test_a_line_that_is_not_an_object_is_refused(file: Path, damage: bytes) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], damage, *lines[3:]]))
    assert "line 3 is damaged" in refusal(file)


def test_more_games_than_in_the_spec_are_refused(file: Path) -> None:
    file.write_text(file.read_text() + game_line(MATCH.games[-1]))
    assert "line 6 is damaged: it is not game 4 of the match" in refusal(file)


@pytest.mark.parametrize("cut", [1, 100])
def test_an_unfinished_match_is_loaded_only_with_unfinished_ok(file: Path, cut: int) -> None:
    file.write_bytes(file.read_bytes()[:-cut])  # cut within the last line
    assert "unfinished, with 3 of 4 games" in refusal(file)
    assert load_match(file, unfinished_ok=True) == Match(SPEC, MATCH.games[:3])
