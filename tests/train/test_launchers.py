"""Training by torch's usual launchers: the same run as with `--processes`, killed, stopped and started again too."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from tetrarchia_app.cli.app import run as tetrarchia
from tetrarchia_train.launcher import VARIABLES, Place, launched, with_processes

ONE_PROCESS = [sys.executable, "-m", "tetrarchia_train"]
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
RUN = ["--name", "x", "--preset", "tiny", "--total-timesteps", "4096", "--save-freq", "256", "--eval-freq", "1024"]


def set_variables(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def test_the_place_that_a_launcher_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    set_variables(monkeypatch)
    assert launched() is None
    assert with_processes({"seed": "3"}) == {"seed": "3"}

    set_variables(monkeypatch, RANK="1", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")
    assert launched() == Place(rank=1, world_size=2)
    assert with_processes({"seed": "3"}) == {"seed": "3", "processes": "2"}
    assert with_processes({"processes": "2"}) == {"processes": "2"}


@pytest.mark.parametrize(
    ("variables", "words", "sentence"),
    [
        ({"WORLD_SIZE": "2"}, [], "the environment has WORLD_SIZE, but not RANK"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a"}, [], "the environment has RANK, but not MASTER_PORT"),
        ({"RANK": "2", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}, [], "RANK is less than WORLD_SIZE, 2, not 2"),
        ({"RANK": "-1", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}, [], "RANK in the environment is a whole number"),
        (
            {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"},
            ["--processes", "4"],
            "processes is 2, as many as the launcher has started, not 4",
        ),
        ({"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "a", "MASTER_PORT": "1"}, [], "num_envs one of rules x processes"),
    ],
)
def test_what_a_launcher_says_is_checked(
    variables: dict[str, str],
    words: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    set_variables(monkeypatch, **variables)

    code = tetrarchia(["train", "--name", "x", "--preset", "tiny", *words])

    told = capsys.readouterr().err
    assert (code, told.count("\n")) == (2, 1), told
    assert sentence in told
    assert not list(tmp_path.iterdir())


def result(folder: Path) -> object:
    """Weights and win rates of a run."""
    lines = [json.loads(line) for line in (folder / "runs/x/progress.jsonl").read_text(encoding="utf-8").splitlines()]
    measured = [(line["timesteps"], line["win_rates"], line["borders"]) for line in lines]
    return json.loads((folder / "runs/x/final/card.json").read_bytes())["weights"], measured


def begun(folder: Path, *command: str) -> "subprocess.Popen[str]":
    """A command in a session of its own, with its output in a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with open(folder / "output", "w", encoding="utf-8") as output:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output, text=True, start_new_session=True)


def run(folder: Path, *command: str) -> None:
    code = begun(folder, *command).wait(500)
    assert code == 0, (folder / "output").read_text(encoding="utf-8")


def until_kept(folder: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until there is something to go on from."""
    while process.poll() is None and not (folder / "runs/x/latest/card.json").exists():
        time.sleep(0.02)
    assert process.poll() is None, (folder / "output").read_text(encoding="utf-8")


def ranks(launcher: int) -> Iterator[int]:
    """The processes that a launcher has started."""
    for children in Path(f"/proc/{launcher}/task").glob("*/children"):
        yield from map(int, children.read_text().split())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> object:
    """What `--processes 2` leads to."""
    folder = tmp_path_factory.mktemp("undisturbed")
    run(folder, *ONE_PROCESS, *RUN, "--processes", "2")
    return result(folder)


@pytest.mark.thorough
def test_torchrun_is_the_same_run_as_processes(undisturbed: object, tmp_path: Path) -> None:
    run(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", *RUN)

    assert result(tmp_path) == undisturbed


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes of a launcher in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_killed_under_torchrun_it_resumes_to_the_same_end(undisturbed: object, tmp_path: Path, rank: int) -> None:
    launcher = begun(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", *RUN)
    until_kept(tmp_path, launcher)
    os.kill(sorted(ranks(launcher.pid))[rank], signal.SIGKILL)
    assert launcher.wait(200) != 0
    assert not (tmp_path / "runs/x/final").exists()

    run(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", "--name", "x", "--resume")

    assert result(tmp_path) == undisturbed


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the processes of a launcher in /proc")
@pytest.mark.parametrize("rank", [0, 1])
def test_torchrun_starts_a_killed_run_again(undisturbed: object, tmp_path: Path, rank: int) -> None:
    launcher = begun(tmp_path, *TORCHRUN, "--max-restarts", "1", "-m", "tetrarchia_train", *RUN)
    until_kept(tmp_path, launcher)
    os.kill(sorted(ranks(launcher.pid))[rank], signal.SIGKILL)

    assert launcher.wait(500) == 0, (tmp_path / "output").read_text(encoding="utf-8")
    assert result(tmp_path) == undisturbed


@pytest.mark.thorough
def test_sigterm_to_torchrun_saves(undisturbed: object, tmp_path: Path) -> None:
    launcher = begun(tmp_path, *TORCHRUN, "-m", "tetrarchia_train", *RUN)
    until_kept(tmp_path, launcher)
    launcher.send_signal(signal.SIGTERM)
    assert launcher.wait(200) != 0
    assert "stopped after" in (tmp_path / "output").read_text(encoding="utf-8")

    run(tmp_path, *ONE_PROCESS, "--name", "x", "--resume")

    assert result(tmp_path) == undisturbed
