"""Tests of the examples and the notebook; `python tests/project/test_examples.py` updates the outputs of the notebook."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "first_hour.ipynb"
MAX_NOTEBOOK_BYTES = 500_000
SLOW = {"from_a_snapshot", "graph_input", "maskable_ppo"}
NEEDS = {"maskable_ppo": "sb3_contrib"}
ARGUMENTS = {"maskable_ppo": ["20000"]}  # shorter than the default
EXPECTED_OUTPUT = {
    "custom_reward": r"subdue +\+0\.\d+ in the mean",
    "from_a_snapshot": r"planner +wins \d+% of \d+ games",
    "graph_input": r"edges +int64 +\(2, \d+\)",
    "maskable_ppo": r"before: wins .*\nafter [\d,]+ steps: wins",
    "observation_agent": r"scout +wins \d+ of \d+ games",
    "own_agent": r"firefighter - greedy: [+-]\d+\.\d%",
    "partners": r"galerius at random with idle partners: wins \d+% of \d+ games, \d+ decisions",
    "random_play": r"A game has \d+ turns and \d+ decisions",
}
COMPILING = re.compile(r"^tetrarchia: compiling .*\n", re.MULTILINE)  # printed by the first run
KEPT_METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def scripts() -> list[Any]:
    """Return all scripts of the folder, so that new ones are tested automatically."""
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    return [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else [], id=name) for name in names]


@pytest.mark.parametrize("name", scripts())
def test_example_runs(name: str, tmp_path: Path) -> None:
    pytest.importorskip(NEEDS.get(name, "numpy"))

    run = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / f"{name}.py", *ARGUMENTS.get(name, [])],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, COMPILING.sub("", run.stderr)) == (0, "")
    assert re.search(EXPECTED_OUTPUT.get(name, r"\w"), run.stdout)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_example_begins_with_its_purpose_and_duration(path: Path) -> None:
    first_line = path.read_text(encoding="utf-8").partition("\n")[0]

    assert re.fullmatch(r'""".+ Takes (seconds|less than a minute|less than two minutes)\.', first_line)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.*")), ids=lambda path: path.stem)
def test_example_does_not_import_the_engine(path: Path) -> None:
    assert "tetrarchia_env.engine" not in path.read_text(encoding="utf-8")


def test_snapshot_example_needs_only_two_imports() -> None:
    script = (EXAMPLES / "from_a_snapshot.py").read_text(encoding="utf-8")

    assert len(re.findall(r"^(?:from|import) ", script, re.MULTILINE)) <= 2


def environment() -> dict[str, str]:
    """Return an environment with one torch thread and the packages of this working copy."""
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("", "agents", "train", "eval", "app")),
    }


@pytest.mark.slow
def test_notebook_runs_without_an_error_or_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("nbclient", "ipykernel", "matplotlib"):
        pytest.importorskip(package)
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])

    executed = execute(read_notebook(), tmp_path)

    assert problems(executed) == []
    assert [kinds(cell) for cell in executed.cells] == [kinds(cell) for cell in read_notebook().cells]
    assert [printed(cell) for cell in executed.cells] == [printed(cell) for cell in read_notebook().cells]


def test_notebook_has_outputs_is_small_and_contains_no_local_paths() -> None:
    pytest.importorskip("nbformat")
    notebook, text = read_notebook(), NOTEBOOK.read_text(encoding="utf-8")

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code)
    assert problems(notebook) == []
    assert notebook.metadata == KEPT_METADATA
    assert all(cell.metadata == {} for cell in notebook.cells)
    assert not re.search(r"/(home|tmp|root|work|Users)/", text)
    assert len(text) < MAX_NOTEBOOK_BYTES


def test_numbers_in_the_notebooks_text_are_in_its_outputs() -> None:
    pytest.importorskip("nbformat")
    cells = read_notebook().cells
    outputs = set(re.findall(r"\d+", " ".join(printed(cell) for cell in cells)))
    text = " ".join(cell.source for cell in cells if cell.cell_type == "markdown")
    numbers = set(re.findall(r"(?<!\w)\d+", re.sub(r"`[^`]*`", "", text))) - {"95"}  # the confidence level

    assert numbers
    assert numbers <= outputs


def printed(cell: Any) -> str:
    """Return what a cell prints on the standard output."""
    return "".join(output.text for output in cell.get("outputs", []) if output.get("name") == "stdout")


def read_notebook() -> Any:
    import nbformat

    return nbformat.read(NOTEBOOK, as_version=4)


def execute(notebook: Any, folder: Path) -> Any:
    """Run the notebook in a folder and return it with new outputs; raises CellExecutionError."""
    from nbclient import NotebookClient

    return NotebookClient(
        notebook,
        timeout=600,
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": folder}},
    ).execute()


def problems(notebook: Any) -> list[str]:
    """Return errors, warnings and everything else on stderr except the compiler's message."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = [output.evalue for output in outputs if output.output_type == "error"]
    streams = [COMPILING.sub("", output.text) for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    return [*errors, *filter(None, streams)]


def kinds(cell: Any) -> set[str]:
    """Return the kinds of output of a cell, without the text alternatives of pictures."""
    outputs = [output for output in cell.get("outputs", []) if output.get("name") != "stderr"]
    return {kind for output in outputs for kind in output.get("data", ["words"]) if kind != "text/plain"}


def refresh() -> None:
    """Execute the notebook and write it with its outputs, without details of this machine."""
    import nbformat

    notebook = execute(read_notebook(), EXAMPLES)
    notebook.metadata = nbformat.from_dict(KEPT_METADATA)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("text/plain", None)  # contains an address that changes with every run
    NOTEBOOK.write_text(nbformat.writes(notebook, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    refresh()
