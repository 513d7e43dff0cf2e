"""Drawings of one Emperor's view (R14): nothing out of view is shown, and memory is faded with its age."""

import json
import re
from typing import Any

import pytest

from tetrarchia_agents import make_agent
from tetrarchia_env import Game, raw_env
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import known_lines
from tetrarchia_env.render import draw_svg, draw_text
from tetrarchia_env.render.frames import UNSEEN_ACTION
from tetrarchia_env.render.page import replay_page
from tetrarchia_env.render.text import draw_brief

PIECE = re.compile(r'class="(token|army|figure|fog|remembered|age)" data-space="([^"]+)"')
TURNS = 6


@pytest.fixture(scope="module", params=[False, True], ids=["reactive", "last_seen"])
def game(request: pytest.FixtureRequest) -> Game:
    """Return a running game of several turns."""
    game, agent = Game(level="4222", modules=["dux"], seed=3, view_radius=1, last_seen=request.param), make_agent("random")
    while game.turn < TURNS:
        game.play(game.ask(agent))
    assert not game.is_over
    return game


@pytest.mark.parametrize("emperor", EMPERORS)
def test_pictures_show_pieces_in_view_only(game: Game, emperor: str) -> None:
    shown = game.visible_snapshot(emperor)

    found = PIECE.findall(draw_svg(shown))

    seen = set(shown["view"]["spaces"])
    by_class = {kind: {space for one, space in found if one == kind} for kind, _ in found}
    assert by_class["fog"] == set(BOARD.names) - seen
    assert by_class.get("token", set()) | by_class.get("army", set()) | by_class.get("figure", set()) <= seen
    assert by_class.get("age", set()) == (by_class["fog"] if game.local.last_seen else set())
    assert by_class.get("remembered", set()) <= by_class["fog"]


@pytest.mark.parametrize("draw", [draw_svg, draw_text, draw_brief], ids=lambda draw: draw.__name__)
def test_drawings_do_not_depend_on_what_is_out_of_view(game: Game, draw: Any) -> None:
    """Moving everything out of Galerius' view changes no drawing of his view."""
    other = game.copy()
    before = game.visible_snapshot("galerius")
    seen = sum(1 << BOARD.space_id(name) for name in before["view"]["spaces"])
    record = other.position[0]
    record.unrest |= ~seen & ((1 << len(BOARD.names)) - 1) & ~(record.revolts | record.tokens.sum())
    record.reserve[0], record.dice = 5, 12345

    after = other.visible_snapshot("galerius")

    assert before["tokens"] != game.snapshot()["tokens"]
    assert draw(after) == draw(before)


def test_public_view_has_no_pieces(game: Game) -> None:
    shown = game.visible_snapshot(None)

    assert (shown["tokens"], shown["armies"], shown["fleets"], shown["view"]["spaces"]) == ({}, [], [], [])
    assert set(shown["emperors"].values()) == set(shown["supply"].values()) == {None}
    assert not {kind for kind, _ in PIECE.findall(draw_svg(shown))} - {"fog"}
    assert draw_text(shown)


def test_frames_of_a_view_hide_other_actions_and_events(game: Game) -> None:
    frames = list(game.frames(view="galerius"))

    assert all((frame.action == UNSEEN_ACTION) == (frame.agent != "galerius") for frame in frames[1:])
    for frame, move in zip(frames[1:], game.moves, strict=True):
        assert frame.dice == ""
        assert len(frame.story) <= len(move.story)


def test_known_lines_name_only_places_in_view() -> None:
    view = {"outcome": "running", "view": {"emperor": "galerius", "spaces": ["DACIA", "PANNONIA INFERIOR"], "zones": []}}
    lines = [
        "galerius moves to THRACIA (2 IP)",
        "maximian moves to DACIA (1 IP)",
        "the army enters THRACIA",
        "IV 1 DACIA rises: THRACIA revolts",
        "peace",
    ]

    assert known_lines(lines, view) == (lines[0], "maximian moves to DACIA")
    assert known_lines(lines, view | {"outcome": "won"}) == tuple(lines)


def test_render_shows_one_view() -> None:
    env = raw_env(level="4211", view_radius=1, render_mode="ansi")
    env.reset(seed=4)

    whole, view = env.render(), env.render(view="galerius")

    assert "view of galerius" in view
    assert "view of" not in whole
    with pytest.raises(TetrarchiaError, match="view must be one of"):
        env.render(view="nero")
    full = raw_env(render_mode="ansi")
    full.reset(seed=4)
    with pytest.raises(TetrarchiaError, match="needs view_radius"):
        full.render(view="galerius")


def test_replay_page_switches_between_views(game: Game) -> None:
    frames = list(game.frames())

    page = replay_page(frames, "A game", views={name: list(game.frames(view=name)) for name in EMPERORS})

    data = json.loads(page.partition('id="game">')[2].partition("</script>")[0])
    assert list(data["views"]) == list(EMPERORS)
    assert all(len(view) == len(frames) for view in data["views"].values())
    assert data["views"]["galerius"][-1]["pieces"] != data["frames"][-1]["pieces"]
    assert 'id="views"' in page
    assert 'id="views"' not in replay_page(frames, "A game")
    with pytest.raises(TetrarchiaError, match="views must have"):
        replay_page(frames, "A game", views={"galerius": frames[:1]})


def test_undo_and_copies_keep_the_memory_consistent() -> None:
    game = Game(level="4200", seed=7, view_radius=1, last_seen=True)
    game.play("fleet INTERNVM")
    game.play("fleet AEGAEVM")
    game.visible_snapshot("diocletian")
    before = game.visible_snapshot("diocletian")
    game.play("move ETRVRIA")
    changed = game.copy().visible_snapshot("diocletian")
    game.undo()

    assert game.visible_snapshot("diocletian") == before != changed
