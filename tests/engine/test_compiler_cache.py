"""The cache of compiled code: never stale, never read from another user's files, and robust against damaged files."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import config

from tetrarchia_env.board import board_path
from tetrarchia_env.engine import _code_cache
from tetrarchia_env.engine._code_cache import CodeFolder, ensure, insecure_reason
from tetrarchia_env.engine._jit import PACKAGE, jit_into, source_digest

DIGEST = "0123456789abcdef"
FOLDER = f"tetrarchia-{DIGEST}"
OTHER_USER_ID = 65534  # a user without files
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
ONE_FUNCTION = """
import os, sys
import numba, numpy as np
if len(sys.argv) > 1:  # another user may not be allowed to read Python's own files: they are read before
    import tetrarchia_env.engine.dice
    numba.njit(tetrarchia_env.engine.dice.next_rng.py_func)(np.uint64(7))
    for name in [name for name in sys.modules if name.startswith("tetrarchia_env")]:
        del sys.modules[name]
    os.setgroups([]), os.setgid(int(sys.argv[1])), os.setuid(int(sys.argv[1]))
from tetrarchia_env.engine.dice import next_rng
print(next_rng(np.uint64(7)), sum(next_rng.stats.cache_hits.values()))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the cache folder and a temporary folder that no other test uses."""
    (tmp_path / "tmp").mkdir(mode=0o700)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return tmp_path / "chosen"


def doubled(number: int) -> int:
    return 2 * number


def code_folder() -> CodeFolder:
    return CodeFolder(DIGEST, "a test", last="missing")


def compiled() -> Any:
    return jit_into(code_folder())(doubled)


def hits(dispatcher: Any) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def use_once(root: Path) -> tuple[Path, Path]:
    """Compile a function; return its index file and its code file."""
    assert compiled()(21) == 42
    return next((root / FOLDER).glob("*.nbi")), next((root / FOLDER).glob("*.nbc"))


def run(*arguments: str, home: Path, **environment: str) -> list[str]:
    """Call one function in a new process; return its result and the number of cache hits."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "XDG_"))}
    inherited |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-c", ONE_FUNCTION, *arguments]
    done = subprocess.run(command, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_compiled_code_is_loaded_from_a_private_folder(root: Path) -> None:
    use_once(root)
    again = compiled()

    assert again(21) == 42
    assert hits(again) == 1
    assert (root / FOLDER).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "changed", ["engine/dice.py", "data/board.toml", "data/scenarios.toml", "data/heuristic_weights.toml", "observation.py", "batch.py"]
)
def test_changed_source_or_data_changes_the_folder(tmp_path: Path, changed: str) -> None:
    """Check the digest of the whole package: Numba alone would load outdated code of the callers."""
    package = tmp_path / "tetrarchia_env"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = source_digest(package)
    assert source_digest(package) == before
    path = package / changed
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")

    assert source_digest(package) != before


def test_board_and_numba_settings_change_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source_digest(PACKAGE)
    monkeypatch.setattr(config, "OPT", type(config.OPT)(1))
    assert source_digest(PACKAGE) != before
    monkeypatch.undo()
    board = tmp_path / "board.toml"
    board.write_bytes(board_path().read_bytes() + b"\n")
    monkeypatch.setenv("TETRARCHIA_BOARD", str(board))
    assert source_digest(PACKAGE) != before


@pytest.mark.parametrize("file", [0, 1], ids=["index", "code"])
@pytest.mark.parametrize("damage", ["empty", "garbage", "truncated", "flipped"])
def test_damaged_files_are_rebuilt(root: Path, file: int, damage: str) -> None:
    path = use_once(root)[file]
    content = path.read_bytes()
    flipped = content[:-200] + bytes(byte ^ 1 for byte in content[-200:])
    path.write_bytes({"empty": b"", "garbage": b"garbage", "truncated": content[: len(content) // 2], "flipped": flipped}[damage])
    damaged, rebuilt = compiled(), compiled()

    assert damaged(21) == 42
    assert hits(damaged) == 0
    assert rebuilt(21) == 42
    assert hits(rebuilt) == 1


@pytest.mark.parametrize("byte", [100, 1000, 2000, 4000])
def test_one_wrong_bit_of_code_is_detected(root: Path, byte: int) -> None:
    """Such a file can still be unpickled; only its checksum differs."""
    _, code = use_once(root)
    content = bytearray(code.read_bytes())
    content[byte] ^= 1
    code.write_bytes(content)
    again = compiled()

    assert again(21) == 42
    assert hits(again) == 0


class Planted:
    """Object that creates a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


def test_planted_code_in_a_private_folder_is_executed(root: Path, tmp_path: Path) -> None:
    """Check that the planted code works at all, as a control for the tests below."""
    use_once(root)[1].write_bytes(pickle.dumps(Planted(tmp_path / "marker")))

    assert compiled()(21) == 42
    assert (tmp_path / "marker").exists()


@pytest.mark.parametrize("mode", [0o777, 0o707, 0o1777])
def test_a_folder_that_others_may_write_into_is_not_read(root: Path, tmp_path: Path, mode: int) -> None:
    use_once(root)[1].write_bytes(pickle.dumps(Planted(tmp_path / "marker")))
    (root / FOLDER).chmod(mode)

    assert compiled()(21) == 42
    assert not (tmp_path / "marker").exists()


@needs_root
@pytest.mark.parametrize("linked", [False, True])
def test_another_users_folder_is_not_read(root: Path, tmp_path: Path, linked: bool) -> None:
    use_once(root)[1].write_bytes(pickle.dumps(Planted(tmp_path / "marker")))
    folder = root / FOLDER
    if linked:
        shutil.move(folder, tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere")
    os.chown(folder.resolve(), OTHER_USER_ID, OTHER_USER_ID)

    assert compiled()(21) == 42
    assert not (tmp_path / "marker").exists()


def test_a_folder_that_others_may_replace_is_insecure(tmp_path: Path) -> None:
    parent = tmp_path / "open"
    (parent / "mine").mkdir(parents=True, mode=0o700)
    parent.chmod(0o777)

    assert "other users may write" in insecure_reason(parent / "mine")
    parent.chmod(0o1777)  # as /tmp: only the owner can rename a file
    assert not insecure_reason(parent / "mine")


def test_functions_compile_without_a_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a_file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "below"))
    monkeypatch.setattr("tempfile.tempdir", str(file))
    folder = code_folder()

    assert jit_into(folder)(doubled)(21) == 42
    assert folder.path is None
    assert str(file) in folder.unwritable_reason
    assert str(file) in folder.status
    assert str(file) in capsys.readouterr().err


def test_compiling_is_announced_once_and_only_if_it_takes_long(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that compiling a few remaining functions prints no message: it takes no noticeable time."""
    folder = code_folder()
    for _ in range(2):
        jit_into(folder)(doubled)(21)
        (root / FOLDER / f"{__name__}.doubled.nbi").unlink()
    assert capsys.readouterr().err.count("compiling a test") == 1

    (root / FOLDER / "last.1.nbc").touch()
    jit_into(CodeFolder(DIGEST, "a test", last="last"))(doubled)(21)
    assert capsys.readouterr().err == ""


def test_folders_unused_for_long_are_deleted(root: Path) -> None:
    old, recent, other = root / f"tetrarchia-{1:016x}", root / f"tetrarchia-{2:016x}", root / "numba_0123"
    for folder in (old, recent, other):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    for folder in (old, other):
        os.utime(folder, (0, time.time() - _code_cache.MAX_UNUSED_S - 60))

    assert not ensure(root / FOLDER)
    assert sorted(root.iterdir()) == sorted([recent, other, root / FOLDER])


def test_other_numba_code_keeps_its_own_cache() -> None:
    assert not isinstance(numba.njit(doubled, cache=True)._cache, _code_cache.CodeCache)


@pytest.mark.slow
def test_unwritable_home_falls_back_to_a_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    first = run(home=tmp_path, HOME=str(tmp_path / "file"))
    again = run(home=tmp_path, HOME=str(tmp_path / "file"))

    assert [first[1], again[1]] == ["0", "1"]
    assert (tmp_path / f"tetrarchia-{os.getuid()}").stat().st_mode & 0o022 == 0


@pytest.mark.slow
@needs_root
def test_warm_read_only_folder_is_used() -> None:
    """Simulate a container image: the cache is written by root and used by a user who cannot write anywhere."""
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to others
        warm, home = Path(place, "warm"), Path(place, "home")
        home.mkdir(mode=0o755)
        first = run(home=home, NUMBA_CACHE_DIR=str(warm))
        for folder in (Path(place), warm, *warm.rglob("*")):
            folder.chmod(0o755 if folder.is_dir() else 0o644)
        again = run(str(OTHER_USER_ID), home=home, NUMBA_CACHE_DIR=str(warm))
        cold = run(str(OTHER_USER_ID), home=home, NUMBA_CACHE_DIR=str(home))

    assert [first, again, cold] == [[first[0], "0"], [first[0], "1"], [first[0], "0"]]


@pytest.mark.slow
def test_two_processes_compile_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "both")}
    command = [sys.executable, "-c", ONE_FUNCTION]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    results = [process.communicate()[0].split()[0] for process in both]

    assert results[0] == results[1]
    assert not list(tmp_path.rglob("*.tmp*"))
    assert run(home=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "both"))[1] == "1"
