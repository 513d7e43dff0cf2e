"""Coach and position analysis of running and finished games in a real browser."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
pytest.importorskip("torch")

from helpers.browser import Browser
from helpers.random_games import random_replay
from helpers.room_page import (
    DESKTOP,
    IS_OVER,
    PHONE,
    TIMEOUT_S,
    ask_coach,
    click_choice,
    open_page,
    play_turn,
    position,
    saved_replay,
    wait_for_choices,
    wait_for_position_after,
)  # fmt: skip
from helpers.web_server import Server
from tetrarchia_agents.luck_adjusted import analyze_replay
from tetrarchia_agents.position_analysis import make_critic
from tetrarchia_app.web import views
from tetrarchia_env.game import Game
from tetrarchia_env.game_analysis import GameAnalysis, percent, split_sentence
from tetrarchia_env.notation import Replay, replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
LUCK_LINES = "[...document.querySelectorAll('#log .luck')].map((line) => [line.previousElementSibling.textContent, line.textContent])"
MISTAKES = "[...document.querySelectorAll('#log .mistake')].map((line) => line.textContent)"
CURVE_POINTS = "(document.querySelector('#curve .line')?.getAttribute('d').split(' ').length ?? 0) / 2"
TABLE = "[...document.querySelectorAll('#analysis tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


@cache
def replay() -> Replay:
    """Return a game of 64 actions in 13 turns; Rome falls."""
    return random_replay(Options(level="4211"), 7, 1000)


@cache
def analysis() -> GameAnalysis:
    return analyze_replay(make_critic("ppo"), replay())


def luck_lines(found: GameAnalysis) -> list[list[str]]:
    """Return the heading of each turn in the log and the luck line below it."""
    return [[f"Turn {turn.number + 1}, {turn.emperor.capitalize()}", split_sentence(turn.luck, turn.choice)] for turn in found.turns]


@cache
def shown_analysis() -> dict[str, Any]:
    """Return the analysis as the server sends it; it does not know who chose the actions of a file."""
    positions = np.concatenate(Game.from_replay(replay()).positions)
    return views.analysis(analysis(), positions, [(None, None)] * len(replay().actions))


def rows(number: int) -> list[list[str]]:
    """Return the rows of the table of a decision."""
    actions = shown_analysis()["positions"][number]["actions"]
    return [
        [
            percent(one["probability"]).replace("\N{NO-BREAK SPACE}", " ") if one["probability"] >= 0.005 else "rarely",
            one["label"] + (" played" if one["is_played"] else ""),
            percent(one["chance"]).replace("\N{NO-BREAK SPACE}", " "),
        ]
        for one in actions
    ]


def go_to(page: Browser, number: int) -> None:
    page.run(f"(document.getElementById('slider').value = {number}, document.getElementById('slider').dispatchEvent(new Event('input')))")
    page.wait_for(f"document.getElementById('count').textContent.startsWith('{number} /')", TIMEOUT_S)


def test_coach_suggestion_can_be_played(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", "random", "random", "random", seed=5))
    wait_for_choices(page)
    ask_coach(page)
    assert "chance to win" in page.run("document.querySelector('#coach li').textContent")
    page.click("#coach li button")
    wait_for_position_after(page, 0)


def test_analysis_follows_a_running_game(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", "random", "random", "random", seed=5))
    click_choice(page, wait_for_choices(page)[0])
    page.click("#analysis-button")
    page.wait_for("document.getElementById('curve') !== null", TIMEOUT_S)
    assert page.run("document.getElementById('analysis-button').getAttribute('aria-pressed')") == "true"
    assert "chance to win" in page.run("document.getElementById('analysis').textContent")

    play_turn(page, random.Random(1))
    wait_for_choices(page)  # after the turns of the three agents

    found = analyze_replay(make_critic("ppo"), saved_replay(server, page))
    assert [turn.number for turn in found.turns] == [0, 1, 2, 3]
    expected = json.dumps(json.dumps(luck_lines(found), separators=(",", ":"), ensure_ascii=False))
    page.wait_for(f"JSON.stringify({LUCK_LINES}) === {expected}", TIMEOUT_S)
    assert page.run("document.getElementById('curve').viewBox.baseVal.width") == position(page)


def test_analysis_is_updated_after_an_undo(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", "player 1", "random", "random", seed=5))
    while not any(choice["action"].startswith("move") for choice in wait_for_choices(page)):
        click_choice(page, wait_for_choices(page)[0])
    number = position(page)
    click_choice(page, next(choice for choice in wait_for_choices(page) if choice["action"].startswith("move")))
    page.click("#analysis-button")
    page.wait_for(f"{CURVE_POINTS} === {number + 2}", TIMEOUT_S)
    page.press("u")

    page.wait_for(f"{CURVE_POINTS} === {number + 1}", TIMEOUT_S)
    assert page.run("document.getElementById('curve').viewBox.baseVal.width") == number


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_saved_game_is_analyzed(server: Server, page: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    replay().save(tmp_path / "game.json")
    found, last = analysis(), len(replay().actions)
    open_page(page, f"{server.origin}/", size)
    page.click("details.inline:last-of-type summary")
    page.fill("#file", str(tmp_path / "game.json"))
    page.wait_for(f"document.getElementById('position').value === '{last}'")
    page.click("#start")
    page.wait_for(f"location.pathname.startsWith('/seat/') && {IS_OVER}", TIMEOUT_S)
    page.click("#analysis-button")
    page.wait_for("document.getElementById('curve') !== null", TIMEOUT_S)

    marks = [text for text in shown_analysis()["marks"] if text]
    assert page.run(MISTAKES) == marks
    assert 0 < page.run("document.querySelectorAll('#mistakes .show').length") <= len(marks)
    assert page.run(LUCK_LINES) == luck_lines(found)
    for number in (0, 17, last - 1):
        go_to(page, number)
        assert page.run(TABLE) == rows(number)
        assert page.run("document.querySelectorAll('#analysis .played').length") == 1
        best = max(one["chance"] for one in shown_analysis()["positions"][number]["actions"])
        assert page.run("document.querySelector('.chance strong').textContent") == percent(best).replace("\N{NO-BREAK SPACE}", " ")


def test_mistakes_and_curve_link_to_positions_and_can_be_hidden(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay())))
    page.wait_for(IS_OVER, TIMEOUT_S)
    page.click("#analysis-button")
    page.wait_for("document.querySelectorAll('#mistakes .show').length > 0", TIMEOUT_S)
    page.click("#mistakes .show")
    page.wait_for(f"document.getElementById('count').textContent.startsWith('{analysis().worst[0]} /')", TIMEOUT_S)
    assert page.run("document.getElementById('cursor').getAttribute('transform')") == f"translate({analysis().worst[0]})"
    page.click("#curve")
    page.wait_for("document.getElementById('count').textContent.startsWith('32 /')", TIMEOUT_S)
    page.click("#analysis-button")

    assert page.run("document.getElementById('curve')") is None
    assert page.run("['analysis', 'mistakes'].every((id) => document.getElementById(id).hidden)")
    assert page.run(LUCK_LINES) == page.run(MISTAKES) == []


def test_own_mistake_can_be_tried_again(server: Server, page: Browser) -> None:
    path = server.create_room("player 1", "random", "player 1", "random", seed=5)
    me, rng = server.connect(path), random.Random(2)
    while me.own_decision()["choices"] and me.received["decision"]["position"] < 60:
        me.play(rng.choice(me.own_decision()["choices"])["action"])
    open_page(page, server.origin + path)
    page.wait_for("!document.getElementById('analysis-button').hidden", TIMEOUT_S)
    played = saved_replay(server, page).actions
    page.click("#analysis-button")
    page.wait_for("document.querySelectorAll('#mistakes .own .try-again').length > 0", TIMEOUT_S)
    page.click("#mistakes .own .show")
    page.wait_for(
        "Number(document.getElementById('count').textContent.split(' /')[0]) < Number(document.getElementById('slider').max)", TIMEOUT_S
    )
    before = int(page.run("document.getElementById('slider').value"))
    page.click("#mistakes .own .try-again")
    page.wait_for(f"!location.pathname.startsWith('{path}')", TIMEOUT_S)
    wait_for_choices(page)

    assert saved_replay(server, page).actions == played[:before]
    assert page.run("document.getElementById('identity').textContent") == "You are Diocletian and Constantius"
    assert page.run("document.getElementById('decision-title').textContent").startswith(played[before][0].capitalize())
    assert saved_replay(server, page).seed == 5
