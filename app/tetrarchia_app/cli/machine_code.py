"""What `doctor` tells of the compiler's cache."""

from pathlib import Path
from typing import Any


def told_of_cache(module: Any) -> str:
    """Where the machine code of this module's package is kept, and whether it is there yet."""
    compiled = [part for part in vars(module).values() if getattr(part, "__module__", "") == module.__name__ and hasattr(part, "stats")]
    if not compiled:
        return "the compiler is off (NUMBA_DISABLE_JIT): all is slow"
    store, folder = compiled[0]._cache.store, Path(compiled[0].stats.cache_path)
    kept = [file.stat().st_size for one in store.readable() for file in one.glob("*.code")]
    if kept:
        return f"compiled, {sum(kept) / 1e6:.0f} MB in {folder}"
    if lost := store.lost():
        return f"compiled each time anew, nothing is kept: {lost}; set NUMBA_CACHE_DIR to a folder of your own"
    return f"not compiled yet: the first use says so and takes a while; to be kept in {folder}"
