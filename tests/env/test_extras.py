"""Hints for missing optional packages."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tetrarchia_env import extras
from tetrarchia_env.errors import TetrarchiaError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: lines for name, lines in PROJECT["optional-dependencies"].items() if name != "all"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_install_command_lists_the_requirements_of_pyproject(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda _: False)

    command = extras.install_command(extra)

    assert command.startswith("pip install ")
    given = [Requirement(text) for text in command.split('"')[1::2]]
    wanted = [Requirement(line) for line in EXTRAS[extra]]
    assert {(one.name, frozenset(one.specifier)) for one in given} == {(one.name, frozenset(one.specifier)) for one in wanted}


def test_install_command_lists_only_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "is_installed", lambda name: name != "starlette")

    assert extras.install_command("web").count('"') == 2
    assert "starlette" in extras.install_command("web")


def test_no_hint_installs_the_package_by_name() -> None:
    """The package is not on PyPI, so `pip install tetrarchia[plots]` would fail."""
    folders = ("tetrarchia_env", "agents", "train", "eval", "app", "examples", "docs", "benchmarks", "checkpoints")
    files = [path for folder in folders for ending in ("py", "md", "ipynb") for path in (ROOT / folder).rglob(f"*.{ending}")]
    by_name = re.compile(r"pip install\b.*\btetrarchia\[")

    assert [str(path) for path in [*files, *ROOT.glob("*.md")] if by_name.search(path.read_text(encoding="utf-8"))] == []


def test_install_commands_name_extras_and_packages_of_pyproject() -> None:
    """Every `pip install` of the pages, the notebook and the messages."""
    packages = {Requirement(line).name for lines in EXTRAS.values() for line in lines}
    files = [ROOT / "Makefile", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.ipynb")]
    files += [path for folder in ("tetrarchia_env", "agents", "train", "eval", "app") for path in (ROOT / folder).rglob("*.py")]
    checked, unknown = 0, []
    for path in files:
        text = path.read_text(encoding="utf-8")
        for named in re.findall(r"pip install\b[^\n`]*?\.\[([\w,]+)\]", text):
            checked += 1
            unknown += [f"{path.name}: .[{extra}]" for extra in named.split(",") if extra not in EXTRAS]
        for package in re.findall(r"(?<!-m )pip install ([a-z][\w-]+)", text):
            checked += 1
            unknown += [f"{path.name}: {package}"] if package not in packages else []

    assert unknown == []
    assert checked > 10


def test_missing_module_is_a_user_error_with_the_command() -> None:
    with pytest.raises(TetrarchiaError, match=r"a plot needs the package no_such_module: pip install"):
        extras.import_optional("no_such_module.inner", "plots", "a plot")


def test_missing_module_of_this_project_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError):
        extras.import_optional("tetrarchia_env.no_such_module", "plots", "this")
