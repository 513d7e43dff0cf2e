"""The spaces that every API of the environment shares, and its arguments."""

from typing import Any

import numpy as np
from gymnasium import spaces

from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import SIZE
from tetrarchia_env.schema import truncate_repr

Obs = Any  # {"observation": vector, "action_mask": mask}, or with mask="info" the vector alone
MASKS = ("observation", "info")  # where the mask of legal actions is
RENDER_MODES = ("ansi", "rgb_array", "human", "svg")
RENDER_MODES_OF_MANY = tuple(mode for mode in RENDER_MODES if mode != "human")
RENDER_FPS = 2  # steps a second that `human` shows, so that a person can follow


def vector_space() -> spaces.Box:
    """The observation as one vector; its parts are in `observation.py`."""
    return spaces.Box(-1, 1, (SIZE,), np.float32)


def dict_space(actions: int = ACTIONS) -> spaces.Dict:
    """The observation with the mask of legal actions."""
    return spaces.Dict({"observation": vector_space(), "action_mask": spaces.Box(0, 1, (actions,), np.int8)})


def observation_space(mask: str, actions: int = ACTIONS) -> spaces.Space:
    """With the mask of legal actions, or the vector alone where the info has the mask."""
    return dict_space(actions) if mask == "observation" else vector_space()


def check_mask(place: str) -> str:
    """The place, if it is one of those that there are."""
    if place not in MASKS:
        raise TetrarchiaError(f"unknown mask {truncate_repr(place)}: choose one of {', '.join(MASKS)}")
    return place


def check_render_mode(name: str | None) -> str | None:
    """The name, if it is one of those that there are."""
    if name is not None and name not in RENDER_MODES:
        raise TetrarchiaError(f"unknown render_mode {name!r}: choose None or one of {', '.join(RENDER_MODES)}")
    return name


def check_render_mode_of_many(name: str | None) -> str | None:
    """The same for many games at once, which no window shows."""
    if name == "human":
        raise TetrarchiaError(f"render_mode 'human' shows one game, not many: choose None or one of {', '.join(RENDER_MODES_OF_MANY)}")
    return check_render_mode(name)
