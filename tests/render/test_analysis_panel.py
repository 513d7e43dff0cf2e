"""Position analysis on the replay page: texts, curve and marks, also in a real browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from helpers.browser import Browser
from helpers.random_games import random_replay
from tetrarchia_env.game import Game
from tetrarchia_env.game_analysis import Advice, Decision, GameAnalysis, regret_sentence, split_sentence
from tetrarchia_env.notation import Replay
from tetrarchia_env.options import Options
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.page import replay_page

ATTACK = '</script><img src="x" onerror="alert(1)">&amp; "$title"'
WORST = (7, 30, 2)  # indices of decisions of the example game, worst first
PHONES = [(360, 640), (390, 844), (844, 390)]


@cache
def replay() -> Replay:
    """Return a game of 43 actions in 9 turns in which Rome falls."""
    return random_replay(Options(), 11, 1000)


@cache
def frames() -> tuple[Frame, ...]:
    return tuple(Game.from_replay(replay()).frames())


@cache
def analysis() -> GameAnalysis:
    """Return an invented analysis: the win probability falls evenly from 86 % to 0; dice cost 3 % per decision, choices gain 1 %."""
    return GameAnalysis("ppo", tuple(decision(k) for k in range(len(frames()) - 1)))


def decision(k: int) -> Decision:
    frame, before = frames()[k], (43 - k) / 50
    better = {WORST[0]: 0.2, WORST[1]: 0.1, WORST[2]: 0.05}.get(k, 0.0)
    advice = (Advice(0, "end", 0.7, before + 0.01 + better, 0.0), Advice(1, "secure", 0.2, before - 0.2, 0.0))
    action = str(frames()[k + 1].action)
    return Decision(frame.snapshot["turn"], frame.snapshot["emperor"], action, before, before + 0.01, before - 0.02, advice)


@cache
def page() -> str:
    return replay_page(frames(), "A game", analysis())


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_example_analysis_is_consistent() -> None:
    found = analysis()

    assert found.win_probabilities == pytest.approx([k / 50 for k in range(43, -1, -1)])
    assert sum(turn.choice + turn.luck for turn in found.turns) == pytest.approx(-43 / 50)
    assert found.worst == WORST


@pytest.mark.parametrize(
    ("luck", "choice", "sentence"),
    [
        (-0.11, -0.03, "the dice cost 11 %, the choices 3 %"),
        (0.02, -0.3, "the choices cost 30 %, the dice gained 2 %"),
        (0.004, 0.05, "the choices gained 5 %"),
        (0.004, -0.004, "neither the dice nor the choices changed much"),
    ],
)
def test_split_sentence_describes_the_effect_of_dice_and_choices(luck: float, choice: float, sentence: str) -> None:
    assert plain(split_sentence(luck, choice)) == sentence


def test_choice_is_compared_with_the_best_likely_action() -> None:
    assert plain(regret_sentence(analysis().decisions[WORST[0]])) == "20 % worse than end"
    assert analysis().decisions[0].regret == 0


def test_only_choices_with_regret_are_marked_as_worst() -> None:
    good = GameAnalysis("ppo", tuple(decision(k) for k in range(7)))

    assert good.worst == (2,)


def test_page_has_curve_turns_and_marks() -> None:
    text = plain(page())

    line = re.search(r'class="line" d="M([^"]+)"', text)
    assert line is not None
    assert len(line[1].split()) == 2 * len(frames())
    assert text.count('class="dot"') == text.count('class="event mistake"') == 3
    assert text.count("the worst choice: 20 % worse than end") == 1
    assert text.count('<p class="luck">the dice cost') == 9
    assert "by ppo: 86 % at first, 0 % at the end" in text


def test_page_without_analysis_has_no_analysis_elements() -> None:
    text = replay_page(frames(), "A game")

    for part in ('id="curve"', 'id="analysis"', 'class="luck"', "event mistake"):
        assert part not in text


def test_texts_of_an_analysis_are_escaped() -> None:
    wild = Advice(0, ATTACK, 0.5, 1.0, 0.0)
    decisions = tuple(replace(one, top_actions=(wild,)) for one in analysis().decisions)

    tags = re.findall(r"<(\w+)", replay_page(frames(), "A game", GameAnalysis(ATTACK, decisions)))

    assert "img" not in tags
    assert tags.count("script") == 2


def test_analysis_of_another_game_is_refused() -> None:
    with pytest.raises(ValueError, match="43 decisions, but the game has 5"):
        replay_page(frames()[:6], "A game", analysis())


def test_game_without_decisions_has_a_page_without_curve() -> None:
    assert 'id="curve"' not in replay_page(frames()[:1], "A game", GameAnalysis("ppo", ()))


@pytest.fixture
def window(chromium: Browser, tmp_path: Path) -> Iterator[Browser]:
    """Open the page at desktop size; check afterwards that the console has no errors."""
    (tmp_path / "page.html").write_text(page(), encoding="utf-8")
    chromium.resize(1280, 800)
    chromium.open((tmp_path / "page.html").as_uri())
    yield chromium
    assert chromium.console_errors() == []


def text_of(window: Browser, selector: str) -> str:
    return plain(window.run(f"document.querySelector('{selector}').textContent"))


@pytest.mark.slow
def test_analysis_and_curve_follow_the_game(window: Browser) -> None:
    assert text_of(window, "#analysis .chance") == "86 % chance to win"
    window.press("Right", "Right", "Right")
    assert text_of(window, "#analysis .chance") == "80 % chance to win"
    assert window.run("cursor.getAttribute('transform')") == "translate(3)"
    assert text_of(window, ".likeliest .played").startswith("< 20 %" + str(frames()[4].action))
    assert text_of(window, "#log [aria-current] .mistake") == "one of the three worst choices: 5 % worse than end"
    assert "worst choices" in text_of(window, "#live")
    window.press("End")
    assert text_of(window, "#analysis .chance") == "0 % chance to win"
    assert window.run("document.querySelector('.likeliest')") is None


@pytest.mark.slow
def test_click_on_the_curve_jumps_to_that_position(window: Browser) -> None:
    window.click("#curve")  # clicks the center

    assert abs(window.run("current") - 21.5) < 2


@pytest.mark.slow
def test_curve_is_as_wide_as_the_range_of_the_slider_thumb(window: Browser) -> None:
    slider, curve = (window.run(f"(({{left, right}}) => [left, right])({name}.getBoundingClientRect())") for name in ("slider", "curve"))

    assert curve == [slider[0] + 8, slider[1] - 8]


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), PHONES)
def test_curve_and_controls_are_visible_on_a_phone(window: Browser, width: int, height: int) -> None:
    window.resize(width, height, phone=True)

    for key in ("Home", "End", "PageUp"):
        window.press(key)
        assert window.run("document.documentElement.scrollWidth <= innerWidth")
        assert [one for one in ("#curve", "#slider", "#play", "#speed", "#last") if not window.sees(one)] == []


@pytest.mark.slow
def test_replay_command_analyses_a_saved_game(chromium: Browser, tmp_path: Path) -> None:
    """The page of a replay file has the curve and the three worst choices according to `ppo`."""
    pytest.importorskip("torch")
    from tetrarchia_app.cli.app import run

    replay().save(tmp_path / "game.json")
    code = run(["replay", str(tmp_path / "game.json"), "--html", str(tmp_path / "game.html"), "--analyse", "ppo"])
    chromium.resize(1280, 800)
    chromium.open((tmp_path / "game.html").as_uri())

    assert code == 0
    assert chromium.run("document.querySelectorAll('#curve .dot').length") == 3
    assert chromium.run("document.querySelectorAll('#log .mistake').length") == 3
    assert re.fullmatch(r"\d+ % chance to win", text_of(chromium, "#analysis .chance"))
    assert chromium.run("document.querySelectorAll('.likeliest tbody tr').length") >= 3
    chromium.press("End")
    assert text_of(chromium, "#analysis .chance") == "0 % chance to win"
    assert chromium.console_errors() == []
