"""Errors of the command line: one line and exit code 2 for user errors, a traceback for bugs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tetrarchia_app.cli import main
from tetrarchia_app.cli.app import run

USER_ERRORS = {  # arguments, and text that the message contains
    "unknown command": (["fly"], "fly"),
    "unknown option": (["watch", "--wings", "2"], "--wings"),
    "missing argument": (["replay"], "argument"),
    "wrong type": (["watch", "--seed", "many"], "--seed"),
    "negative seed": (["watch", "--seed", "-1"], "-1"),
    "level": (["watch", "--level", "4261"], "'6'"),
    "variant": (["watch", "--variants", "pax"], "'pax'"),
    "module for fewer fleets": (["watch", "--modules", "pirates", "--level", "4311"], "fewer than 3 fleets"),
    "scenario": (["watch", "--scenario", "actium"], "'actium'"),
    "level of a scenario": (["watch", "--scenario", "danube_wars", "--level", "4211"], "level"),
    "unknown agent": (["watch", "--agents", "nero"], "'nero'"),
    "five agents": (["watch", "--agents", "random,random,random,random,random"], "one to four"),
    "renderer": (["watch", "--render", "oil"], "oil"),
    "speed": (["watch", "--speed", "0"], "0.01 to 1000"),
    "unknown Emperor": (["play", "--emperors", "nero"], "'nero'"),
    "missing folder": (["watch", "--save", "no/such/folder/game.json"], "no/such/folder"),
    "missing folder of play": (["play", "--save", "no/such/folder/game.json"], "no/such/folder"),
    "missing file": (["replay", "no-such-file.json"], "no-such-file.json"),
    "analysis without a page": (["replay", "no-such-file.json", "--analyse", "ppo"], "--html"),
    "agents without the browser": (["replay", "no-such-file.json", "--agents", "ppo"], "--render browser"),
}


@pytest.mark.parametrize(("arguments", "named"), USER_ERRORS.values(), ids=USER_ERRORS)
def test_user_errors_are_one_line_with_exit_code_2(arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("tetrarchia: ")
    assert named in shown.err
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize("where", [0, None], ids=["first", "last"])
@pytest.mark.parametrize("name", ["unknown option", "missing argument", "unknown agent", "missing file"])
def test_debug_shows_the_traceback_of_user_errors(name: str, where: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, named = USER_ERRORS[name]
    words = list(arguments)
    words.insert(len(words) if where is None else where, "--debug")

    assert run(words) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert named in shown.splitlines()[-1]


def test_debug_can_be_set_in_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TETRARCHIA_DEBUG", "1")

    assert run(["watch", "--agents", "nero"]) == 2
    assert capsys.readouterr().err.startswith("Traceback")


def raise_in_levels(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(_level: str) -> str:
        raise error

    monkeypatch.setattr("tetrarchia_app.cli.levels.level_in_words", fail)


@pytest.mark.parametrize("error", [ValueError("of NumPy"), KeyError("key"), RuntimeError("broken"), OSError("no file named")], ids=repr)
def test_other_exceptions_are_not_caught(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    raise_in_levels(monkeypatch, error)

    with pytest.raises(type(error)):
        run(["levels", "4211"])


def test_os_error_with_a_file_name_is_a_user_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raise_in_levels(monkeypatch, PermissionError(13, "Permission denied", "secret.json"))

    assert run(["levels", "4211"]) == 2
    assert capsys.readouterr().err == "tetrarchia: secret.json: Permission denied\n"


def test_bug_prints_its_traceback_and_exits_with_code_1() -> None:
    code = """
from tetrarchia_app.cli import levels, main
levels.level_in_words = lambda level: 1 / 0
main(["levels", "4211"])
"""
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert failed.returncode == 1
    assert failed.stderr.startswith("Traceback")
    assert failed.stderr.splitlines()[-1].startswith("ZeroDivisionError")


def test_main_exits_with_the_exit_code_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["levels", "no level"])
    assert leaving.value.code == 2
    assert capsys.readouterr().out == ""


NEW_COMMAND = """
PANEL = "Play and watch"
EXAMPLES = ("tetrarchia hello",)

def hello() -> None:
    print("hello")
"""


def test_new_command_needs_only_one_file(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(NEW_COMMAND, encoding="utf-8")
    code = f"from tetrarchia_app import cli; cli.__path__.append({str(tmp_path)!r}); cli.main(['hello'])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout == "hello\n"
