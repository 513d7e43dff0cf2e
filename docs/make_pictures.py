"""Write the README's pictures, docs/pictures/*.png, each a position of a game between random agents."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from tetrarchia_env.constants import ATTACK, BASE_ACTIONS, CALM, END, MODULES, SECURE, VARIANTS
from tetrarchia_env.game import Game
from tetrarchia_env.options import Options
from tetrarchia_env.render import draw_rgb
from tetrarchia_env.render.frames import Frame

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 1200
COLOURS = 128  # of the palette: half the file, and nothing seen of it
PICTURES = {  # options, seed, and after how many actions
    "everything": (Options(variants=VARIANTS, modules=MODULES), 35, 64),
    "carausian_revolt": (Options(scenario="carausian_revolt"), 39, 91),
}


def position(options: Options, seed: int, actions: int) -> Frame:
    """Return the position after this number of actions."""
    return Game.from_options(options, seed, random_policy(seed)).frame(actions)


def random_policy(seed: int) -> Callable[[Game], int]:
    """Return a random policy that secures, subdues, calms and attacks whenever it can, and never ends its turn early."""
    dice = random.Random(seed)

    def choose(game: Game) -> int:
        legal = np.flatnonzero(game.masks[0])
        preferred = [action for action in legal if SECURE <= action <= CALM or ATTACK <= action < BASE_ACTIONS]
        return int(dice.choice(preferred or [action for action in legal if action != END]))

    return choose


def main() -> None:
    """Write every picture."""
    FOLDER.mkdir(exist_ok=True)
    for name, arguments in PICTURES.items():
        frame = position(*arguments)
        pixels = draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice, width=WIDTH)
        Image.fromarray(pixels).quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)
        print(f"docs/pictures/{name}.png")


if __name__ == "__main__":
    main()
