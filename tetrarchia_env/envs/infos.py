"""The info of every API: numbers only, with the same keys from reset to end.

`turn` counts finished turns, `score` is R9.3, `outcome` and `agent` are codes (`agent`: the Emperor who is to act, after the end the
one whose turn it was), and `illegal_action` is 1 if the last action was not legal. `action_mask` is there with mask="info".
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OUTCOMES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

Status = Any  # four numbers, or four arrays of a number for each game: Emperor to act, outcome, score, turn


def info_of(status: Status, illegal_action: Any = 0, mask: NDArray[np.int8] | None = None) -> dict[str, Any]:
    """The info of one game, or of many as arrays."""
    to_act, outcome, score, turn = status
    info = {"turn": turn, "score": score, "outcome": outcome, "agent": to_act, "illegal_action": illegal_action}
    if mask is not None:
        info["action_mask"] = mask
    return info


def infos_of(status: NDArray[np.int64], illegal_actions: NDArray[np.int64]) -> list[dict[str, Any]]:
    """The same for each game, without masks; written out, for thousands of them are made at every step."""
    columns = (*status.tolist(), illegal_actions.tolist())
    return [
        {"turn": turn, "score": score, "outcome": outcome, "agent": to_act, "illegal_action": illegal}
        for to_act, outcome, score, turn, illegal in zip(*columns, strict=True)
    ]


def only_in(info: dict[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """As Gymnasium's vector environments tell what only some games have: 0 elsewhere, and `_key` says which have it."""
    for values in info.values():
        values[~rows] = 0
    return with_rows(info, rows)


def with_rows(info: dict[str, NDArray[Any]], rows: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Gymnasium's `_key` beside each key."""
    return info | {f"_{key}": rows for key in info}


def outcome_name(code: int) -> str:
    """The word for `info["outcome"]`.

    >>> [outcome_name(code) for code in range(5)]
    ['running', 'won', 'rome fell', 'reserve empty', 'truncated']
    """
    return _name(code, OUTCOMES, "an outcome")


def agent_name(code: int) -> str:
    """The name for `info["agent"]`.

    >>> [agent_name(code) for code in range(4)]
    ['diocletian', 'galerius', 'constantius', 'maximian']
    """
    return _name(code, EMPERORS, "an agent")


def _name(code: object, names: tuple[str, ...], what: str) -> str:
    if isinstance(code, bool) or not isinstance(code, int | np.integer) or not 0 <= code < len(names):
        raise TetrarchiaError(f"{what} is a whole number from 0 to {len(names) - 1}, not {truncate_repr(code)}")
    return names[int(code)]
