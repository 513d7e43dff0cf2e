"""The `tetrarchia` command: what a person types and sees."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tetrarchia_app", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_watch_plays_a_game_and_prints_the_outcome() -> None:
    shown = run("watch", "--agents", "random", "--seed", "1")
    assert shown.returncode == 0
    assert shown.stderr == ""
    assert "of 6 borders secured, score" in shown.stdout.splitlines()[-1]
    assert run("watch", "--agents", "random", "--seed", "1").stdout == shown.stdout


def test_watch_takes_any_configuration() -> None:
    shown = run("watch", "--level", "5012", "--variants", "imperivm,the_great", "--modules", "dux,goths", "--seed", "4")
    assert shown.returncode == 0


def test_saved_game_is_shown_again(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    watched = run("watch", "--scenario", "danube_wars", "--seed", "3", "--save", str(file))
    again = run("replay", str(file))
    assert again.returncode == 0
    assert watched.stdout == again.stdout + f"saved: {file}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["watch", "--level", "4261"], "extra Revolts must be 0 to 3, not '6'"),
        (["watch", "--variants", "pax"], "unknown variant 'pax'"),
        (["watch", "--modules", "pirates", "--level", "4311"], "fewer than 3 fleets"),
        (["watch", "--scenario", "actium"], "unknown scenario 'actium'"),
        (["watch", "--scenario", "danube_wars", "--level", "4211"], "sets the level"),
        (["watch", "--agents", "nero"], "unknown agent 'nero'"),
        (["watch", "--agents", ",".join(["random"] * 5)], "must be one to four names"),
        (["watch", "--seed", "-1"], "a seed is a whole number"),
        (["watch", "--save", "no/such/folder/game.json"], "there is no folder"),
        (["replay", "no-such-file.json"], "it cannot be read"),
        (["replay", "no-such-file.json", "--analyse", "ppo"], "--analyse ppo needs --html"),
        (["replay", "no-such-file.json", "--agents", "ppo"], "--agents ppo needs --render browser"),
        (["frobnicate"], "No such command"),
    ],
)
def test_mistake_is_one_sentence_and_exit_code_2(arguments: list[str], sentence: str) -> None:
    failed = run(*arguments)
    assert failed.returncode == 2
    assert sentence in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("command", [["serve", "--no-open"], ["watch", "--render", "browser"]])
@pytest.mark.parametrize("missing", ["uvicorn", "starlette"])
def test_the_browser_without_its_extra_is_one_sentence(command: list[str], missing: str) -> None:
    words = f"import sys; sys.modules[{missing!r}] = None; from tetrarchia_app.cli import main; main({command!r})"
    failed = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)

    assert failed.returncode == 2
    assert failed.stderr.startswith(f"tetrarchia: serve needs the package {missing}: pip install ")
    assert failed.stderr.count("\n") == 1


def test_bad_board_is_one_sentence_too(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text("zones = 3\n", encoding="utf-8")
    failed = run("watch", TETRARCHIA_BOARD=str(board))
    assert failed.returncode == 2
    assert failed.stderr.startswith(f"tetrarchia: board file {board}")
    assert len(failed.stderr.splitlines()) == 1
