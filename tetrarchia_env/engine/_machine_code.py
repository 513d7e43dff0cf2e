"""Compiled functions on disk: what Numba asks of a cache, so that no file can break a run.

Numba's own cache fails where it cannot write, and unpickles whatever it finds. Here a file is one compiled signature
behind its checksum; what is damaged is compiled anew, and what cannot be written is not kept.
"""

import hashlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from tetrarchia_env.engine import _folders

CHECK = hashlib.sha256().digest_size


class Store:
    """The folders of one digest: read from any that is safe, written into the first that can be."""

    def __init__(self, digest: str) -> None:
        self.folders = [root / digest for root in _folders.roots()]
        self.written = ""  # into which, once something was
        for folder in self.readable():
            _folders.hold(folder)

    def readable(self) -> list[Path]:
        """Folders that are there and nobody else's."""
        return [folder for folder in self.folders if not _folders.refusal(folder)]

    def read(self, name: str) -> bytes | None:
        """What was written under this name, if it is as it was."""
        for folder in self.readable():
            try:
                content = (folder / name).read_bytes()
            except OSError:
                continue
            if hashlib.sha256(content[CHECK:]).digest() == content[:CHECK]:
                return content[CHECK:]
        return None

    def write(self, name: str, content: bytes) -> None:
        """Keep it where that is possible; `lost` says why if it is not."""
        checked = hashlib.sha256(content).digest() + content
        for folder in self.folders:
            if _folders.made(folder) and _folders.write(folder / name, checked):
                if not self.written:
                    self.written = str(folder)
                    _folders.hold(folder)
                    _folders.prune(folder.parent)
                return

    def lost(self) -> str:
        """Why nothing can be kept, or nothing."""
        if any(_folders.made(folder) and os.access(folder, os.W_OK) for folder in self.folders):
            return ""
        return "; ".join(dict.fromkeys(_refused(folder) for folder in self.folders))


def _refused(folder: Path) -> str:
    """Why a folder cannot be written into: it, or the root that it would be made in."""
    place = folder if folder.exists() else folder.parent
    return _folders.refusal(place) or f"{place} cannot be written"


class MachineCode:
    """The compiled signatures of one function; takes the place of Numba's own cache in its dispatcher."""

    def __init__(self, function: Callable[..., Any], store: Store, kind: str) -> None:
        self.store, self.kind = store, kind
        self.name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "") + f"-{kind}"

    @property
    def cache_path(self) -> str:
        """The folder, for who asks the dispatcher's `stats`."""
        return str(next(iter(self.store.readable()), self.store.folders[0]))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was compiled for this signature on such a machine, or None."""
        target.refresh()
        content = self.store.read(self._file(signature, target.codegen()))
        if content is None:
            return None
        try:
            return CompileResult._rebuild(target, *pickle.loads(content))
        except Exception:  # whatever it is: it is compiled anew
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep it, unless its code holds addresses of this process."""
        if not compiled.library.has_dynamic_globals:
            self.store.write(self._file(signature, compiled.codegen), dumps(compiled._reduce()))

    def _file(self, signature: Any, codegen: Any) -> str:
        key = hashlib.sha256(repr((signature, codegen.magic_tuple())).encode())
        return f"{self.name}-{key.hexdigest()[:16]}.code"

    def enable(self) -> None:
        """It always is."""

    disable = flush = enable
