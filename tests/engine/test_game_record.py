"""The type of a game record: it has the record's fields, and a misspelt field fails the type checker."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tetrarchia_env.engine import state

MISSPELT = """
from tetrarchia_env.engine.state import GameRecord


def right(game: GameRecord) -> int:
    return game.ip + game.reserve[0]


def wrong(game: GameRecord) -> int:
    return game.pi
"""


def test_protocol_has_the_fields_of_the_record() -> None:
    tree = ast.parse(Path(state.__file__).read_text(encoding="utf-8"))
    (record,) = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == "GameRecord")
    types = {node.target.id: ast.unparse(node.annotation) for node in record.body if isinstance(node, ast.AnnAssign)}

    def type_of(name: str) -> str:
        field = state.GAME.fields[name][0]
        return "Ints" if field.shape else "np.uint64" if field == "u8" else "int"

    assert types == {name: type_of(name) for name in state.GAME.names}


@pytest.mark.slow
def test_a_misspelt_field_fails_the_type_checker(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    script = tmp_path / "misspelt.py"
    script.write_text(MISSPELT, encoding="utf-8")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), str(script)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    errors = [line for line in done.stdout.splitlines() if "error:" in line]
    assert done.returncode == 1
    assert errors
    assert all("misspelt.py:10:" in line for line in errors), done.stdout  # the line with `game.pi`
