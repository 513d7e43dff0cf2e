"""The option `--ray`: optional value, default address, and no import of Ray without the option."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tetrarchia_app.cli.app import app
from tetrarchia_eval.ray_workers import LOCAL, cluster_address

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
def test_value_of_the_ray_option_is_optional(words: tuple[str, ...], value: str | None) -> None:
    assert option(*words) == value


def test_default_address_is_read_from_ray_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    assert cluster_address("") == "10.0.0.1:6379"
    assert cluster_address("auto") == "auto"
    monkeypatch.delenv("RAY_ADDRESS")
    assert cluster_address("") == LOCAL


def typed(folder: Path, script: str, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", script, "eval", "--agents", "random", "--games", "2", "--workers", "1", *words]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True)


def test_missing_ray_gives_an_install_hint(tmp_path: Path) -> None:
    failed = typed(tmp_path, WITHOUT_RAY, "--ray")

    assert (failed.returncode, failed.stdout) == (2, "")
    assert "pip install" in failed.stderr


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_ray_is_not_imported_without_the_option(tmp_path: Path) -> None:
    script = "import sys\nfrom tetrarchia_app.cli.app import run\ncode = run(sys.argv[1:])\nsys.exit(code or 'ray' in sys.modules)"

    assert typed(tmp_path, script).returncode == 0
