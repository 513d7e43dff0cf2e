"""`tetrarchia train --ray` on a real cluster of two nodes, which are raylets of this machine with a processor each."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tetrarchia_env import __version__

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("ray.train")
cluster_utils = pytest.importorskip("ray.cluster_utils")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray's own warnings are not ours to mend


PACKAGES = os.pathsep.join(str(Path(__file__).parents[2] / folder) for folder in ("", "agents", "train", "eval"))
RUN = ["--name", "x", "--preset", "tiny", "--processes", "2", "--total-timesteps", "4096", "--save-freq", "256"]
SMALL = {"num_cpus": 1, "object_store_memory": 100_000_000}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Of two nodes; a test may say which modules stand before ours on them."""
    for name, text in getattr(request, "param", {}).items():
        (tmp_path / "nodes").mkdir(exist_ok=True)
        (tmp_path / "nodes" / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "nodes"), PACKAGES]))
    found = cluster_utils.Cluster(initialize_head=True, head_node_args={"include_dashboard": False, **SMALL})
    found.add_node(**SMALL)
    found.wait_for_nodes()
    yield found
    found.shutdown()


def begun(folder: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": PACKAGES}
    with open(folder / "output", "w", encoding="utf-8") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "tetrarchia_train", *words], cwd=folder, env=environment, stdout=output, stderr=output, text=True
        )


def run(folder: Path, *words: str) -> tuple[int, str]:
    code = begun(folder, *words).wait(500)
    return code, (folder / "output").read_text(encoding="utf-8")


def result(folder: Path) -> object:
    """Weights and win rates of a run."""
    lines = [json.loads(line) for line in (folder / "runs/x/progress.jsonl").read_text(encoding="utf-8").splitlines()]
    measured = [(line["timesteps"], line["win_rates"], line["borders"]) for line in lines]
    return json.loads((folder / "runs/x/final/card.json").read_bytes())["weights"], measured


def rank_0(folder: Path) -> int:
    """Its process, as the name of the file that it logs to tells: time, machine, process, number."""
    *_, process, _ = max((folder / "runs/x/tensorboard").iterdir()).name.split(".")
    return int(process)


def test_a_killed_worker_leads_to_a_restart_and_the_same_end(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    code, text = run(tmp_path / "here", *RUN)
    assert code == 0, text

    driver = begun(tmp_path, *RUN, "--ray", cluster.address)
    while driver.poll() is None and not list((tmp_path / "runs/x").glob("ray/checkpoint_*/counters.json")):
        time.sleep(0.05)
    assert driver.poll() is None, (tmp_path / "output").read_text(encoding="utf-8")
    os.kill(rank_0(tmp_path), signal.SIGKILL)

    assert driver.wait(500) == 0, (tmp_path / "output").read_text(encoding="utf-8")
    assert len(list((tmp_path / "runs/x/tensorboard").iterdir())) > 1
    assert result(tmp_path) == result(tmp_path / "here")


@pytest.mark.parametrize(
    ("cluster", "sentence"),
    [
        ({"tetrarchia_env.py": "__version__ = '9.9'"}, f"has version 9.9 of tetrarchia, not {__version__}"),
        ({"tetrarchia_env.py": "import nothing_of_this_name"}, "cannot load tetrarchia (No module named 'nothing_of_this_name')"),
    ],
    indirect=["cluster"],
)
def test_nodes_with_another_version_or_none(cluster: Any, sentence: str, tmp_path: Path) -> None:
    code, text = run(tmp_path, *RUN, "--ray", cluster.address)

    assert code == 2, text
    assert text.startswith("tetrarchia: ray: node ")
    assert sentence in text
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("address", "sentence"),
    [("nowhere", "an address is HOST:PORT"), ("127.0.0.1:1", "no cluster is at"), ("no.such.host.invalid:6379", "no cluster is at")],
)
def test_bad_addresses(address: str, sentence: str, tmp_path: Path) -> None:
    code, text = run(tmp_path, *RUN, "--ray", address)

    assert code == 2, text
    assert text.startswith("tetrarchia: ray: ")
    assert sentence in text
    assert text.count("\n") == 1
