"""Spaces that every environment API shares, and the values of the arguments `mask` and `render_mode`."""

from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces

from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import SIZE
from tetrarchia_env.schema import truncate_repr

Obs = Any  # {"observation": vector, "action_mask": mask}, or with mask="info" the vector alone
MaskPlace = Literal["observation", "info"]
RenderMode = Literal["ansi", "rgb_array", "human", "svg"]
VectorRenderMode = Literal["ansi", "rgb_array", "svg"]
MASKS: tuple[str, ...] = get_args(MaskPlace)
RENDER_MODES: tuple[str, ...] = get_args(RenderMode)
VECTOR_RENDER_MODES: tuple[str, ...] = get_args(VectorRenderMode)
RENDER_FPS = 2  # steps per second in the mode `human`


def vector_space(size: int = SIZE) -> spaces.Box:
    """Return the space of the observation vector; `observation.py` lists its parts."""
    return spaces.Box(-1, 1, (size,), np.float32)


def observation_space(mask: str, actions: int = ACTIONS, size: int = SIZE) -> spaces.Space:
    """Return the space of an observation: with the action mask, or the vector alone if the mask is in the info."""
    if mask == "info":
        return vector_space(size)
    return spaces.Dict({"observation": vector_space(size), "action_mask": spaces.Box(0, 1, (actions,), np.int8)})


def check_mask(mask: str) -> str:
    """Return the argument `mask`, checked."""
    if mask not in MASKS:
        raise TetrarchiaError(f"mask must be one of {', '.join(MASKS)}; got {truncate_repr(mask)}")
    return mask


def check_render_mode(mode: str | None, allowed: tuple[str, ...] = RENDER_MODES) -> str | None:
    """Return the argument `render_mode`, checked."""
    if mode is not None and mode not in allowed:
        raise TetrarchiaError(f"render_mode must be None or one of {', '.join(allowed)}; got {truncate_repr(mode)}")
    return mode
