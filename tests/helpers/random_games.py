"""Games of random legal actions, for rendering and replays."""

import random
from typing import Any

import numpy as np

from tetrarchia_env.batch import new_games, step
from tetrarchia_env.game import Game
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.notation import Replay, record_replay
from tetrarchia_env.options import Options
from tetrarchia_env.render.frames import Frame

EVERYTHING = Options(
    level=["4211", "3122"],
    variants=["imperivm", "mare_nostrvm", "diarchia", "patres_patriae", "the_great"],
    modules=["dux", "pirates", "goths"],
)


def random_game(seed: int = 1, **arguments: Any) -> list[Frame]:
    return random_frames(Options(**arguments), seed)


def random_frames(options: Options, seed: int) -> list[Frame]:
    chooser = random.Random(seed)
    return list(Game.from_options(options, seed, lambda game: int(chooser.choice(np.flatnonzero(game.masks[0])))).frames())


def random_replay(options: Options, seed: int, most: int, local: LocalOptions = FULL_INFORMATION) -> Replay:
    """Return the replay of a game of at most `most` random actions."""
    rng = random.Random(seed)
    games, masks = new_games(options, seed, local.message_tokens)
    actions: list[int] = []
    while masks.any() and len(actions) < most:
        actions.append(rng.choice(np.flatnonzero(masks[0]).tolist()))
        step(games, np.array(actions[-1:]), masks)
    return record_replay(options, seed, actions, local)


def beside_a_revolt() -> Replay:
    """Return a game in which Galerius may attack: 15 of 36 rolls win, 6 draw, 15 lose, and both sides have a chain."""
    return random_replay(Options(level="4211"), 28, 8)
