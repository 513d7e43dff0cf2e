"""What a file of weights says that it holds, looked at before anything is made of it.

safetensors: eight bytes that tell the length of a JSON table, the table (name: dtype, shape, data_offsets), the numbers.
"""

import json
from typing import Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import truncate_repr

LENGTH = 8  # bytes that tell the table's length
LARGEST_TABLE = 1_000_000
NUMBERS = {"F32": 4, "F16": 2, "BF16": 2}  # bytes of each kind that weights may be of


def check_shapes(content: bytes, wanted: dict[str, list[int]]) -> None:
    """ValueError, in a clause, unless the file holds exactly these weights."""
    table = read_table(content)
    for name in sorted(wanted.keys() ^ table.keys()):
        raise TetrarchiaError(f"{truncate_repr(name)} is {'missing' if name in wanted else 'unknown'}")
    for name, shape in wanted.items():
        entry = table[name]
        if not isinstance(entry, dict) or entry.get("shape") != shape or entry.get("dtype") not in NUMBERS:
            raise TetrarchiaError(f"{name} is of shape {shape} and {' or '.join(NUMBERS)}, not {truncate_repr(entry)}")


def read_table(content: bytes) -> dict[str, Any]:
    """The table at the beginning, by the weights' names."""
    length = int.from_bytes(content[:LENGTH], "little")
    if len(content) < LENGTH or not 0 < length <= min(LARGEST_TABLE, len(content) - LENGTH):
        raise TetrarchiaError("the weights have no table at their beginning")
    try:
        table = json.loads(content[LENGTH : LENGTH + length].decode("utf-8"))
    except (ValueError, RecursionError):
        raise TetrarchiaError("the table of the weights is not JSON") from None
    if not isinstance(table, dict):
        raise TetrarchiaError("the table of the weights is none")
    return {name: entry for name, entry in table.items() if name != "__metadata__"}
