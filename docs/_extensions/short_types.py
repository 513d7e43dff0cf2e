"""Sphinx extension: show NumPy array types in signatures as `NDArray[float32]`, the name that the code uses."""

import re
from typing import Any

from sphinx.application import Sphinx

ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\]]*)\]\]")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("autodoc-process-signature", shorten)
    return {"version": "1", "parallel_read_safe": True}


def shorten(app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, result: str | None) -> object:
    """Shorten the array types of a signature and its return annotation."""
    return tuple(text and ARRAY.sub(r"NDArray[\1]", text) for text in (signature, result))
