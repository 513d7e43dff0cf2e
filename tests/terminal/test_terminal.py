"""`watch`, `replay` and `play` in a pseudo-terminal and with pipes."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.pseudo_terminal import Terminal, without_codes
from tetrarchia_app import cli
from tetrarchia_env.notation import action_id, load_replay, play_replay, record_replay
from tetrarchia_env.options import Options

LEFT, RIGHT, UP, DOWN, HOME, END = "\x1b[D", "\x1bOC", "\x1b[A", "\x1b[B", "\x1b[1~", "\x1b[F"
CTRL_C = "\x03"
SLOW = ("--speed", "0.01")  # only keys change the frame


def is_restored(terminal: Terminal) -> bool:
    """Return whether terminal modes, cursor and normal screen are restored."""
    last = {"\x1b[?1049": "l", "\x1b[?25": "h"}
    back = all(terminal.output.rpartition(code)[2].startswith(ending) for code, ending in last.items())
    return back and terminal.modes == terminal.modes_before


@pytest.fixture
def replay_file(tmp_path: Path) -> Path:
    """Return a replay file of an unfinished game of three turns."""
    file = tmp_path / "game.json"
    record_replay(Options(level="4001", fixed_setup=True), 5, [action_id(text) for text in ("enter capital", "end") * 3]).save(file)
    return file


def test_watch_responds_to_keys() -> None:
    with Terminal("watch", "--seed", "1", *SLOW) as terminal:
        terminal.wait("TETRARCHIA", "action 0", "playing", "q quit")
        assert terminal.modes != terminal.modes_before
        terminal.type(" ")
        terminal.wait("action 0", "paused")
        terminal.type(RIGHT + RIGHT)
        terminal.wait("action 2:")
        terminal.type(LEFT)
        terminal.wait("action 1:")
        terminal.type("+")
        terminal.wait("0.02 per second")
        terminal.type("\x1b[1;5Cz+")  # Ctrl-Right and z have no effect
        terminal.wait("0.04 per second")
        terminal.type("--")
        terminal.wait("0.02 per second", "0.01 per second")
        terminal.type(DOWN)
        terminal.wait("turn 2 ", "> ")
        terminal.type("n")
        terminal.wait("turn 3 ")
        terminal.type(UP)
        terminal.wait("turn 2 ")
        terminal.type("p")
        terminal.wait("turn 1 ", "action 0")
        terminal.type("17\x7f2\r")
        terminal.wait("jump to action 17_", "jump to action 1_", "jump to action 12_", "action 12:")
        terminal.type(END)
        terminal.wait("the end")
        terminal.type(HOME)
        terminal.wait("action 0 of")
        terminal.type("Gg q")
        assert terminal.finish() == 0
        assert is_restored(terminal)


def test_watch_plays_to_the_end_and_prints_the_outcome() -> None:
    with Terminal("watch", "--seed", "1", "--speed", "1000") as terminal:
        terminal.wait("action 3:", "action 4:", "the end")
        terminal.type("q")
        assert terminal.finish() == 0
        after = terminal.output.rpartition("\x1b[?1049l")[2]
        assert "of 6 borders secured, score" in after


def test_watch_fits_the_window() -> None:
    with Terminal("watch", *SLOW, columns=100, rows=40) as terminal:
        terminal.wait("q quit")
        for columns, rows in ((80, 24), (120, 50), (30, 5), (100, 40)):
            terminal.resize(columns, rows)
            terminal.wait("action 0")
            terminal.wait("q quit")
            lines = without_codes(terminal.picture).split("\r\n")
            assert max(map(len, lines)) == columns
            assert len(lines) == rows
        terminal.type("q")
        assert terminal.finish() == 0


def test_watch_saves_the_whole_game_even_if_the_user_quits_early(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    with Terminal("watch", "--seed", "1", "--save", str(file), *SLOW) as terminal:
        terminal.wait("action 0")
        terminal.type("q")
        assert terminal.finish() == 0
    assert load_replay(file).final["outcome"] != "running"


def test_ctrl_c_writes_no_file_and_restores_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    with Terminal("watch", "--save", str(file)) as terminal:
        terminal.wait("action 1:")
        terminal.type(CTRL_C)
        assert terminal.finish() == 130
        assert is_restored(terminal)
        assert "Traceback" not in terminal.output
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_a_complete_video_or_none(tmp_path: Path) -> None:
    for library in ("PIL", "resvg_py"):
        pytest.importorskip(library)
    video = tmp_path / "game.gif"
    with Terminal("watch", "--seed", "1", "--video", str(video)) as terminal:
        terminal.wait_until(lambda: any(tmp_path.iterdir()))
        terminal.type(CTRL_C)
        code = terminal.finish()
        assert terminal.modes == terminal.modes_before
        assert "Traceback" not in terminal.output
    left = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert (code == 130 and not left) or (left.keys() == {"game.gif"} and left["game.gif"].endswith(b";"))  # already finished


def test_sigterm_restores_the_terminal() -> None:
    with Terminal("watch", *SLOW) as terminal:
        terminal.wait("action 0")
        terminal.send(signal.SIGTERM)
        assert terminal.finish() == 128 + signal.SIGTERM
        assert is_restored(terminal)


def test_replay_steps_forwards_and_backwards_and_jumps_to_any_action(replay_file: Path) -> None:
    with Terminal("replay", str(replay_file), *SLOW) as terminal:
        terminal.wait("action 0")
        terminal.type("3\r")
        terminal.wait("action 3:")
        terminal.type(LEFT)
        terminal.wait("action 2:")
        terminal.type("99\r")
        terminal.wait("action 6 of 6", "the end")
        terminal.type(CTRL_C)
        assert terminal.finish() == 130
        assert is_restored(terminal)


def test_play_accepts_texts_numbers_and_undo(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    with Terminal("play", "--seed", "3", "--emperors", "diocletian,galerius") as terminal:
        for typed, *answers in (
            ("fleet int", "a fleet in INTERNVM", "diocletian >"),
            ("1", "a fleet in ATLANTICVM", "diocletian >"),
            ("enter capital", "diocletian arrives in BITHYNIA", "6 IP >"),
            ("sec", "secures BITHYNIA", "5 IP >"),
            ("move", "is ambiguous: move THRACIA, move GALATIA, move ASIA", "5 IP >"),
            ("m gal", "moves to GALATIA (1 IP)", "4 IP >"),
            ("undo", "undone: move GALATIA", "5 IP >"),
            ("undo", "undone: secure", "6 IP >"),
            ("conquer", "unknown action 'conquer'", "6 IP >"),
            ("move BRITANNIA", "'move BRITANNIA' is not possible now", "6 IP >"),
            ("77", "there is no number 77", "6 IP >"),
            ("?", "undo your last action", "6 IP >"),
            ("board", "TETRARCHIA   turn 1 ", "0 end", "6 IP >"),
            ("save", "save needs a file name", "6 IP >"),
            ("save no/such/folder/x", "there is no folder", "6 IP >"),
            ("0", "galerius >"),
            ("undo", "nothing to undo", "galerius >"),
            (f"save {file}", "saved:", "galerius >"),
            ("2", "galerius arrives in PANNONIA INFERIOR", "6 IP >"),
            ("end", "constantius: ", "maximian: ", "diocletian, 6 IP >"),
        ):
            terminal.type(f"{typed}\r")
            terminal.wait(*answers)
        terminal.type("quit\r")
        assert terminal.finish() == 0
        assert terminal.modes == terminal.modes_before
    assert [text for _, text in load_replay(file).actions] == ["fleet INTERNVM", "fleet ATLANTICVM", "enter capital", "end"]


def test_ctrl_c_ends_play(tmp_path: Path) -> None:
    with Terminal("play", "--seed", "3", "--save", str(tmp_path / "game.json")) as terminal:
        terminal.wait("diocletian >")
        terminal.type(CTRL_C)
        if terminal.finish(5) is None:  # Ctrl-C came before Python waited for keys: press it again
            terminal.type(CTRL_C)
        assert terminal.finish() == 130
        assert terminal.modes == terminal.modes_before
        assert "Traceback" not in terminal.output
    assert list(tmp_path.iterdir()) == []


def main_with(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run a command in this process without a terminal and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["tetrarchia", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def typing(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Make `input` return these lines and then raise EOFError."""
    script = iter(lines)

    def read(prompt: str) -> str:
        print(prompt, end="")
        for line in script:
            return line
        raise EOFError

    monkeypatch.setattr("builtins.input", read)


def test_play_reads_actions_from_a_pipe() -> None:
    command = [sys.executable, "-m", "tetrarchia_app", "play", "--seed", "3", "--level", "4011"]
    played = subprocess.run(command, input="1\n0\nenter roma\n", capture_output=True, text=True, check=False)
    assert played.returncode == 0
    assert "Traceback" not in played.stderr
    assert played.stdout.splitlines()[-1] == "galerius, 6 IP > "
    assert "\x1b" not in played.stdout


def test_play_exits_when_the_game_is_over(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    typing(monkeypatch, *["enter ROMA", "end"] * 400)
    assert main_with(monkeypatch, "play", "--level", "4033", "--seed", "4", "--emperors", "maximian", "--save", str(file)) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "of 6 borders secured, score" in shown[-2]
    assert shown[-1] == f"saved: {file}"
    assert list(play_replay(load_replay(file)))


def test_play_says_and_shows_messages(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typing(monkeypatch, "enter ROMA", "say 2", "end", "board")
    assert main_with(monkeypatch, "play", "--level", "4011", "--seed", "3", "--view-radius", "1", "--message-tokens", "3") == 0
    shown = capsys.readouterr().out
    assert "say 3" in shown
    assert "last messages: diocletian 2 (0 turns ago)" in shown
    assert "last messages: diocletian 2 (1 turn ago)" in shown


@pytest.mark.parametrize("command", ["watch", "replay"])
def test_unknown_video_format_is_refused_before_the_game(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], replay_file: Path, command: str
) -> None:
    pytest.importorskip("tetrarchia_env.render.video")
    files = [str(replay_file)] if command == "replay" else []
    assert main_with(monkeypatch, command, *files, "--video", "game.xyz") == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "game.xyz" in shown.err
    assert len(shown.err.splitlines()) == 1
