"""Modified array files."""

from pathlib import Path
from typing import Any

import numpy as np


def rewrite_arrays(path: Path, **changes: Any) -> None:
    """Replace or add arrays in an .npz file."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file}
    np.savez(path, **(arrays | changes))
