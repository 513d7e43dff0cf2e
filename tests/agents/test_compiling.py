"""Tests of ahead-of-time compilation: when it runs, and concurrent processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tetrarchia_agents import compiling

COMPILE_AHEAD = """
import time
from tetrarchia_agents import compiling
def pretend(search):
    time.sleep(1)
    for name in ("_step", "_observe"):
        (compiling.RULES_CODE.path / f"tetrarchia_env.batch.{name}.1.nbc").touch()
    print("pretended")
REPLACED
compiling.available_cores = lambda: 2
compiling.compile_ahead(search=False)
print(compiling.is_compiled(False), compiling.is_compiled(True))
"""


def run_twice(script: str, **environment: str) -> list[tuple[str, str]]:
    """Run a script in two concurrent processes; return stdout and stderr of each."""
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script], env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    return [process.communicate() for process in both]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Replace the compilation processes; return the list of recorded calls."""
    calls: list[bool] = []
    monkeypatch.setattr(compiling, "_compile_in_processes", calls.append)
    monkeypatch.setattr(compiling, "available_cores", lambda: 2)
    monkeypatch.setattr(compiling, "is_compiled", lambda search: False)
    return calls


def test_missing_code_is_compiled(compiled: list[bool]) -> None:
    compiling.compile_ahead(search=True)

    assert compiled == [True]


def test_cached_code_is_not_compiled_again(compiled: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "is_compiled", lambda search: True)
    compiling.compile_ahead(search=True)

    assert compiled == []


def test_nothing_is_compiled_ahead_on_one_core(compiled: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "available_cores", lambda: 1)
    compiling.compile_ahead(search=True)

    assert compiled == []


def test_nothing_is_compiled_if_numba_is_disabled() -> None:
    script = "from tetrarchia_agents.compiling import compile_ahead, cache_status; compile_ahead(True); print(cache_status())"
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True
    )

    assert done.stderr == ""
    assert "NUMBA_DISABLE_JIT" in done.stdout


def test_cache_status_contains_the_cache_folders() -> None:
    assert {part: "tetrarchia-" in status for part, status in compiling.cache_status().items()} == {"rules": True, "search": True}


def test_concurrent_commands_compile_once(tmp_path: Path) -> None:
    outputs = run_twice(
        COMPILE_AHEAD.replace("REPLACED", "compiling._compile_in_processes = pretend"), NUMBA_CACHE_DIR=str(tmp_path / "cache")
    )

    assert [out.split()[-2:] for out, _ in outputs] == [["True", "False"]] * 2
    assert sum(out.count("pretended") for out, _ in outputs) == 1


@pytest.mark.thorough
@pytest.mark.skipif(compiling.available_cores() < 2, reason="needs two cores")
def test_no_compilation_is_needed_after_compiling_ahead(tmp_path: Path) -> None:
    use = "\ncompiling._use_rules(), compiling._use_observation()"
    outputs = run_twice(COMPILE_AHEAD.replace("REPLACED", "") + use, NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    assert [out.split() for out, _ in outputs] == [["True", "False"]] * 2
    assert sum(errors.count("compiling") for _, errors in outputs) == 1
