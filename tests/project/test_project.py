"""The repository: imports of the engine, packages of the wheel, pinned versions, links in the main pages."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_engine_imports_only_numpy_numba_board_variants_and_itself() -> None:
    allowed = re.compile(rf"({'|'.join(sys.stdlib_module_names)}|numpy|numba|llvmlite|tetrarchia_env\.(engine|board|variants))(\.|$)")
    for source in (ROOT / "tetrarchia_env" / "engine").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
        names = {f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        names |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        assert [name for name in names if not allowed.match(name)] == [], source.name


def test_engine_imports_no_reinforcement_learning_library() -> None:
    script = "import sys, tetrarchia_env.engine.turn; print({'pettingzoo', 'stable_baselines3', 'torch'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_wheel_lists_every_package() -> None:
    packages = {str(path.parent.relative_to(ROOT)) for pattern in ("*/__init__.py", "*/*/__init__.py") for path in ROOT.glob(pattern)}
    packages = {package for package in packages if not package.startswith(("tests", "tetrarchia_env/"))}
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == packages


def test_constraints_pin_all_requirements() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {canonicalize_name(line.partition("==")[0]) for line in lines if "==" in line}
    asked = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["dev"]
    assert {canonicalize_name(Requirement(line).name) for line in asked} <= pinned


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_pages_link_to_files_that_exist(page: str) -> None:
    links = re.findall(r"\]\(([^):#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not (ROOT / link).exists()] == []
