"""`watch` and `play` in a window of 80 x 24, and the warning in a smaller window."""

import pytest

from helpers.configurations import random_options
from helpers.positions import position
from helpers.pseudo_terminal import Terminal, without_codes
from helpers.random_games import random_frames
from tetrarchia_app.playing.choices import links
from tetrarchia_app.terminal.player import size_warning
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.game import Game
from tetrarchia_env.render.text import draw_brief, draw_text


def screen(terminal: Terminal, rows: int) -> list[str]:
    """Return the last `rows` rows of the output."""
    return without_codes(terminal.output).split("\r\n")[-rows:]


def test_play_fits_80_by_24_with_links_and_costs() -> None:
    with Terminal("play", "--seed", "3", columns=80, rows=24) as terminal:
        terminal.wait("diocletian >")
        for typed, prompt in (("1", "diocletian >"), ("1", "diocletian >"), ("2", "6 IP >")):
            terminal.type(f"{typed}\r")
            terminal.wait(prompt)
        seen = screen(terminal, 24)
        terminal.type("quit\r")
        assert terminal.finish() == 0

    assert max(map(len, seen)) <= 80
    assert any(line.startswith(" TETRARCHIA   turn 1   diocletian: Roman phase, 6 IP") for line in seen)
    assert "  from BITHYNIA: THRACIA 3 IP (broken, Revolt), GALATIA 1 IP, ASIA 2 IP (Revolt)" in seen
    assert any("move GALATIA  1 IP" in line for line in seen)
    assert any("reserve 21[u] 14[R] 2 armies" in line for line in seen)
    assert not any("needs a window" in line for line in seen)


def test_too_small_window_shows_a_warning() -> None:
    with Terminal("play", "--seed", "3", columns=60, rows=15) as terminal:
        terminal.wait("diocletian >")
        seen = screen(terminal, 15)
        terminal.type("quit\r")
        assert terminal.finish() == 0

    assert "(this needs a window of 80 x 24; yours is 60 x 15)" in seen


def test_no_warning_if_everything_fits() -> None:
    assert size_warning(24, 80, 24) == []
    assert size_warning(31, 80, 24) == ["(this needs a window of 80 x 31; yours is 80 x 24)"]


def test_watch_shows_every_region_in_80_by_24() -> None:
    with Terminal("watch", "--speed", "0.01", columns=80, rows=24) as terminal:
        terminal.wait("q quit")
        picture = without_codes(terminal.picture)
        terminal.type("q")
        assert terminal.finish() == 0

    assert all(name in picture for name in BOARD.regions)
    assert "reserve" in picture


@pytest.mark.parametrize("seed", range(8))
def test_brief_board_lists_every_piece(seed: int) -> None:
    for frame in random_frames(random_options(seed), seed)[::7]:
        snapshot = frame.snapshot
        text = draw_brief(snapshot, dice=frame.dice)
        assert max(map(len, text.splitlines())) <= 80
        assert without_codes(draw_brief(snapshot, dice=frame.dice, colour=True)).split() == text.split()
        assert text.count("[R]") == list(snapshot["tokens"].values()).count("revolt") + 1  # one in the reserve line
        assert text.count("[u]") == list(snapshot["tokens"].values()).count("unrest") + 1
        for figure in EMPERORS:
            assert (figure.capitalize()[:3] in text) == (snapshot["emperors"][figure] is not None)
        assert sum(text.count(f"{word} {origin}") for _, origin, _ in snapshot["armies"] for word in ("army", "Goth", "Rebel")) >= len(
            snapshot["armies"]
        )


def test_full_board_truncates_no_number_at_80_columns() -> None:
    frame = Game(seed=3).frame(0)
    text = draw_text(frame.snapshot, width=80)

    assert f"{frame.snapshot['reserve']['armies']} arm" in text
    assert all(f"{name.capitalize()[:8]:8} 4 tok" in text for name in EMPERORS)


def test_links_show_costs_even_if_unaffordable() -> None:
    game = position(tokens={"GALATIA": "revolt"}, ip=0, armies=[["ASIA", "V", "army"]])

    assert links(game) == ["THRACIA 2 IP (broken)", "GALATIA 2 IP (Revolt)", "ASIA army"]
    assert links(position(emperors={"diocletian": None}, phase="arrival")) == []
