"""Robustness of the command line: unwritable files, unsafe names, closed streams, Ctrl-C during imports, shadowing files."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tetrarchia_app.cli import main
from tetrarchia_env import files
from tetrarchia_env.files import atomic_write, check_name, check_output_paths
from tetrarchia_env.notation import action_id, record_replay
from tetrarchia_env.options import Options

COMMAND = [sys.executable, "-m", "tetrarchia_app"]
TOO_LONG = f"{'x' * 250}.json"  # too long for every file system
ESCAPE = "\x1b]0;owned\x07"


def run(*arguments: str, folder: Path | None = None, **streams: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300, **streams)  # type: ignore[call-overload, no-any-return]


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must fail before it prints anything; return its one-line message."""
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    message = capsys.readouterr()
    assert (leaving.value.code, message.out) == (2, "")
    assert len(message.err.splitlines()) == 1
    return message.err


@pytest.fixture
def replay_file(tmp_path: Path) -> Path:
    file = tmp_path / "game.json"
    record_replay(Options(level="4001"), 5, [action_id("enter capital"), action_id("end")]).save(file)
    return file


@pytest.mark.parametrize(
    "arguments",
    [["play", "--save"], ["watch", "--save"], ["watch", "--video"], ["bench", "--out"], ["eval", "--agents", "random", "--table"]],
)
@pytest.mark.parametrize("goal", ["too long", "a folder", "a pipe"])
def test_unwritable_files_are_refused_before_the_game(
    arguments: list[str], goal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = {"--video": "gif", "--table": "csv"}.get(arguments[-1], "json")
    (tmp_path / f"folder.{ending}").mkdir()
    os.mkfifo(tmp_path / f"pipe.{ending}")
    name = {"too long": TOO_LONG.replace("json", ending), "a folder": f"folder.{ending}", "a pipe": f"pipe.{ending}"}[goal]
    monkeypatch.setattr("tetrarchia_env.game.Game.play", lambda *_: pytest.fail("a game has begun"))
    monkeypatch.setattr("tetrarchia_app.benchmarks.rates.measure", lambda *_: pytest.fail("measuring has begun"))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("a game has begun"))

    assert f"cannot write {tmp_path / name}: " in refused(capsys, *arguments, str(tmp_path / name))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"folder.{ending}", f"pipe.{ending}"]


def test_folders_without_write_permission_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path, *_: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(files.os, "open", deny)
    with pytest.raises(ValueError, match=r"cannot write .*game\.json: Permission denied"):
        check_output_paths(tmp_path / "game.json")


@pytest.mark.parametrize("way", ["same", "relative", "link", "hard link", "video"])
def test_input_replay_is_never_overwritten(
    way: str, replay_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(replay_file.parent)
    other = replay_file.with_name("other.html")
    if way == "link":
        other.symlink_to(replay_file)
    elif way == "hard link":
        other.hardlink_to(replay_file)
    elif way == "video":
        replay_file = replay_file.rename("game.gif")
    goals = {"same": str(replay_file), "relative": f"../{replay_file.parent.name}/game.json", "video": "game.gif"}
    before = replay_file.read_bytes()

    message = refused(capsys, "replay", str(replay_file), "--video" if way == "video" else "--html", goals.get(way, str(other)))

    assert "it is the input file" in message
    assert replay_file.read_bytes() == before


@pytest.mark.parametrize(("old", "new"), [("{", "[{"), ("enter capital", "move ROMA"), ('"seed": 5', '"seed": 6')])
def test_damaged_replay_is_refused_before_it_is_shown(old: str, new: str, replay_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = replay_file.read_text(encoding="utf-8")
    assert old in content
    replay_file.write_text(content.replace(old, new, 1), encoding="utf-8")

    assert refused(capsys, "replay", str(replay_file)).startswith(f"tetrarchia: replay {replay_file}: ")


def test_two_outputs_must_be_different_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"cannot write game\.gif twice"):
        check_output_paths(Path("game.gif"), tmp_path / "game.gif")
    check_output_paths(Path("game.gif"), None, Path("game.json"))
    assert list(tmp_path.iterdir()) == []


def test_disk_error_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No space left on device: '.*/game\.json'") as full, atomic_write(tmp_path / "game.json"):
        raise OSError(28, "No space left on device")
    assert full.value.filename == str(tmp_path / "game.json")


@pytest.mark.parametrize("name", ["../x", "/tmp/x", "a/b/c", "a\\b", "..", ".", "", "a\x1b[2Jb", "a\nb", "x" * 300, "-x"])
@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_unsafe_run_name_is_refused(
    name: str, resume: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    assert "the name of a run must be a plain name" in refused(capsys, "train", f"--name={name}", "--preset", "tiny", *resume)
    assert [path.name for path in tmp_path.rglob("*")] == ["here"]


def test_common_run_names_are_accepted() -> None:
    for name in ("mine", "ppo-2.1", "my run", "X_shape", "größer"):
        check_name(name, "the name of a run")


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", f"{ESCAPE}.json"],
        ["watch", "--agents", f"a{ESCAPE}.b"],
        ["watch", "--agents", f"planner:beam={ESCAPE}"],
        ["watch", "--level", ESCAPE],
        ["watch", "--save", f"{ESCAPE}/x.json"],
        ["eval", "--report", f"\x9b31m{ESCAPE}"],
        [ESCAPE],
        ["watch", f"--{ESCAPE}"],
    ],
)
def test_escape_sequences_in_messages_are_escaped(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    message = refused(capsys, *arguments)

    assert all(sign.isprintable() for sign in message.rstrip("\n"))
    assert "\\x1b" in message


def test_escape_sequences_in_file_names_are_escaped(tmp_path: Path) -> None:
    shown = run("watch", "--seed", "1", "--save", f"{ESCAPE}.json", folder=tmp_path)

    assert shown.returncode == 0
    assert shown.stdout.endswith("saved: \\x1b]0;owned\\x07.json\n")


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        *(("watch --seed 1", closed) for closed in (">&-", "<&-", "2>&-", "<&- >&- 2>&-", "| true", "| head -n 1")),
        *(("play --seed 1", closed) for closed in ("<&-", "| true")),
        *(("levels", closed) for closed in (">&-", "| true")),
    ],
)
def test_closed_streams_cause_no_traceback(words: str, closed: str) -> None:
    shown = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m tetrarchia_app {words} {closed}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert shown.returncode == 0
    assert shown.stderr == ""


def test_replay_saved_with_closed_streams_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    subprocess.run(["sh", "-c", f"{sys.executable} -m tetrarchia_app watch --seed 1 --save {file} <&- >&- 2>&-"], check=True)

    assert run("replay", str(file)).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["--version"], ["levels"], ["watch", "--seed", "1"]])
def test_full_output_device_gives_a_one_line_error(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        failed = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert failed.returncode == 2
    assert failed.stderr.splitlines()[-1].endswith("No space left on device")
    assert len(failed.stderr.splitlines()) == 1


LOADING = """
import signal, sys, os
class Press:
    def find_spec(name, path=None, target=None):
        if name == WHERE:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press)
from tetrarchia_app.cli import main
main(["watch"])
"""


@pytest.mark.parametrize(
    "module", ["tetrarchia_app.cli.app", "typer", "rich.table", "tetrarchia_train.config", "numba", "tetrarchia_env.game"]
)
def test_ctrl_c_during_imports_prints_no_traceback(module: str) -> None:
    code = LOADING.replace("WHERE", repr(module))
    stopped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert stopped.stderr == ""
    assert stopped.returncode in (130, -signal.SIGINT)  # -SIGINT: Python re-raises the signal if `exec` is interrupted


def test_only_the_package_is_imported_before_ctrl_c_is_handled() -> None:
    code = "import sys; before = set(sys.modules); import tetrarchia_app.cli; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert loaded == ["tetrarchia_app", "tetrarchia_app.cli"]


@pytest.mark.slow
@pytest.mark.parametrize("hundredths", range(8, 40, 4))
def test_ctrl_c_at_the_start_prints_no_traceback(hundredths: int) -> None:
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {LOADING.splitlines()[-2]}; main(['watch'])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(hundredths / 100)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate()

    # Tracebacks from Python's own start-up or from the `-c` code are allowed.
    assert "Traceback" not in message or "site.py" in message or "tetrarchia" not in message


SHADOWS = ("numpy", "random", "socket", "typer", "msgspec", "pickle")


@pytest.mark.parametrize(
    "words", [["watch", "--seed", "1"], ["eval", "--agents", "own.First", "--games", "4", "--workers", "2", "--level", "4200"]]
)
def test_files_in_the_current_folder_do_not_shadow_modules(words: list[str], tmp_path: Path) -> None:
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text("open('loaded', 'w'); raise SystemExit('shadowed')")
    body = "def act(self, games, masks, env_ids):\n        return masks.argmax(axis=1)"
    (tmp_path / "own.py").write_text(f"from tetrarchia_agents import Agent\nclass First(Agent):\n    {body}\n")

    shown = run(*words, folder=tmp_path)

    assert shown.returncode == 0, shown.stderr
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["watch", "--agents", "plannr"], "did you mean planner?"),
        (["watch", "--agents", "Planner"], "did you mean planner?"),
        (["watch", "--agents", "ppo:ppo-smal"], "did you mean ppo-small"),
        (["watch", "--agents", "planner:bean=3"], "did you mean beam?"),
        (["watch", "--variants", "imperium"], "did you mean imperivm?"),
        (["watch", "--modules", "dux,pirate"], "did you mean pirates?"),
        (["watch", "--scenario", "danube"], "did you mean danube_wars?"),
        (["play", "--emperors", "galerus"], "did you mean galerius?"),
        (["train", "--name", "x", "--preset", "ppo_full"], "did you mean ppo-full"),
        (["wach"], "Did you mean 'watch'?"),
    ],
)
def test_similar_name_is_suggested(arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert hint in refused(capsys, *arguments)


def test_dissimilar_name_gets_no_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean" not in refused(capsys, "watch", "--agents", "nero")
