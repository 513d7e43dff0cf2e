"""Tests of `tetrarchia eval --ray` on a local cluster of two nodes with one CPU each."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tetrarchia_agents import GameResult
from tetrarchia_env import __version__
from tetrarchia_eval.result_files import load_match

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray emits warnings

ROOT = Path(__file__).parents[2]
PACKAGES = [str(ROOT / folder) for folder in ("", "agents", "train", "eval", "app")]
GAMES = 400
MATCH = ("--agents", "planner:beam=4", "--level", "4211", "--games", str(GAMES))
SHORT = ("--agents", "planner:beam=4", "--level", "4211", "--games", "200")
LONG = (*SHORT[:-1], "100000")  # more games than this process plays without workers
SMALL = {"object_store_memory": 100_000_000}
OWN_AGENT = """
import os
import time
from dataclasses import dataclass
from tetrarchia_agents import Agent

@dataclass(frozen=True)
class Mine(Agent):
    def __post_init__(self):
        if "MINE" not in os.environ:
            raise ValueError("there is no MINE here")
    def act(self, games, masks, env_ids):
        time.sleep(0.05)  # slow enough to start other workers
        first = os.environ["MINE"] == "first"
        return masks.argmax(axis=1) if first else masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster of one node; tests may add nodes."""
    found = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **SMALL})
    yield found
    found.shutdown()


@pytest.fixture(scope="module")
def empty_cluster() -> Iterator[Any]:
    """Start a head node without CPUs."""
    found = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **SMALL})
    yield found
    found.shutdown()


@pytest.fixture(scope="module")
def one_core(tmp_path_factory: pytest.TempPathFactory) -> list[GameResult]:
    folder = tmp_path_factory.mktemp("one_core")
    code, text = run(folder, *MATCH, "--workers", "1", "--out", "match.jsonl")
    assert code == 0, text
    return games_of(folder / "match.jsonl")


def start_command(folder: Path, *words: str, **environment: str) -> "subprocess.Popen[str]":
    path = os.pathsep.join(PACKAGES)
    return subprocess.Popen(
        [sys.executable, "-m", "tetrarchia_app", "eval", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *words: str, **environment: str) -> tuple[int, str]:
    """Return exit code and output."""
    command = start_command(folder, *words, **environment)
    text, _ = command.communicate(timeout=500)
    return command.returncode, text


def games_of(path: Path) -> list[GameResult]:
    """Return the games with their durations removed."""
    return [replace(game, seconds=(0.0, 0.0, 0.0, 0.0)) for game in load_match(path, unfinished_ok=True).games]


def wait_for_games(file: Path, number: int, command: "subprocess.Popen[str]") -> None:
    while command.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") <= number):
        time.sleep(0.1)
    assert command.poll() is None, command.communicate()[0]


def test_two_nodes_play_the_games_of_one_core(cluster: Any, one_core: Sequence[GameResult], tmp_path: Path) -> None:
    second = cluster.add_node(num_cpus=1, **SMALL)
    cluster.wait_for_nodes()

    code, text = run(tmp_path, *MATCH, "--out", "match.jsonl", "--ray", cluster.address, FORCE_COLOR="1", COLUMNS="150")

    cluster.remove_node(second)
    assert code == 0, text
    assert games_of(tmp_path / "match.jsonl") == one_core
    assert "2 Ray nodes" in text
    assert "games/s" in text


def test_lost_node_does_not_change_the_games(cluster: Any, one_core: Sequence[GameResult], tmp_path: Path) -> None:
    second = cluster.add_node(num_cpus=1, **SMALL)
    cluster.wait_for_nodes()
    command = start_command(tmp_path, *MATCH, "--out", "match.jsonl", "--ray", cluster.address)
    wait_for_games(tmp_path / "match.jsonl", GAMES // 4, command)

    cluster.remove_node(second, allow_graceful=False)

    text, _ = command.communicate(timeout=500)
    assert command.returncode == 0, text
    assert games_of(tmp_path / "match.jsonl") == one_core
    assert "aylet" not in text


def test_killed_command_is_continued_with_or_without_ray(cluster: Any, one_core: Sequence[GameResult], tmp_path: Path) -> None:
    file, copy = tmp_path / "match.jsonl", tmp_path / "copy.jsonl"
    command = start_command(tmp_path, *MATCH, "--out", file.name, "--ray", cluster.address)
    wait_for_games(file, GAMES // 8, command)
    command.send_signal(signal.SIGKILL)
    command.communicate()
    shutil.copy(file, copy)

    assert 0 < len(games_of(file)) < GAMES
    assert run(tmp_path, *MATCH, "--out", file.name, "--ray", cluster.address)[0] == 0
    assert run(tmp_path, *MATCH, "--out", copy.name, "--workers", "1")[0] == 0
    assert games_of(file) == games_of(copy) == one_core


def test_a_local_cluster_is_started(tmp_path: Path) -> None:
    code, text = run(tmp_path, *SHORT, "--ray", "--workers", "1", "--out", "match.jsonl", RAY_ADDRESS="")

    assert code == 0, text
    assert len(games_of(tmp_path / "match.jsonl")) == 200


def test_a_finished_file_needs_no_cluster(tmp_path: Path) -> None:
    words = ("--agents", "random", "--games", "5", "--out", "match.jsonl")
    run(tmp_path, *words)

    assert run(tmp_path, *words, "--ray", "127.0.0.1:1")[0] == 0


@contextmanager
def listening() -> Iterator[str]:
    """Open a port that does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


def refused(folder: Path, *words: str, **environment: str) -> str:
    """Run a command that exits with code 2; return its one-line message."""
    code, text = run(folder, *words, "--out", "match.jsonl", **environment)
    assert code == 2, text
    [message] = [line for line in text.splitlines() if not re.search(r"\d games, ", line)]  # ignore the progress lines printed every 30 s
    return message


@pytest.mark.parametrize("address", ["nonsense", "host:port", "http://127.0.0.1:6379", "127.0.0.1:99999"])
def test_an_invalid_address_is_refused(address: str, tmp_path: Path) -> None:
    assert "ray must be HOST:PORT of the head node" in refused(tmp_path, *SHORT, "--ray", address)


def test_an_address_without_a_cluster_is_refused(tmp_path: Path) -> None:
    assert "ray: there is no cluster at '127.0.0.1:1'" in refused(tmp_path, *SHORT, "--ray", "127.0.0.1:1")
    assert "ray: there is no cluster at '127.0.0.1:1'" in refused(tmp_path, *SHORT, "--ray", RAY_ADDRESS="127.0.0.1:1")


def test_an_address_of_another_service_is_refused(tmp_path: Path) -> None:
    with listening() as address:
        assert f"'{address}' is not a Ray cluster" in refused(tmp_path, *SHORT, "--ray", address)


@contextmanager
def node(address: str, python: str, folder: Path, **environment: str) -> Iterator[None]:
    """Start a node whose workers run the given Python."""
    words = [python, "-m", "ray.scripts.scripts", "start", f"--address={address}", "--num-cpus=1", "--block"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(words, cwd=folder, env={**kept, **environment}, stdout=-3, stderr=-3, start_new_session=True) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def bare_python(folder: Path) -> str:
    """Return the path of a Python with Ray but without this package."""
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "ray.pth").write_text(f"{Path(ray.__file__).parents[1]}\n", encoding="utf-8")
    return str(folder / "bin" / "python")


def test_a_node_without_this_package_is_reported(empty_cluster: Any, tmp_path: Path) -> None:
    with node(empty_cluster.address, bare_python(tmp_path / "venv"), tmp_path):
        message = refused(tmp_path, *LONG, "--ray", empty_cluster.address)

    assert "cannot import tetrarchia (No module named 'tetrarchia_" in message
    assert message.endswith(f"install version {__version__} there")
    assert games_of(tmp_path / "match.jsonl")  # played by this process


def test_a_node_with_another_version_is_reported(empty_cluster: Any, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tetrarchia_env", tmp_path / "other" / "tetrarchia_env")
    init = tmp_path / "other" / "tetrarchia_env" / "__init__.py"
    init.write_text(init.read_text(encoding="utf-8").replace(f'"{__version__}"', '"9.9"'), encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "other"), *PACKAGES])

    with node(empty_cluster.address, sys.executable, tmp_path, PYTHONPATH=path):
        message = refused(tmp_path, *LONG, "--ray", empty_cluster.address)

    assert f"has version 9.9 of tetrarchia, not {__version__}: install the same version on all nodes" in message


@pytest.mark.parametrize(("there", "message"), [({}, "there is no MINE here"), ({"MINE": "last"}, "has another version of mine.Mine")])
def test_a_node_with_a_different_agent_is_reported(empty_cluster: Any, there: dict[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN_AGENT, encoding="utf-8")
    words = ("--agents", "mine.Mine", *LONG[2:], "--ray", empty_cluster.address)

    with node(empty_cluster.address, sys.executable, tmp_path, PYTHONPATH=os.pathsep.join(PACKAGES), **there):
        assert message in refused(tmp_path, *words, MINE="first")


def test_sigterm_is_reported_in_one_line(cluster: Any, tmp_path: Path) -> None:
    command = start_command(tmp_path, *MATCH, "--out", "match.jsonl", "--ray", cluster.address)
    wait_for_games(tmp_path / "match.jsonl", GAMES // 8, command)

    command.terminate()

    text, _ = command.communicate(timeout=100)
    assert command.returncode == 2, text
    assert text.splitlines()[-1].startswith("tetrarchia: ray: the command or its cluster was terminated: finished games are kept")
