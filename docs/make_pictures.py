"""Write the pictures of README and docs: positions of games between random agents, four views of a position, and an animated game."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tetrarchia_agents import make_agent
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.constants import ATTACK, BASE_ACTIONS, CALM, END, MODULES, SECURE, VARIANTS
from tetrarchia_env.game import Game
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.options import Options
from tetrarchia_env.render import draw_rgb, theme
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.raster import FONTS
from tetrarchia_env.render.svg import height_of

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 1200
COLOURS = 128  # of the palette: half the file size, without a visible difference
ANIMATION_AGENT, ANIMATION_LEVEL, ANIMATION_SEED = "planner", "4211", 11  # won in 25 turns
ANIMATION_WIDTH, ANIMATION_COLOURS = 640, 64
FRAME_MS, LAST_FRAME_MS = 900, 4000
VIEWS_SEED, VIEWS_ACTIONS, VIEWS_WIDTH = 22, 70, 1600
PICTURES = {  # options, seed, and number of actions played
    "everything": (Options(variants=VARIANTS, modules=MODULES), 35, 64),
    "carausian_revolt": (Options(scenario="carausian_revolt"), 39, 91),
}


def four_views() -> Image.Image:
    """Return the maps of a position as the four Emperors see it (R14)."""
    game = Game.from_options(Options(level="4222"), VIEWS_SEED, random_policy(VIEWS_SEED), LocalOptions(view_radius=2, last_seen=True))
    game.frame(VIEWS_ACTIONS)
    width, height = VIEWS_WIDTH // 2, height_of(VIEWS_WIDTH // 2 * theme.WIDTH // theme.MAP_WIDTH)
    picture = Image.new("RGB", (2 * width, 2 * height))
    font = ImageFont.truetype(FONTS[0], VIEWS_WIDTH // 50)
    for number, emperor in enumerate(EMPERORS):
        pixels = draw_rgb(game.visible_snapshot(emperor), width=width * theme.WIDTH // theme.MAP_WIDTH)
        corner = (number % 2 * width, number // 2 * height)
        picture.paste(Image.fromarray(pixels[:, :width]), corner)
        ImageDraw.Draw(picture).text((corner[0] + width - 8, corner[1] + 6), emperor.capitalize(), theme.INK, font, anchor="ra")
    return picture


def position(options: Options, seed: int, actions: int) -> Frame:
    """Return the game after a number of actions."""
    return Game.from_options(options, seed, random_policy(seed)).frame(actions)


def random_policy(seed: int) -> Callable[[Game], int]:
    """A random agent that secures, subdues, calms and attacks whenever it can, and never ends its turn early."""
    dice = random.Random(seed)

    def choose(game: Game) -> int:
        legal = np.flatnonzero(game.masks[0])
        telling = [action for action in legal if SECURE <= action <= CALM or ATTACK <= action < BASE_ACTIONS]
        return int(dice.choice(telling or [action for action in legal if action != END]))

    return choose


def animation() -> list[Image.Image]:
    """Return a picture of the board after each turn of a game."""
    game, agent = Game(level=ANIMATION_LEVEL, seed=ANIMATION_SEED), make_agent(ANIMATION_AGENT)
    pictures = [game.snapshot()]
    while not game.is_over:
        game.play_turn(agent)
        pictures.append(game.snapshot())
    return [Image.fromarray(draw_rgb(one, width=ANIMATION_WIDTH)).quantize(ANIMATION_COLOURS) for one in pictures]


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, arguments in PICTURES.items():
        frame = position(*arguments)
        pixels = draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice, width=WIDTH)
        Image.fromarray(pixels).quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)
        print(f"docs/pictures/{name}.png")
    four_views().quantize(COLOURS).save(FOLDER / "four_views.png", optimize=True)
    print("docs/pictures/four_views.png")
    first, *others = animation()
    durations = [FRAME_MS] * len(others) + [LAST_FRAME_MS]
    first.save(FOLDER / "game.gif", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    print("docs/pictures/game.gif")


if __name__ == "__main__":
    main()
