"""What a player needs: guided turn, rules, no slips, invitations, playback, play again, and pages that survive held keys."""

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.browser import Browser
from helpers.random_games import beside_a_revolt, random_replay
from helpers.room_page import (
    CARD_IS_OPEN,
    DESKTOP,
    IS_OVER,
    PHONE,
    TABLET,
    TIMEOUT_S,
    ask_coach,
    click_choice,
    open_page,
    position,
    saved_replay,
    wait_for_choices,
    wait_for_position_after,
)  # fmt: skip
from helpers.web_server import Server
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options

pytestmark = pytest.mark.slow
SIZES = [DESKTOP, pytest.param(TABLET, marks=pytest.mark.thorough), PHONE]
STEP = "document.getElementById('guide').checkVisibility() ? document.querySelector('#guide h2').textContent[0] : ''"
END_PLACE = "JSON.stringify(document.getElementById('end-turn').getBoundingClientRect())"
COUNT = "Number(document.getElementById('count').textContent.split(' /')[0])"
RECORD_COUNTS = f"""(window.counts = [],
    new MutationObserver(() => counts.push({COUNT})).observe(document.getElementById('count'), {{childList: true}}), 0)"""
LEGEND = "[...document.querySelectorAll('#legend [data-needs]:not([hidden])')].map((one) => one.dataset.needs)"
STATUS = "document.getElementById('status').textContent"
WATCH_SOCKETS = """window.sockets = []; window.sent = [];
    const Original = WebSocket, send = Original.prototype.send;
    Original.prototype.send = function (data) { window.sent.push(performance.now()); return send.call(this, data); };
    window.WebSocket = class extends Original { constructor(url) { super(url); window.sockets.push(this); } };"""
HOLD_KEY = """const key = arguments[0], end = performance.now() + arguments[1];
    function press() {
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, repeat: window.held}));
        window.held = true;
        performance.now() < end ? setTimeout(press, 15) : (window.held = false, done());
    }
    press();"""
MOST_SENT_IN_A_SECOND = "Math.max(0, ...sent.map((time) => sent.filter((other) => other >= time && other < time + 1000).length))"


COUNT_SOUNDS = """window.sounds = 0;
    window.AudioContext = class extends AudioContext { constructor() { super(); window.sounds += 1; } };"""


@pytest.fixture
def watched(page: Browser) -> Iterator[Browser]:
    """Yield a browser whose pages keep their WebSockets in `sockets` and the times of sent messages in `sent`."""
    script = page.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_SOCKETS)["identifier"]
    yield page
    page.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def play_until(page: Browser, action: str) -> None:
    """Play moves, arrivals and fleets until this action is legal."""
    while action not in (actions := [choice["action"] for choice in wait_for_choices(page)]):
        harmless = next(one for one in actions if one.startswith(("fleet", "enter", "move", "sail")))
        click_choice(page, {"action": harmless})


@pytest.mark.parametrize("size", SIZES)
def test_new_player_is_guided_through_the_first_turn(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, f"{server.origin}/", size, is_new_player=True)
    page.fill("#seed", "11")
    page.click("#start")
    page.wait_for("location.pathname.startsWith('/seat/')", TIMEOUT_S)
    wait_for_choices(page)
    assert page.run(STEP) == "1"
    page.click("#guide .confirm")
    assert page.run(STEP) == "2"
    play_until(page, "end")
    assert page.run(STEP) == "3"
    click_choice(page, next(one for one in wait_for_choices(page) if one["action"].startswith("move")))
    wait_for_choices(page)
    assert page.run(STEP) == "4"
    page.click("#guide .confirm")
    assert page.run(STEP) == "5"
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    click_choice(page, {"action": "end"})

    wait_for_choices(page)
    assert page.run(STEP) == ""
    page.open(page.run("location.href"))
    wait_for_choices(page)
    assert page.run(STEP) == ""


def test_guide_can_be_skipped_and_shown_again(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=5), is_new_player=True)
    wait_for_choices(page)
    page.click("#guide .tools button:last-child")
    assert (page.run(STEP), page.run("localStorage.getItem('guide')")) == ("", "done")
    page.click("#settings-menu summary")
    page.click("#restart-guide")
    assert page.run(STEP) == "1"


@pytest.mark.parametrize("size", SIZES)
def test_double_click_plays_one_action(server: Server, page: Browser, size: tuple[int, int]) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, seed=5), size)
    play_until(page, "secure")
    number, place = position(page), page.run(END_PLACE)
    page.double_click("#choices [data-action='secure']")
    wait_for_position_after(page, number)
    wait_for_choices(page)

    assert position(page) == number + 1
    assert page.run(END_PLACE) == place
    assert not page.run(CARD_IS_OPEN)


def test_end_of_turn_is_confirmed_with_ip_left(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, seed=5))
    play_until(page, "end")
    number = position(page)
    page.press("e")
    assert page.run("document.querySelector('#card .warning').textContent").startswith("6 IP")
    page.press("Escape")
    assert not page.run(CARD_IS_OPEN)
    assert position(page) == number
    page.press("e", "Enter")
    wait_for_position_after(page, number)


def test_warning_names_the_emperor_who_would_be_driven_off(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, replay=replay_data(beside_a_revolt())))
    play_until(page, "end")
    click_choice(page, {"action": "move PANNONIA SVPERIOR"})  # a Revolt
    wait_for_choices(page)
    page.press("e")
    assert any("Galerius" in text for text in page.run("[...document.querySelectorAll('#card .warning')].map((one) => one.textContent)"))


def test_another_player_who_joins_closes_neither_card_nor_advice(server: Server, page: Browser) -> None:
    path = server.create_room("player 2", "player 1", "random", "random", replay=replay_data(beside_a_revolt()))
    open_page(page, server.origin + path)
    wait_for_choices(page)
    link = page.run("new URL(document.querySelector('#players li .link input').value).pathname")
    page.press("Escape")
    ask_coach(page)
    page.click("#choices .combat")
    server.connect(link)
    page.wait_for("document.querySelector('#players-menu summary').textContent === 'Players'", TIMEOUT_S)

    assert page.run(CARD_IS_OPEN)
    assert page.run("document.querySelectorAll('#coach li').length > 0 && !document.getElementById('coach').hidden")
    assert page.run("document.querySelectorAll('#advice .advice').length") > 0


@pytest.mark.parametrize("key", ["h", "ArrowRight", "ArrowLeft", "e"])
def test_held_key_stays_below_the_rate_limit(server: Server, watched: Browser, key: str) -> None:
    seats = ["random"] * 4 if key == "ArrowRight" else ["player 1", *["random"] * 3]
    rules = {"seed": 5} if key != "ArrowLeft" else {"replay": replay_data(random_replay(Options(level="4200"), 129, 1000))}
    open_page(watched, server.origin + server.create_room(*seats, **rules))
    watched.wait_for("document.getElementById('decision-title').textContent.match(/press play|place a fleet|is over/)", TIMEOUT_S)
    watched.run_program(HOLD_KEY, key, 3_000)

    assert watched.run(MOST_SENT_IN_A_SECOND) <= 34  # 20 at once, then 12 per second; the server allows 60, then 20
    assert watched.run(STATUS) == ""
    assert watched.run("sockets.length") == 1
    assert watched.run("sockets[0].readyState") == 1
    assert watched.run("sent.length") <= (60 if key.startswith("Arrow") else 3)


def test_lost_connection_keeps_the_choices(server: Server, watched: Browser) -> None:
    open_page(watched, server.origin + server.create_room("player 1", *["random"] * 3, seed=5))
    choices = wait_for_choices(watched)
    watched.run("(sockets.at(-1).close(), 0)")
    watched.wait_for(f"{STATUS}.startsWith('Connection lost')")
    assert wait_for_choices(watched) == choices
    watched.wait_for(f"sockets.length > 1 && {STATUS} === ''", TIMEOUT_S)
    click_choice(watched, choices[0])


def test_consent_is_not_asked_without_a_study(server: Server, page: Browser) -> None:
    open_page(page, f"{server.origin}/")
    assert not page.run("document.getElementById('consent-field').checkVisibility()")


def test_creator_without_a_seat_sees_the_invitation(server: Server, page: Browser) -> None:
    open_page(page, f"{server.origin}/")
    page.run("(document.getElementById('seat-diocletian').value = 'player 2', 0)")
    page.run("document.getElementById('seat-diocletian').dispatchEvent(new Event('change'))")
    page.click("#start")
    page.wait_for("document.getElementById('players-menu')?.open", TIMEOUT_S)
    link = page.run("new URL(document.querySelector('#players li .link input').value).pathname")
    assert page.run("document.getElementById('identity').textContent") == "You are a spectator"
    assert server.connect(link).own_decision()["choices"]


def test_rules_that_an_agent_does_not_know_switch_the_agent(server: Server, page: Browser) -> None:
    open_page(page, f"{server.origin}/")
    assert page.run("document.getElementById('seat-galerius').value") == "ppo"
    page.click("#modules input[value='dux']")
    assert page.run("document.getElementById('seat-galerius').value") == "random"
    assert page.run("document.getElementById('agents-note').checkVisibility()")
    page.click("#modules input[value='dux']")
    assert page.run("document.getElementById('seat-galerius').value") == "ppo"


def test_page_says_who_the_player_is_and_whose_turn_it_is(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 2", "player 1", "random", "random", replay=replay_data(beside_a_revolt())))
    wait_for_choices(page)
    assert page.run("document.getElementById('identity').textContent") == "You are Galerius"
    assert "Your turn" in page.run("document.title")


def test_sound_is_played_once_when_the_turn_begins(server: Server, page: Browser) -> None:
    script = page.command("Page.addScriptToEvaluateOnNewDocument", source=COUNT_SOUNDS)["identifier"]
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=5))
    play_until(page, "end")
    assert page.run("sounds") == 0  # it is off by default
    page.click("#settings-menu summary")
    page.click("#sound")
    page.press("Escape")
    click_choice(page, next(choice for choice in wait_for_choices(page) if choice["action"].startswith("move")))
    wait_for_choices(page)
    assert page.run("sounds") == 0  # the turn continues

    click_choice(page, {"action": "end"})
    wait_for_choices(page)  # after the turns of the three agents
    assert page.run("sounds") == 1
    click_choice(page, wait_for_choices(page)[-1])
    assert page.run("sounds") == 1
    page.open(page.run("location.href"))
    assert page.run("document.getElementById('sound').checked")  # the browser remembers it
    page.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def test_task_is_chosen_in_the_lobby(server: Server, page: Browser) -> None:
    open_page(page, f"{server.origin}/")
    page.run("(document.getElementById('task').value = 'last-two', document.getElementById('task').dispatchEvent(new Event('change')))")
    assert page.run("document.getElementById('digit-0').disabled && document.getElementById('scenario').disabled")
    page.click("#start")
    page.wait_for("location.pathname.startsWith('/seat/')", TIMEOUT_S)
    click_choice(page, wait_for_choices(page)[0])

    assert saved_replay(server, page).options.task == "last-two"
    assert page.run("document.querySelectorAll('#pieces .secured').length") == 4


@pytest.mark.parametrize("size", SIZES)
def test_replay_is_played_from_the_position_shown(server: Server, page: Browser, size: tuple[int, int]) -> None:
    replay = random_replay(Options(level="4211"), 7, 1000)
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay)), size)
    page.wait_for(IS_OVER, TIMEOUT_S)
    page.run("(document.getElementById('slider').value = 30, document.getElementById('slider').dispatchEvent(new Event('input')))")
    page.wait_for(f"{COUNT} === 30", TIMEOUT_S)
    page.run(RECORD_COUNTS)
    page.click("#play")
    page.wait_for(f"{COUNT} >= 35", TIMEOUT_S)
    page.click("#play")

    counts = page.run("counts")
    assert counts == list(range(31, 31 + len(counts)))
    shown = page.run(COUNT)
    assert page.run("document.getElementById('play').getAttribute('aria-label')") == "Play"
    page.wait_for(f"{COUNT} === {shown}")


def test_finished_game_can_be_played_again(server: Server, page: Browser) -> None:
    replay = random_replay(Options(level="4211"), 7, 1000)
    first = server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay))
    seeds = []
    for button in ("#same-dice", "#play-again"):
        open_page(page, first)
        page.wait_for(IS_OVER, TIMEOUT_S)
        page.click(button)
        page.wait_for(f"location.href !== '{first}'", TIMEOUT_S)
        click_choice(page, wait_for_choices(page)[0])
        found = saved_replay(server, page)
        assert (found.options.level, len(found.actions)) == ("4211", 1)
        seeds.append(found.seed)
        first = server.origin + server.create_room("player 1", *["random"] * 3, replay=replay_data(replay))
    assert seeds[0] == replay.seed != seeds[1]
    open_page(page, first)
    page.wait_for(IS_OVER, TIMEOUT_S)
    page.click("#to-lobby")
    page.wait_for("document.getElementById('setup') !== null", TIMEOUT_S)


def test_rules_fit_on_one_screen_and_close_with_escape_and_outside_clicks(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, scenario="carausian_revolt"))
    wait_for_choices(page)
    page.press("?")
    rules = "document.getElementById('rules')"
    assert page.run(f"{rules}.open && {rules}.scrollHeight <= {rules}.clientHeight")
    assert page.run("document.querySelectorAll('#rules .picture svg').length") == 5
    assert page.run(LEGEND) == ["rebel", "pirates"]
    page.press("Escape")
    assert not page.run(f"{rules}.open")
    page.click("#rules-button")
    page.tap(5, 300)
    page.wait_for(f"!{rules}.open")
    page.click("#save-menu summary")
    page.click("#log")
    assert not page.run("document.getElementById('save-menu').open")


def test_tooltip_describes_a_space(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room(*["player 1"] * 4, replay=replay_data(beside_a_revolt())))
    wait_for_choices(page)
    page.point_at("#ground [data-space='DACIA']")
    page.wait_for("!document.getElementById('tooltip').hidden")
    text = page.run("document.getElementById('tooltip').textContent")
    assert all(word in text for word in ("DACIA", "Revolt", "next: PANNONIA INFERIOR"))


def test_keyboard_sheet_is_hidden_on_touch_screens(server: Server, page: Browser) -> None:
    open_page(page, server.origin + server.create_room("player 1", *["random"] * 3, seed=5), PHONE)
    wait_for_choices(page)
    assert not page.run("document.getElementById('help').checkVisibility()")
