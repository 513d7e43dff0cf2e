"""Sets of spaces as bits: how many, and which comes first."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.tables import SPACE_OF


@jit
def count(bits: int) -> int:
    """How many spaces a set has."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number


@jit
def first_of(bits: int) -> int:
    """The lowest space of a set that is not empty."""
    return SPACE_OF[(bits & -bits) % 67]
