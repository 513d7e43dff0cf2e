"""Machine code on disk: whose it may be, where it lies, and that no file breaks a run."""

import hashlib
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

from tetrarchia_env.engine import _folders
from tetrarchia_env.engine._jit import _compiled, _digest
from tetrarchia_env.engine._machine_code import CHECK, Store

DIGEST = "0123456789abcdef"
STRANGER = 65534  # nobody
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be another user")
ONE_FUNCTION = """
import os, sys
import numba, numpy as np
if len(sys.argv) > 1:  # somebody else may not be allowed to read Python's own files: they are read before
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
    """Where the user says, and a temporary folder that no other test knows."""
    (tmp_path / "tmp").mkdir(mode=0o700)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "chosen"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    _folders.refusal.cache_clear()
    return tmp_path / "chosen"


def doubled(number: int) -> int:
    return 2 * number


def compiled(function: Any = doubled) -> Any:
    return _compiled(function, Store(DIGEST), "called")


def hits(dispatcher: Any) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def use_once(root: Path) -> Path:
    """The file that a first use leaves."""
    assert compiled()(21) == 42
    (file,) = (root / DIGEST).glob("*.code")
    return file


def run(*arguments: str, home: Path, **environment: str) -> list[str]:
    """One compiled function in a new process: what it found, and how often in the cache."""
    surroundings = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "XDG_"))}
    surroundings |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-c", ONE_FUNCTION, *arguments]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_was_compiled_is_found_again(root: Path) -> None:
    use_once(root)
    again = compiled()

    assert again(21) == 42
    assert hits(again) == 1


def test_folders_are_the_user_s_own(root: Path) -> None:
    file = use_once(root)

    assert [folder.stat().st_mode & 0o777 for folder in (root, file.parent)] == [0o700, 0o700]


@pytest.mark.parametrize("damage", [b"", b"garbage", None], ids=["empty", "garbage", "truncated"])
def test_damaged_files_are_made_anew(root: Path, damage: bytes | None) -> None:
    file = use_once(root)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = compiled()

    assert again(21) == 42
    assert hits(again) == 0
    assert hashlib.sha256(file.read_bytes()[CHECK:]).digest() == file.read_bytes()[:CHECK]


@pytest.mark.parametrize("byte", [0, 40, 1000, -1])
def test_one_wrong_byte_is_noticed(root: Path, byte: int) -> None:
    file = use_once(root)
    content = bytearray(file.read_bytes())
    content[byte] ^= 1
    file.write_bytes(content)

    assert Store(DIGEST).read(file.name) is None


class Planted:
    """Unpickled, it makes a file."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


def plant(file: Path, marker: Path) -> None:
    content = pickle.dumps(Planted(marker))
    file.write_bytes(hashlib.sha256(content).digest() + content)


@pytest.mark.parametrize("mode", [0o777, 0o707, 0o1777])
def test_a_folder_that_others_write_into_is_not_read(root: Path, tmp_path: Path, mode: int) -> None:
    file, marker = use_once(root), tmp_path / "marker"
    plant(file, marker)
    file.parent.chmod(mode)
    _folders.refusal.cache_clear()

    assert compiled()(21) == 42
    assert not marker.exists()


def test_planting_works_where_only_the_user_writes(root: Path, tmp_path: Path) -> None:
    """The test above tests something."""
    file, marker = use_once(root), tmp_path / "marker"
    plant(file, marker)

    assert compiled()(21) == 42
    assert marker.exists()


@needs_root
def test_a_stranger_s_folder_is_not_read(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, marker = use_once(root), tmp_path / "marker"
    plant(file, marker)
    os.chown(file.parent, STRANGER, STRANGER)
    _folders.refusal.cache_clear()

    assert compiled()(21) == 42
    assert not marker.exists()


@needs_root
def test_a_link_to_a_stranger_s_folder_is_not_read(root: Path, tmp_path: Path) -> None:
    file, marker = use_once(root), tmp_path / "marker"
    plant(file, marker)
    shutil.move(file.parent, tmp_path / "elsewhere")
    os.chown(tmp_path / "elsewhere", STRANGER, STRANGER)
    (root / DIGEST).symlink_to(tmp_path / "elsewhere")
    _folders.refusal.cache_clear()

    assert compiled()(21) == 42
    assert not marker.exists()


def test_a_folder_that_anybody_may_exchange_is_not_read(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    (open_to_all / "mine").mkdir(parents=True, mode=0o700)
    open_to_all.chmod(0o777)

    assert "others may write" in _folders.distrust(open_to_all / "mine")
    open_to_all.chmod(0o1777)  # as /tmp: nobody moves another's files
    assert not _folders.distrust(open_to_all / "mine")


def test_without_any_place_it_still_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a_file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "below"))
    monkeypatch.setattr("tempfile.tempdir", str(file))
    store = Store(DIGEST)

    assert _compiled(doubled, store, "called")(21) == 42
    assert str(file) in store.lost()


def test_old_folders_are_pruned_by_last_use(root: Path) -> None:
    now = time.time()
    folders = [root / f"{number:016x}" for number in range(10)]
    for age, folder in enumerate(folders):
        folder.mkdir(parents=True)
        (folder / _folders.USED).touch()
        os.utime(folder / _folders.USED, (now, now - age * _folders.DAY * 2))
    others = [root / "numba_0123", root / f"{99:016x}"]
    for folder in others:
        folder.mkdir()
        (folder / "letter.txt").touch()
        os.utime(folder, (0, 0))
    held = _folders.hold(folders[-1])
    os.utime(folders[-1] / _folders.USED, (0, 0))
    _folders.prune(root)

    assert sorted(root.iterdir()) == sorted([*folders[: _folders.VERSIONS], folders[-1], *others])
    assert held is not None
    os.close(held)
    _folders.prune(root)
    assert not folders[-1].exists()


def test_folders_of_today_stay(root: Path) -> None:
    for number in range(20):
        (root / f"{number:016x}").mkdir(parents=True)
    _folders.prune(root)

    assert len(list(root.iterdir())) == 20


def test_the_digest_knows_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_OPT", raising=False)
    ours = _digest(())
    monkeypatch.setenv("NUMBA_OPT", "3")

    assert _digest(()) != ours


def test_the_user_s_own_code_keeps_its_level() -> None:
    before = numba.config.OPT

    assert numba.njit(doubled)(21) == 42
    assert numba.config.OPT is before


@pytest.mark.slow
def test_a_home_that_cannot_be_written_is_not_needed(tmp_path: Path) -> None:
    """A temporary folder of the user's own takes its place."""
    (tmp_path / "file").touch()

    first = run(home=tmp_path, HOME=str(tmp_path / "file"))
    again = run(home=tmp_path, HOME=str(tmp_path / "file"))

    assert [first[1], again[1]] == ["0", "1"]
    assert (tmp_path / f"tetrarchia-{os.getuid()}").stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
@needs_root
def test_a_warm_folder_that_cannot_be_written_is_used() -> None:
    """As in a container's image: made by root, used by somebody else, who can write nowhere, his home and /tmp included."""
    with tempfile.TemporaryDirectory() as place:  # pytest's own folders are closed to others
        warm, home = Path(place, "warm"), Path(place, "home")
        home.mkdir(mode=0o755)
        first = run(home=home, NUMBA_CACHE_DIR=str(warm))
        for folder in (Path(place), warm, *warm.rglob("*")):
            folder.chmod(0o755 if folder.is_dir() else 0o644)
        again = run(str(STRANGER), home=home, NUMBA_CACHE_DIR=str(warm))
        cold = run(str(STRANGER), home=home, NUMBA_CACHE_DIR=str(home))

    assert [first, again, cold] == [[first[0], "0"], [first[0], "1"], [first[0], "0"]]


@pytest.mark.slow
def test_two_processes_at_once(tmp_path: Path) -> None:
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "both")}
    command = [sys.executable, "-c", ONE_FUNCTION]
    both = [subprocess.Popen(command, env=surroundings, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate()[0].split()[0] for process in both]

    assert told[0] == told[1]
    assert not list(tmp_path.rglob("*.tmp"))
    assert run(home=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "both"))[1] == "1"
