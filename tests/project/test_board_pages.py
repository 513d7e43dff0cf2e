"""The pages that show the board are made from its file."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def make_board() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_board", ROOT / "docs" / "make_board.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_of_the_board_are_current() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TETRARCHIA_BOARD"}
    command = [sys.executable, str(ROOT / "docs" / "make_board.py"), "--check"]
    check = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (check.returncode, check.stdout) == (0, "the pages are current\n")


def test_stale_pages_are_found_and_written(tmp_path: Path) -> None:
    main = make_board().main
    assert main(["--check"], tmp_path) == 1
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / "board.md").write_text("old", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
