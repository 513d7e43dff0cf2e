"""`tetrarchia doctor` and error messages about missing packages."""

import io
import os
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rich.console import Console

from tetrarchia_agents import cards
from tetrarchia_app.cli import doctor
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import is_installed

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Runs the command line as if the listed packages were not installed.
WITHOUT = """
import importlib.util, sys
hidden, find = set(sys.argv.pop(1).split(",")), importlib.util.find_spec
class Refuse:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Refuse)
importlib.util.find_spec = lambda name, *rest: None if name.partition(".")[0] in hidden else find(name, *rest)
from tetrarchia_app.cli import main
main()
"""


def run(*arguments: str, hidden: str = "-") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, hidden, *arguments]
    return subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)


def test_required_packages_match_pyproject() -> None:
    assert set(doctor.REQUIRED) == {Requirement(line).name for line in PROJECT["dependencies"]}


@pytest.mark.parametrize("extra", ["render", *doctor.EXTRAS])
def test_packages_of_the_extras_can_be_imported(extra: str) -> None:
    for line in PROJECT["optional-dependencies"][extra]:
        package = Requirement(line).name
        module = doctor.MODULE_NAMES.get(package, package.replace("-", "_"))
        assert find_spec(module) is not None or not is_installed(package)


def report_to(encoding: str = "utf-8") -> tuple[doctor.Report, io.TextIOWrapper]:
    written = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    report = doctor.Report()
    report.console = Console(file=written, soft_wrap=True)
    return report, written


def test_check_is_reported_as_ok_missing_or_broken() -> None:
    def fail() -> str:
        raise OSError("no\nsuch library")

    report, written = report_to()
    report.check("first", lambda: "1.0")
    report.check("second", fail, ("no_such_module",))
    report.check("third", fail)

    written.seek(0)
    assert [line.split() for line in written] == [
        ["✓", "first", "1.0"],
        ["-", "second", "not", "installed"],
        ["✗", "third", "OSError:", "no", "such", "library"],
    ]
    assert report.counts == {"ok": 1, "missing": 1, "broken": 1}


def test_symbols_are_ascii_in_an_ascii_terminal() -> None:
    report, written = report_to("ascii")
    report.add("broken", "thing", "it fails")

    written.seek(0)
    assert written.read().split() == ["!!", "thing", "it", "fails"]


def test_checkpoint_with_another_observation_layout_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / cards.CARD).write_text('{"format": 1, "layout": "other", "environment": "0.0.1"}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(TetrarchiaError, match=r"another observation layout \(environment 0.0.1\)"):
        doctor.check_checkpoint("./old")


@pytest.mark.slow
def test_doctor_succeeds_when_everything_is_installed() -> None:
    shown = run("doctor")

    assert shown.returncode == 0, shown.stdout
    assert "one game" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.slow
def test_doctor_prints_how_to_install_missing_extras() -> None:
    extras = ("render", *doctor.EXTRAS)
    packages = [Requirement(line).name for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    hidden = ",".join(doctor.MODULE_NAMES.get(package, package.replace("-", "_")) for package in packages)

    shown = run("doctor", hidden=hidden)

    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert shown.stdout.count("to install: pip install") == len(extras)
    assert "fits the observation" in shown.stdout


def test_video_without_its_library_is_refused_before_the_game() -> None:
    failed = run("watch", "--video", "game.mp4", hidden="av")

    assert (failed.returncode, failed.stdout) == (2, "")
    assert len(failed.stderr.splitlines()) == 1
    assert "av" in failed.stderr
    assert "pip install" in failed.stderr


@pytest.mark.parametrize("arguments", [["watch", "--agents", "ppo"], ["train", "--name", "mine"]])
def test_missing_torch_gives_a_one_line_error_with_an_install_hint(arguments: list[str]) -> None:
    failed = run(*arguments, hidden="torch")

    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1
    assert "torch" in failed.stderr
    assert "pip install" in failed.stderr
