"""Compiling ahead: two processes that share the work, and no waiting where it would be for nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tetrarchia_agents import compiling

AHEAD = """
from tetrarchia_agents import compiling
compiling.compile_ahead(search=True)
print(compiling.is_compiled(True), sum(1 for folder in compiling._folders() for _ in folder.glob("*.code")))
compiling._use_rules(), compiling._use_search()
"""


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_two_processes_compile_all_and_nothing_is_left(tmp_path: Path) -> None:
    done = run(AHEAD, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    told, functions = done.stdout.split()

    if compiling._cores() > 1:
        assert told == "True"
        assert int(functions) == pytest.approx(compiling.FUNCTIONS[True], rel=0.1)
        assert done.stderr.count("compiling") == 1


def test_what_is_compiled_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[bool] = []
    monkeypatch.setattr(compiling, "is_compiled", lambda search: True)
    monkeypatch.setattr(compiling, "_compile_in_processes", compiled.append)

    compiling.compile_ahead(search=True)

    assert compiled == []


def test_one_core_compiles_what_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[bool] = []
    monkeypatch.setattr(compiling, "_cores", lambda: 1)
    monkeypatch.setattr(compiling, "is_compiled", lambda search: False)
    monkeypatch.setattr(compiling, "_compile_in_processes", compiled.append)

    compiling.compile_ahead(search=True)

    assert compiled == []


def test_uncompiled_there_is_nothing_to_do() -> None:
    assert run("from tetrarchia_agents.compiling import compile_ahead; compile_ahead(True)", NUMBA_DISABLE_JIT="1").stderr == ""


@pytest.mark.slow
def test_two_commands_at_once_compile_only_once(tmp_path: Path) -> None:
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    script = (
        AHEAD.replace("search=True", "search=False")
        .replace("is_compiled(True)", "is_compiled(False)")
        .replace(", compiling._use_search()", "")
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script], env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate() for process in both]

    if compiling._cores() > 1:
        assert all(out.startswith("True") for out, _ in told)
        assert sum(errors.count("compiling the rules") for _, errors in told) == 1
