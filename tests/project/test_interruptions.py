"""Interruptions of `train` and `eval` at random moments (SIGKILL, SIGTERM, full disk): resumed runs give the same result.

TETRARCHIA_INTERRUPTIONS=50 tries 50 moments of each kind instead of three.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.fork_server import Command, ForkServer

pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")
pytest.importorskip("fcntl")

MOMENTS = int(os.environ.get("TETRARCHIA_INTERRUPTIONS", "3"))
COMMANDS = {
    name: words.split()
    for name, words in {
        "train": "train --name x --preset tiny --expert greedy --save-freq 128 --num-demonstrations 900",
        "train-together": "train --name x --preset tiny --processes 2 --save-freq 128",
        "eval": "eval --agents greedy --against random --level 4200 --games 300 --workers 1 --out out",
        "eval-together": "eval --agents planner --against greedy --level 4200 --games 120 --workers 2 --out out",
    }.items()
}
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with ForkServer() as fork_server:
        yield fork_server


@pytest.fixture(scope="module")
def undisturbed(fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, float]]:
    """Return the uninterrupted result of each command and its duration after compilation."""
    found: dict[str, tuple[object, float]] = {}
    for name, command in [*COMMANDS.items()] * 2:
        folder, began = tmp_path_factory.mktemp(name), time.monotonic()
        code, text = fork_server.run(command, folder)
        assert code == 0, text
        found[name] = (result(folder), time.monotonic() - began)
    return found


def result(folder: Path) -> object:
    """Return the weights and win rates of a run, or the games of result files."""
    if (folder / "out").is_dir():
        return {path.name: re.sub(rb'"seconds":[^]]*', b"", path.read_bytes()) for path in (folder / "out").iterdir()}
    lines = [json.loads(line) for line in (folder / "runs/x/progress.jsonl").read_text(encoding="utf-8").splitlines()]
    measured = [(line["timesteps"], line["win_rates"], line["borders"]) for line in lines]
    return json.loads((folder / "runs/x/final/card.json").read_bytes())["weights_sha256"], measured


def resume(fork_server: ForkServer, name: str, folder: Path) -> str:
    """Resume an interrupted command and return its output."""
    if COMMANDS[name][0] == "eval":
        code, text = fork_server.run(COMMANDS[name], folder)
    else:
        code, text = fork_server.run(["train", "--name", "x", "--resume"], folder)
        if "there is no run to resume" in text:
            code, text = fork_server.run(COMMANDS[name], folder)
    assert code == 0, text
    return text


def check_output(command: Command, code: int, allowed: tuple[int, ...]) -> None:
    text = command.text()
    assert "Traceback" not in text, text
    assert code in allowed, (code, text)
    if code == 2:
        assert len(re.findall(r"^tetrarchia: .*$", text, re.MULTILINE)) == 1, text
    assert not command.has_left_processes(), text


@pytest.mark.thorough
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM], ids=lambda sent: sent.name)
@pytest.mark.parametrize("name", COMMANDS)
def test_run_interrupted_by_a_signal_resumes_to_the_same_result(
    name: str, sent: signal.Signals, fork_server: ForkServer, undisturbed: dict[str, tuple[object, float]], tmp_path: Path
) -> None:
    expected, seconds = undisturbed[name]
    chooser = random.Random(f"{name} {sent}")
    for number in range(MOMENTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        moment = chooser.uniform(0, seconds)
        command = fork_server.start(COMMANDS[name], folder)
        command.let_run(moment)
        os.kill(command.pid, sent)
        check_output(command, command.wait(), (0, -sent, 130) if sent == signal.SIGTERM else (0, -sent))
        text = resume(fork_server, name, folder)
        assert result(folder) == expected, (moment, text)
        shutil.rmtree(folder)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Mount a disk of `size` bytes at a folder; yield whether that succeeded (it needs root)."""
    try:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode == 0
    except OSError:
        made = False
    try:
        yield made
    finally:
        if made:
            subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.thorough
@pytest.mark.parametrize("name", COMMANDS)
def test_run_on_a_full_disk_resumes_to_the_same_result(
    name: str, fork_server: ForkServer, undisturbed: dict[str, tuple[object, float]], tmp_path: Path
) -> None:
    expected, _ = undisturbed[name]
    chooser = random.Random(name)
    for number in range(MOMENTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        size = 4096 * chooser.randint(1, 24 if COMMANDS[name][0] == "eval" else 400)
        with small_disk(folder, size) as made:
            command = fork_server.start(COMMANDS[name], folder, None if made else size)
            check_output(command, command.wait(), (0, 2))
            if made:
                subprocess.run(["mount", "-o", f"remount,size={16 * MEGABYTE}", folder], check=True)
            text = resume(fork_server, name, folder)
            assert result(folder) == expected, (size, text)
        shutil.rmtree(folder)
