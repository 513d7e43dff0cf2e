"""Write the pictures of pages, docs/pictures/*.png: `PYTHONPATH=tests python docs/make_screenshots.py`; needs Chromium and chromedriver.

The browser and the server are those of the tests.
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
from helpers.room_page import PATIENCE, PHONE, WIDE, enter, offered
from helpers.web_server import Server, serving
from tetrarchia_app.cli.serve import thinkers
from tetrarchia_env.notation import replay_data

FOLDER = Path(__file__).parent / "pictures"
COLOURS = 256  # of the palette, chosen so that rare ones, such as an Emperor's, are among them
STILL = 0.6  # seconds until nothing moves any more
REPLAY = "Four greedy agents, seed 3"


def attack(server: Server, page: Browser) -> None:
    """Galerius thinks an attack over, and has asked the coach."""
    open_room(server, page, WIDE)
    page.click("#targets [data-place='DACIA'] .ring")


def phone(server: Server, page: Browser) -> None:
    """The same turn on a phone, with the large map."""
    open_room(server, page, PHONE)
    page.click("#zoom")
    page.run("scrollTo(0, 0)")


def open_room(server: Server, page: Browser, size: tuple[int, int]) -> None:
    """A game with three trained colleagues, in which the person is asked."""
    enter(page, server.origin + server.make_room("ppo", "person 1", "ppo", "ppo", replay=replay_data(beside_a_revolt())), size)
    offered(page)
    page.press("h")
    page.wait_for("document.querySelectorAll('#coach li').length > 0", PATIENCE)


def analysis(_: Server, page: Browser) -> None:
    """The page of a replay that the docs tell how to make, at its worst choice."""
    with TemporaryDirectory() as folder:
        game = Path(folder) / f"{REPLAY}.json"
        command("watch", "--agents", "greedy", "--seed", "3", "--save", str(game))
        command("replay", str(game), "--html", str(game.with_suffix(".html")), "--analyse", "ppo")
        page.resize(1280, 800)
        page.open(game.with_suffix(".html").as_uri())
        page.run("entries.find((entry) => entry.textContent.includes('the worst choice')).click()")
        page.run("document.fonts.ready")


def command(*words: str) -> None:
    """Of `tetrarchia`, as a user runs it."""
    subprocess.run([Path(sys.executable).with_name("tetrarchia"), *words], check=True, stdout=subprocess.DEVNULL)


PICTURES: dict[str, Callable[[Server, Browser], None]] = {"play_attack": attack, "play_phone": phone, "analysis": analysis}


def photograph(page: Browser, name: str) -> None:
    """In the pixels of the page, though a phone has finer ones."""
    time.sleep(STILL)
    path = FOLDER / f"{name}.png"
    page.photograph(path)
    with Image.open(path) as shot:
        picture = shot.convert("RGB").resize((page.run("innerWidth"), page.run("innerHeight")), Image.Resampling.LANCZOS)
    picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1).save(path, optimize=True)
    print(f"docs/pictures/{name}.png")


def main() -> None:
    """Take them all."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        with serving(place / "rooms", ("ppo",), **thinkers("ppo")) as server, browser(place / "profile") as page:
            for name, show in PICTURES.items():
                page.forget(server.origin)
                show(server, page)
                photograph(page, name)


if __name__ == "__main__":
    main()
