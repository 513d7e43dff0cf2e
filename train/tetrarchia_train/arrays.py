"""Arrays from files that anybody may have written: what a file claims is compared with its size before memory is asked for."""

import struct
import tokenize
import zlib
from collections.abc import Mapping
from io import BufferedIOBase
from math import prod
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tetrarchia_env.errors import TetrarchiaError

# All that a damaged archive was seen to raise.
DAMAGED = (BadZipFile, KeyError, OSError, EOFError, RuntimeError, SyntaxError, TypeError, ValueError)
DAMAGED += (OverflowError, MemoryError, RecursionError, struct.error, tokenize.TokenError, zlib.error)  # type: ignore[assignment]


class Kind(NamedTuple):
    """What an array must be; None in its shape: any number."""

    dtype: Any
    shape: tuple[int | None, ...]


def read_arrays(path: Path, kinds: Mapping[str, Kind]) -> dict[str, NDArray[Any]]:
    """The arrays of these names in a file that `numpy.savez` wrote; ValueError in one sentence if they are not of these kinds."""
    try:
        with ZipFile(path) as archive:
            return {name: _read(archive, f"{name}.npy", kind, path.stat().st_size) for name, kind in kinds.items()}
    except DAMAGED as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else " ".join(str(error).split()) or type(error).__name__
        raise TetrarchiaError(f"{path} cannot be read: {reason[:200]}") from None


def _read(archive: ZipFile, member: str, kind: Kind, size: int) -> NDArray[Any]:
    info = archive.getinfo(member)
    if info.compress_type != ZIP_STORED or info.file_size != info.compress_size or info.file_size > size:
        raise TetrarchiaError(f"{member} is compressed, or larger than the file")  # a few bytes could become any number
    with archive.open(info) as file:
        shape, dtype = _header(file)
        _check(member, kind, shape, dtype)
        if file.tell() + prod(shape) * dtype.itemsize != info.file_size:
            raise TetrarchiaError(f"{member} is not as long as it says")
    with archive.open(info) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array


def _header(file: IO[bytes] | BufferedIOBase) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if npy.read_magic(file) != (1, 0):
        raise TetrarchiaError("it is of an unknown version")
    shape, fortran, dtype = npy.read_array_header_1_0(file)
    if fortran and len(shape) > 1:
        raise TetrarchiaError("its rows are columns")
    return shape, dtype


def _check(member: str, kind: Kind, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    fits = len(shape) == len(kind.shape) and all(wanted in (None, found) for wanted, found in zip(kind.shape, shape, strict=True))
    if dtype != np.dtype(kind.dtype) or not fits:
        raise TetrarchiaError(f"{member} is {dtype} of shape {shape}, not {np.dtype(kind.dtype)} of shape {kind.shape}")
