"""Write the pictures of README and docs/environment.md: positions of games between random agents, and an animated game."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from tetrarchia_agents import make_agent
from tetrarchia_env.constants import ATTACK, BASE_ACTIONS, CALM, END, MODULES, SECURE, VARIANTS
from tetrarchia_env.game import Game
from tetrarchia_env.options import Options
from tetrarchia_env.render import draw_rgb
from tetrarchia_env.render.frames import Frame

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 1200
COLOURS = 128  # of the palette: half the file size, without a visible difference
ANIMATION_AGENT, ANIMATION_LEVEL, ANIMATION_SEED = "planner", "4211", 11  # won in 25 turns
ANIMATION_WIDTH, ANIMATION_COLOURS = 640, 64
FRAME_MS, LAST_FRAME_MS = 900, 4000
PICTURES = {  # options, seed, and number of actions played
    "everything": (Options(variants=VARIANTS, modules=MODULES), 35, 64),
    "carausian_revolt": (Options(scenario="carausian_revolt"), 39, 91),
}


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
    first, *others = animation()
    durations = [FRAME_MS] * len(others) + [LAST_FRAME_MS]
    first.save(FOLDER / "game.gif", save_all=True, append_images=others, duration=durations, loop=0, optimize=True)
    print("docs/pictures/game.gif")


if __name__ == "__main__":
    main()
