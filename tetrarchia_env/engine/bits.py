"""Sets of spaces as bits: their size and their first element."""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from tetrarchia_env.engine._jit import jit


@jit
def count(bits: int) -> int:
    """Return the number of spaces in a set."""
    number = 0
    while bits:
        bits &= bits - 1
        number += 1
    return number


def first_of(bits: int) -> int:
    """Return the lowest space of a set that is not empty."""
    return (int(bits) & -int(bits)).bit_length() - 1


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(_typing: Any, _bits: Any) -> Any:
    """Count trailing zeros by the processor's own instruction."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.int64), generate


@overload(first_of)  # type: ignore[untyped-decorator]  # numba has no types
def _first_of(bits: Any) -> Any:
    def compiled(bits: Any) -> Any:
        return _trailing_zeros(bits)

    return compiled
