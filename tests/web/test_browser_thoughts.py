"""What an agent thinks, on a room's page in a real browser: the coach, and the analysis while the game goes on and of a kept one."""

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
pytest.importorskip("torch")

from helpers.browser import Browser
from helpers.random_games import random_replay
from helpers.room_page import OVER, PATIENCE, PHONE, WIDE, click_in_the_list, enter, kept_game, offered, play_a_turn, played, wait_for_more
from helpers.web_server import Server
from tetrarchia_agents.luck_adjusted import analyse_replay
from tetrarchia_agents.position_analysis import make_critic
from tetrarchia_env.game_analysis import GameAnalysis, percent, regret_sentence, split_sentence
from tetrarchia_env.notation import Replay, replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
SPLITS = "[...document.querySelectorAll('#log .split')].map((line) => [line.previousElementSibling.textContent, line.textContent])"
WORST = "[...document.querySelectorAll('#log .worst')].map((line) => line.textContent)"
POINTS = "(document.querySelector('#curve .line')?.getAttribute('d').split(' ').length ?? 0) / 2"
TABLE = "[...document.querySelectorAll('#thoughts tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"


@cache
def replay() -> Replay:
    """64 actions in 13 turns; Rome falls."""
    return random_replay(Options(level="4211"), 7, 1000)


@cache
def judged() -> GameAnalysis:
    return analyse_replay(make_critic("ppo"), replay())


def splits(found: GameAnalysis) -> list[list[str]]:
    """What the log says of each turn, below its heading."""
    return [[f"Turn {turn.number + 1}, {turn.emperor.capitalize()}", split_sentence(turn.luck, turn.choice)] for turn in found.turns]


def likeliest(found: GameAnalysis, number: int) -> list[list[Any]]:
    """The first rows of the table for a decision."""
    decision = found.decisions[number]
    words = [advice.text + (" played" if advice.text == decision.action else "") for advice in decision.likeliest]
    return [[percent(one.probability), text, percent(one.chance)] for one, text in zip(decision.likeliest, words, strict=True)]


def go_to(page: Browser, number: int) -> None:
    page.run(f"(document.getElementById('slider').value = {number}, document.getElementById('slider').dispatchEvent(new Event('input')))")
    page.wait_for(f"document.getElementById('count').textContent.startsWith('{number} /')", PATIENCE)


def test_the_coach_is_asked_and_followed(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5))
    offered(page)
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", PATIENCE)
    assert "chance to win" in page.run("document.querySelector('#coach li').textContent")
    page.click("#coach li button")
    wait_for_more(page, 0)


def test_the_analysis_follows_a_game_that_goes_on(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "random", "random", "random", seed=5))
    click_in_the_list(page, offered(page)[0])
    page.click("#ask-analysis")
    page.wait_for("document.getElementById('curve') !== null", PATIENCE)
    assert page.run("document.getElementById('ask-analysis').getAttribute('aria-pressed')") == "true"
    assert "chance to win" in page.run("document.getElementById('thoughts').textContent")

    play_a_turn(page, random.Random(1))
    offered(page)  # the other three have had their turns

    found = analyse_replay(make_critic("ppo"), kept_game(server, page))
    assert [turn.number for turn in found.turns] == [0, 1, 2, 3]
    expected = json.dumps(json.dumps(splits(found), separators=(",", ":"), ensure_ascii=False))
    page.wait_for(f"JSON.stringify({SPLITS}) === {expected}", PATIENCE)
    assert page.run("document.getElementById('curve').viewBox.baseVal.width") == played(page)


def test_an_action_taken_back_is_judged_no_more(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", "person 1", "random", "random", seed=5))
    while not any(choice["action"].startswith("move") for choice in offered(page)):
        click_in_the_list(page, offered(page)[0])
    number = played(page)
    click_in_the_list(page, next(choice for choice in offered(page) if choice["action"].startswith("move")))
    page.click("#ask-analysis")
    page.wait_for(f"{POINTS} === {number + 2}", PATIENCE)
    page.press("u")

    page.wait_for(f"{POINTS} === {number + 1}", PATIENCE)
    assert page.run("document.getElementById('curve').viewBox.baseVal.width") == number


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_a_kept_game_is_analysed(server: Server, page: Browser, tmp_path: Path, size: tuple[int, int]) -> None:
    replay().save(tmp_path / "game.json")
    found, last = judged(), len(replay().actions)
    enter(page, f"{server.origin}/", size)
    page.click("details.opened:last-of-type summary")
    page.fill("#file", str(tmp_path / "game.json"))
    page.wait_for(f"document.getElementById('number').value === '{last}'")
    page.click("#begin")
    page.wait_for(f"location.pathname.startsWith('/seat/') && {OVER}", PATIENCE)
    page.click("#ask-analysis")
    page.wait_for("document.getElementById('curve') !== null", PATIENCE)

    assert page.run("document.querySelectorAll('#curve .dot').length") == 3
    marks = {place: regret_sentence(found.decisions[place]) for place in found.worst}
    assert [words.partition(": ")[2] for words in page.run(WORST)] == [marks[place] for place in sorted(marks)]
    assert sum(words.startswith("the worst choice: ") for words in page.run(WORST)) == 1
    assert page.run(SPLITS) == splits(found)
    for number in (0, 17, last - 1):
        go_to(page, number)
        assert page.run(TABLE)[: len(found.decisions[number].likeliest)] == likeliest(found, number)
        assert page.run("document.querySelectorAll('#thoughts .played').length") == 1
        assert page.run("document.querySelector('.chance strong').textContent") == percent(found.chances[number])


def test_marks_and_curve_lead_to_their_positions_and_go_away(server: Server, page: Browser) -> None:
    enter(page, server.origin + server.make_room("person 1", *["random"] * 3, replay=replay_data(replay())))
    page.wait_for(OVER, PATIENCE)
    page.click("#ask-analysis")
    page.wait_for("document.querySelectorAll('#worst button').length === 3", PATIENCE)
    page.click("#worst button")
    page.wait_for(f"document.getElementById('count').textContent.startsWith('{judged().worst[0]} /')", PATIENCE)
    assert page.run("document.getElementById('here').getAttribute('transform')") == f"translate({judged().worst[0]})"
    page.click("#curve")
    page.wait_for("document.getElementById('count').textContent.startsWith('32 /')", PATIENCE)
    page.click("#ask-analysis")

    assert page.run(
        "document.getElementById('curve') === null && document.getElementById('thoughts').hidden && document.getElementById('worst').hidden"
    )
    assert page.run(SPLITS) == page.run(WORST) == []
