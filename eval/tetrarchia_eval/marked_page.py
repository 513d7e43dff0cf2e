"""Pages that a person writes and a script fills: between two marks of a name stands what the script has measured or read."""

from collections.abc import Mapping
from pathlib import Path

from tetrarchia_env.errors import TetrarchiaError

BEGIN, END = "<!-- {name}: written by docs/{script} -->", "<!-- end of {name} -->"


def filled(page: Path, script: str, parts: Mapping[str, str]) -> str:
    """The page with each part between the marks of its name."""
    text = page.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = BEGIN.format(name=name, script=Path(script).name), END.format(name=name)
        if not 0 <= text.find(begin) < text.find(end):
            raise TetrarchiaError(f"{page.name} needs the marks {begin} and {end}, in this order")
        before, rest = text.split(begin, 1)
        text = f"{before}{begin}\n{part}\n{end}{rest.split(end, 1)[1]}"
    return text
