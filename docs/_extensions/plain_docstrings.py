"""Docstrings are plain English with a little Markdown in them; autodoc wants reStructuredText."""

import re
from typing import Any

from sphinx.application import Sphinx

ENTRY = re.compile(r"(\w+(?:, \w+)*): (.*)")  # `level: four digits`, a line for each argument, further lines of it indented
ARRAY = re.compile(r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\]]*)\]\]")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", translate)
    app.connect("autodoc-process-signature", shorten)
    return {"version": "1", "parallel_read_safe": True}


def translate(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """The lines of a docstring, in place."""
    if what == "module" and lines and lines[0].startswith("# "):  # a page of its own, in Markdown
        lines[:] = ["Its docstring is the page :doc:`/environment`.", ""]
    is_list = False
    for number, line in enumerate(lines):
        entry = ENTRY.fullmatch(line)
        is_list = bool(line) and (is_list or (entry is not None and number > 0 and not lines[number - 1]))
        lines[number] = _item(line, entry) if is_list else line


def _item(line: str, entry: re.Match[str] | None) -> str:
    """A line that explains an argument becomes an item of a list, or goes on with the item before."""
    return f"* ``{entry[1]}``: {entry[2]}" if entry else f"  {line.strip()}"


def shorten(app: Sphinx, what: str, name: str, thing: object, options: object, signature: str | None, result: str | None) -> object:
    """Arrays by the short name that the code gives them too."""
    return tuple(text and ARRAY.sub(r"NDArray[\1]", text) for text in (signature, result))
