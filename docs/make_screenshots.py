"""Take the screenshots of the documentation, docs/pictures/*.png: `PYTHONPATH=tests python docs/make_screenshots.py`.

Needs Chromium and chromedriver; uses the browser and the server of the tests.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from helpers.browser import Browser, browser
from helpers.random_games import beside_a_revolt
from helpers.room_page import DESKTOP, PHONE, ask_coach, open_page, wait_for_choices
from helpers.web_server import Server, serving
from tetrarchia_app.cli.serve import make_coach
from tetrarchia_env.notation import replay_data

FOLDER = Path(__file__).parent / "pictures"
PALETTE_COLORS = 256
ANIMATION_S = 0.6  # longer than any animation
REPLAY = "Four greedy agents, seed 3"


def attack(server: Server, page: Browser) -> None:
    """Show the card of an attack by Galerius, and the coach's suggestions."""
    open_room(server, page, DESKTOP)
    page.click("#targets [data-place='DACIA'] .ring")


def phone(server: Server, page: Browser) -> None:
    """Show the same turn on a phone, with the enlarged map."""
    open_room(server, page, PHONE)
    page.click("#zoom")
    page.run("scrollTo(0, 0)")


def rules(server: Server, page: Browser) -> None:
    """Show the rules panel."""
    open_page(page, server.origin + server.create_room("player 1", "ppo", "ppo", "ppo", seed=11), DESKTOP)
    wait_for_choices(page)
    page.click("#rules-button")


def open_room(server: Server, page: Browser, size: tuple[int, int]) -> None:
    """Open a game with three trained agents at a decision of the player."""
    path = server.create_room("ppo", "player 1", "ppo", "ppo", replay=replay_data(beside_a_revolt()))
    open_page(page, server.origin + path, size)
    wait_for_choices(page)
    ask_coach(page)


def analysis(_: Server, page: Browser) -> None:
    """Show the replay page of the documentation's example at its worst choice."""
    with TemporaryDirectory() as folder:
        game = Path(folder) / f"{REPLAY}.json"
        run_command("watch", "--agents", "greedy", "--seed", "3", "--save", str(game))
        run_command("replay", str(game), "--html", str(game.with_suffix(".html")), "--analyse", "ppo")
        page.resize(1280, 800)
        page.open(game.with_suffix(".html").as_uri())
        page.run("entries.find((entry) => entry.textContent.includes('the worst choice')).click()")
        page.run("document.fonts.ready")


def run_command(*arguments: str) -> None:
    """Run `tetrarchia` with these arguments."""
    subprocess.run([Path(sys.executable).with_name("tetrarchia"), *arguments], check=True, stdout=subprocess.DEVNULL)


PICTURES: dict[str, Callable[[Server, Browser], None]] = {
    "play_attack": attack,
    "play_phone": phone,
    "play_rules": rules,
    "analysis": analysis,
}


def take_screenshot(page: Browser, name: str) -> None:
    """Save a screenshot in CSS pixels, with a palette that keeps rare colors such as an Emperor's."""
    time.sleep(ANIMATION_S)
    path = FOLDER / f"{name}.png"
    page.screenshot(path)
    with Image.open(path) as shot:
        picture = shot.convert("RGB").resize((page.run("innerWidth"), page.run("innerHeight")), Image.Resampling.LANCZOS)
    picture.quantize(PALETTE_COLORS, Image.Quantize.MAXCOVERAGE, kmeans=1).save(path, optimize=True)
    print(f"docs/pictures/{name}.png")


def main() -> None:
    """Take all screenshots."""
    with TemporaryDirectory() as folder:
        temporary = Path(folder)
        with serving(temporary / "rooms", ("ppo",), coach=make_coach("ppo")) as server, browser(temporary / "profile") as page:
            for name, show in PICTURES.items():
                page.reset(server.origin)
                show(server, page)
                take_screenshot(page, name)


if __name__ == "__main__":
    main()
