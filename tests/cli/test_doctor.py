"""`tetrarchia doctor`: fine, missing and broken things, and what it says to do."""

import io
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from rich.console import Console

from tetrarchia_agents import cards
from tetrarchia_app.cli import doctor
from tetrarchia_app.cli.doctor import Finding, Health, show, show_remedies, tried
from tetrarchia_app.cli.machine_code import told_of_cache

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# A package that is not installed: nothing may find or import it.
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


@pytest.mark.parametrize("extra", ["", "train", "render", "plots", "ray", "web"])
def test_the_packages_looked_at_are_those_of_the_project(extra: str) -> None:
    asked = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]

    assert set(doctor.PACKAGES[extra]) == {Requirement(line).name for line in asked}


def test_a_thing_is_fine_missing_or_broken() -> None:
    def breaks() -> str:
        raise OSError("no\nsuch library")

    assert tried("thing", lambda: "1.0") == Finding(Health.FINE, "thing", "1.0")
    assert tried("thing", breaks, ["no_such_module"], "get it").health is Health.MISSING
    assert tried("thing", breaks) == Finding(Health.BROKEN, "thing", "OSError: no such library")


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "✗"), ("ascii", "!!")])
def test_signs_are_plain_where_the_terminal_is(encoding: str, sign: str) -> None:
    written = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    finding, console = Finding(Health.BROKEN, "thing", "it fails", "pip"), Console(file=written, soft_wrap=True)

    show(finding, console)
    show_remedies([finding, finding], console)

    written.seek(0)
    assert [line.split() for line in written] == [[sign, "thing", "it", "fails"], ["to", "get", "it:", "pip"]]


def test_a_checkpoint_of_another_layout_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / cards.CARD).write_text('{"format": 1, "layout": "other", "environment": "0.0.1"}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    [finding] = [tried(name, lambda name=name: doctor._fitting(name)) for name in cards.shipped_checkpoints(tmp_path)]

    assert finding.health is Health.BROKEN
    assert "made for another observation layout (environment 0.0.1)" in finding.told


def test_the_compilers_cache_is_told() -> None:
    from tetrarchia_env import batch

    assert "compile" in told_of_cache(batch)


@pytest.mark.slow
def test_all_that_is_installed_works() -> None:
    shown = run("doctor")

    assert shown.returncode == 0, shown.stdout
    assert "one game" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.slow
def test_without_the_extras_it_says_how_to_get_them() -> None:
    hidden = ",".join(module for extra in ("train", "render", "plots", "ray", "web") for module in doctor.PACKAGES[extra].values())

    shown = run("doctor", hidden=hidden)

    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert all(f'pip install "tetrarchia[{extra}]"' in shown.stdout for extra in ("train", "render", "plots", "ray", "web"))
    assert "fits the observation" in shown.stdout or "no checkpoint" in shown.stdout


def test_a_film_without_its_library_is_refused_before_the_game() -> None:
    failed = run("watch", "--film", "game.mp4", hidden="av")

    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == 'tetrarchia: this needs av: pip install "tetrarchia[render]"\n'


@pytest.mark.parametrize("arguments", [["watch", "--agents", "ppo"], ["train", "--name", "mine"]])
def test_without_torch_one_sentence_says_how_to_get_it(arguments: list[str]) -> None:
    failed = run(*arguments, hidden="torch")

    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1
    assert "torch" in failed.stderr
    assert "pip install" in failed.stderr


def test_a_cache_that_cannot_be_kept_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from tetrarchia_env import batch

    store = batch._step._cache.store
    monkeypatch.setattr(store, "readable", list)
    monkeypatch.setattr(store, "lost", lambda: "others may write into /shared")

    assert "others may write into /shared; set NUMBA_CACHE_DIR" in told_of_cache(batch)
