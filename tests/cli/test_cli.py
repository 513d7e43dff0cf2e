"""The `tetrarchia` command as a process: output, exit codes, missing extras."""

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


def test_watch_accepts_level_variants_and_modules() -> None:
    shown = run("watch", "--level", "5012", "--variants", "imperivm,the_great", "--modules", "dux,goths", "--seed", "4")
    assert shown.returncode == 0


def test_saved_game_can_be_replayed_and_exported(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    watched = run("watch", "--scenario", "danube_wars", "--seed", "3", "--save", str(file))
    again = run("replay", str(file))
    assert again.returncode == 0
    assert watched.stdout == again.stdout + f"saved: {file}\n"

    page = tmp_path / "page.html"
    assert run("replay", str(file), "--html", str(page)).returncode == 0
    assert "<title>game: danube_wars, seed 3" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [["serve", "--no-open"], ["watch", "--render", "browser"]])
@pytest.mark.parametrize("missing", ["uvicorn", "starlette"])
def test_missing_web_extra_gives_a_one_line_error(command: list[str], missing: str) -> None:
    words = f"import sys; sys.modules[{missing!r}] = None; from tetrarchia_app.cli import main; main({command!r})"
    failed = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=False)

    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1
    assert missing in failed.stderr
    assert "pip install" in failed.stderr


def test_bad_board_file_gives_a_one_line_error(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text("zones = 3\n", encoding="utf-8")
    failed = run("watch", TETRARCHIA_BOARD=str(board))
    assert failed.returncode == 2
    assert failed.stderr.startswith(f"tetrarchia: board file {board}")
    assert len(failed.stderr.splitlines()) == 1
