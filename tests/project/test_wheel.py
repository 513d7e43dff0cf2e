"""The wheel next to a user's modules with common names (`train`, `eval`, `agents`): neither shadows the other."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"tetrarchia_env", "tetrarchia_agents", "tetrarchia_train", "tetrarchia_eval", "tetrarchia_app"}
FOREIGN = {
    "train.py": "NAME = 'a researcher\\'s own train'\n",
    "eval.py": "NAME = 'a researcher\\'s own eval'\n",
    "agents/__init__.py": "NAME = 'a researcher\\'s own agents'\n",
    "agents/planner.py": "raise RuntimeError('must not be imported')\n",
}
SCRIPT = """
import agents, eval, train
import tetrarchia_env, tetrarchia_agents, tetrarchia_eval, tetrarchia_train
from tetrarchia_agents import rollout
from tetrarchia_env import Game
for module in (agents, eval, train):
    assert module.NAME.startswith("a researcher's own"), module
for module in (tetrarchia_env, tetrarchia_agents, tetrarchia_eval, tetrarchia_train):
    assert "installed" in module.__file__, module.__file__
assert len(rollout("planner", 2, level="4200")) == 2
Game(seed=1).play("fleet INTERNVM")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def workshop(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with modules of common names and the installed wheel."""
    folder = tmp_path_factory.mktemp("workshop")
    for name, text in FOREIGN.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder / "installed"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "installed")])}
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.thorough
def test_wheel_contains_only_the_tetrarchia_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        tops = {name.split("/")[0] for name in files.namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == PACKAGES


@pytest.mark.thorough
def test_packages_work_next_to_modules_with_common_names(workshop: Path) -> None:
    done = run(workshop, "-c", SCRIPT)
    assert done.returncode == 0, done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        ("eval", "--agents", "greedy", "--level", "4200", "--games", "4", "--workers", "2", "--out", "games.jsonl"),
        ("watch", "--agents", "planner", "--level", "4200", "--seed", "1", "--save", "game.json"),
        ("train", "--help"),
        ("levels", "4211"),
    ],
    ids=lambda words: words[0],
)
def test_commands_work_next_to_modules_with_common_names(workshop: Path, words: tuple[str, ...]) -> None:
    done = run(workshop, "-m", "tetrarchia_app", *words)
    assert done.returncode == 0, done.stderr
