"""`--ray`, whose value may be left out; without it nothing of Ray is loaded."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tetrarchia_app.cli.app import app
from tetrarchia_eval.ray_cluster import LOCAL, address_of

WITHOUT_RAY = """
import sys
sys.modules["ray"] = None  # as if it were not installed
from tetrarchia_app.cli import main
main(sys.argv[1:])
"""


def option(*words: str) -> Any:
    command = typer.main.get_command(app).commands["eval"]  # type: ignore[attr-defined]
    return command.make_context("eval", list(words)).params["ray"]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ((), None),
        (("--ray",), ""),
        (("--ray", "--games", "3"), ""),
        (("--ray", "10.0.0.1:6379", "--games", "3"), "10.0.0.1:6379"),
        (("--games", "3", "--ray=auto"), "auto"),
    ],
)
def test_its_value_may_be_left_out(words: tuple[str, ...], value: str | None) -> None:
    assert option(*words) == value


def test_without_an_address_the_environment_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert address_of("") == "10.0.0.1:6379"
    assert address_of("auto") == "auto"
    monkeypatch.delenv("RAY_ADDRESS")
    assert address_of("") == LOCAL


def typed(folder: Path, script: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", script, "eval", "--agents", "random", "--games", "2", "--workers", "1", *words]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True)


def test_where_it_is_not_installed_one_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    failed = typed(tmp_path, WITHOUT_RAY, "--ray")

    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == 'tetrarchia: this needs Ray: pip install "tetrarchia[ray]"\n'


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_nothing_of_it_is_loaded_without_the_option(tmp_path: Path) -> None:
    script = "import sys\nfrom tetrarchia_app.cli.app import run\ncode = run(sys.argv[1:])\nsys.exit(code or 'ray' in sys.modules)"

    assert typed(tmp_path, script).returncode == 0
