"""Games of random legal actions, to be shown."""

import random
from typing import Any

import numpy as np

from tetrarchia_env.options import Options
from tetrarchia_env.show import Frame, frames_of_play


def random_game(seed: int = 1, **arguments: Any) -> list[Frame]:
    chooser = random.Random(seed)
    return list(frames_of_play(Options(**arguments), seed, lambda _, mask: int(chooser.choice(np.flatnonzero(mask)))))
