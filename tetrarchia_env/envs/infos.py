"""Infos of every API: numbers only, with the same keys from reset to end.

`turn` counts finished turns, `score` is R9.3, `outcome` and `agent` are codes (`agent`: the Emperor to act, after the end the
Emperor whose turn it was), and `illegal_action` is 1 if the last action was illegal. With mask="info" there is also `action_mask`, and
in the APIs with one reward per game, if the reward object pays each Emperor, `rewards` with the four amounts of the last step.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OUTCOMES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

Status = Any  # four numbers, or four arrays with a number per game: Emperor to act, outcome, score, turn


def info_of(
    status: Status, illegal_action: Any = 0, mask: NDArray[np.int8] | None = None, rewards: NDArray[np.float64] | None = None
) -> dict[str, Any]:
    """Return the info of one game, or of many as arrays."""
    to_act, outcome, score, turn = status
    info = {"turn": turn, "score": score, "outcome": outcome, "agent": to_act, "illegal_action": illegal_action}
    if mask is not None:
        info["action_mask"] = mask
    if rewards is not None:
        info["rewards"] = rewards
    return info


def infos_of(status: NDArray[np.int64], illegal_actions: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return a list of infos without masks; written out for speed, because a step of thousands of games calls this once."""
    columns = (*status.tolist(), illegal_actions.tolist())
    return [
        {"turn": turn, "score": score, "outcome": outcome, "agent": to_act, "illegal_action": illegal}
        for to_act, outcome, score, turn, illegal in zip(*columns, strict=True)
    ]


def mask_info(info: dict[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return a vector info that only some games have, in Gymnasium's format: 0 elsewhere, and `_key` marks these games."""
    for values in info.values():
        values[~rows] = 0
    return with_presence(info, rows)


def with_presence(info: dict[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Add Gymnasium's `_key` to each key."""
    return info | {f"_{key}": rows for key in info}


def outcome_name(code: int) -> str:
    """Return the name of an outcome code.

    Args:
        code: `info["outcome"]`, 0 to 4.

    >>> [outcome_name(code) for code in range(5)]
    ['running', 'won', 'rome fell', 'reserve empty', 'truncated']
    """
    return _name(code, OUTCOMES, "outcome code")


def agent_name(code: int) -> str:
    """Return the name of an agent code.

    Args:
        code: `info["agent"]`, 0 to 3.

    >>> [agent_name(code) for code in range(4)]
    ['diocletian', 'galerius', 'constantius', 'maximian']
    """
    return _name(code, EMPERORS, "agent code")


def _name(code: object, names: tuple[str, ...], what: str) -> str:
    if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < len(names):
        raise TetrarchiaError(f"{what} must be an integer from 0 to {len(names) - 1}; got {truncate_repr(code)}")
    return names[int(code)]
