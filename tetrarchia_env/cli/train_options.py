"""The options of a training run as help and completion tell them.

They are read from the text of train/options.py, for importing it loads torch. Its comments are the help: one behind an option
says what it means, one on a line of its own begins a group.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "train" / "tetrarchia_train" / "config.py"
KINDS = {"int": "NUMBER", "float": "NUMBER", "str": "TEXT"}  # all others are lists


@dataclass(frozen=True)
class TrainOption:
    """One of them, all as texts."""

    name: str
    group: str
    kind: str
    default: str
    meaning: str


def train_options() -> Iterator[TrainOption]:
    """All that a word can say, in their order: rules stand in a preset only."""
    text = SOURCE.read_text(encoding="utf-8")
    tree, group = ast.parse(text), ""
    behind, alone = _comments(text)
    described = next(part for part in tree.body if isinstance(part, ast.ClassDef) and part.name == "TrainOptions")
    for part in described.body:
        if isinstance(part, ast.AnnAssign) and part.value and "dict" not in ast.unparse(part.annotation):
            group = next((alone[line] for line in range(part.lineno, described.lineno, -1) if line in alone), group)
            kind = KINDS.get(ast.unparse(part.annotation), "A,B,C")
            yield TrainOption(ast.unparse(part.target), group, kind, _told(part.value, tree), behind.get(part.end_lineno or 0, ""))


def _comments(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """By line: those behind code, and those that stand alone."""
    behind: dict[int, str] = {}
    alone: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kept = alone if token.line.lstrip().startswith("#") else behind
            kept[token.start[0]] = token.string.removeprefix("#").strip()
    return behind, alone


def _told(value: ast.expr, tree: ast.Module) -> str:
    """A default as a user would type it; nothing if he could not."""
    if isinstance(value, ast.Name):
        return (
            next((_told(part.value, tree) for part in tree.body if _sets(part, value.id) and isinstance(part, ast.Assign)), "")
            or value.id.lower()
        )
    try:
        plain = ast.literal_eval(value)
    except ValueError:
        return ""
    return ",".join(plain) if isinstance(plain, tuple) else f"{plain:,}".replace(",", "_") if isinstance(plain, int) else str(plain)


def _sets(part: ast.stmt, name: str) -> bool:
    return isinstance(part, ast.Assign) and [ast.unparse(target) for target in part.targets] == [name]
