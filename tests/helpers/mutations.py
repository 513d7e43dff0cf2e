"""Random damage to data, texts and bytes, from a seeded generator."""

import copy
import random
from typing import Any

NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 5, 7, 47, 48, 49, 50, 99, 255, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400, 0.5, 1e308,
    float("nan"), float("inf"), "", "x", "ROMA", "diocletian", "galerius", "dux", "PIRATES", "unrest", "over", "boost", "block", "gone",
    "\n\x1b[31m", "\ud800", "é" * 300, "x" * 10_000, [], {}, [[]], [1, 2], {"a": 1}, [None] * 5, {"variants": ["imperivm"]},
]  # fmt: skip
TEXTS = ["[", "]", "{", "}", '"', "'", "=", ":", ",", "\n", "#", "-", ".", "&a ", "*a", "!!x ", "1e999", ".nan", "\\", "\t", "\0", "9" * 50]


def mutated(data: Any, chance: random.Random, most: int = 4) -> Any:
    """Return a copy with some entries replaced, removed, added or swapped."""
    data = copy.deepcopy(data)
    for _ in range(chance.randint(1, most)):
        data = _mutate(data, chance)
    return data


def _mutate(data: Any, chance: random.Random) -> Any:
    places = list(_places(data))
    if not places:
        return chance.choice(NASTY)
    holder, key = chance.choice(places)
    kind = chance.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        other, place = chance.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif kind == 2 and isinstance(holder[key], int):
        holder[key] = int(holder[key]) + chance.choice([-1, 1])
    elif kind == 3 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(chance.choice([holder[key], *NASTY])))
    elif kind == 3:
        holder[str(chance.choice(NASTY))[:20]] = chance.choice(NASTY)
    else:
        holder[key] = copy.deepcopy(chance.choice(NASTY))
    return data


def _places(data: Any) -> Any:
    """Yield the container and the key of each entry of a tree."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(entries):
        yield data, key
        yield from _places(value)


def mutated_text(text: str, chance: random.Random) -> str:
    """Return the text with parts removed, duplicated or inserted, sometimes deeply nested."""
    for _ in range(chance.randint(1, 5)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 1, 2, 20, 500]))
        piece = chance.choice([*TEXTS, text[start:end] * 2, text[chance.randrange(len(text) + 1) :][:40]])
        if chance.random() < 0.02:
            piece = chance.choice(["[", "{", "{a = ", "{a: ", "a.", "- "]) * 50_000
        text = text[:start] + piece + text[end:]
    return text


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes with some of them changed, removed or inserted, sometimes truncated."""
    damaged = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(damaged)) if damaged else 0
        kind = chance.randrange(4)
        if kind == 0 and damaged:
            damaged[at] = chance.randrange(256)
        elif kind == 1 and damaged:
            damaged[at] ^= 1 << chance.randrange(8)
        elif kind == 2:
            del damaged[at : at + chance.choice([1, 8, 1000])]
        else:
            damaged[at:at] = chance.randbytes(chance.choice([1, 8]))
    return bytes(damaged)
