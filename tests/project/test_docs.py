"""The documentation: code blocks, generated tables, and the site with its links.

A comment directly before a block changes how it is tested: `<!-- not run: reason -->` skips it, `<!-- file: name.py -->` saves it as a file
for later blocks. All blocks of a page share a folder, and its Python blocks share their variables.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer.main

import tetrarchia_agents
import tetrarchia_env
from helpers.browser import BROWSER, DRIVER, MISSING, browser
from tetrarchia_app.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PACKAGES = [str(ROOT / folder) for folder in ("", "agents", "train", "eval", "app")]
COPIES = {"contributing.md", "changelog.md"}  # copied when the site is built
PLAYED = dict.fromkeys(("results.md", "cooperation.md"), "the commands that played all results")  # pages whose commands take hours
SLOW = {"README.md", "agents.md", "dataset.md", "protocol.md", "watching.md", "your_policy.md"}
PYTHON, SHELL, NEITHER = {"python"}, {"", "sh", "bash", "console"}, {"text", "json", "toml", "yaml", "bibtex", "{toctree}"}
COMMANDS = {"tetrarchia", "python", "mkdir"}  # allowed in blocks that are run

PAGES = [ROOT / "README.md", *(page for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("libraries/*.md")]) if page.name not in COPIES)]
FENCE = re.compile(r"^```[ ]*(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MARK = re.compile(r"<!-- (not run|file): ([^\n]+) -->\n\Z")


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    place: str  # page and line
    language: str
    text: str
    file: str | None  # file name to save it as
    reason: str | None  # why it is not run

    def lines(self) -> list[str]:
        """Return the commands without their prompt."""
        joined = self.text.replace("\\\n", " ")
        return [line.removeprefix("$ ") for line in joined.splitlines() if shlex.split(line, comments=True)]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        mark = MARK.search(text[: found.start()])
        kind, words = (mark[1], mark[2]) if mark else (None, None)
        place = f"{page.name}, line {text.count(chr(10), 0, found.start()) + 1}"
        reason = PLAYED.get(page.name) or (words if kind == "not run" else None)
        yield Block(place, found[1], found[2], words if kind == "file" else None, reason)


def run_shell(block: Block, folder: Path) -> None:
    for line in block.lines():
        words = [word for word in shlex.split(line, comments=True) if not re.match(r"[A-Z_]+=", word)]
        assert words[0] in COMMANDS, f"{block.place}: {words[0]} is not run here: mark the block <!-- not run: why -->"
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block.place}: {line}\n{done.stdout}{done.stderr}"


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which `tetrarchia` and this Python are on the path."""
    path = folder / ".bin"
    path.mkdir(exist_ok=True)
    for name, words in {"tetrarchia": "-m tetrarchia_app", "python": ""}.items():
        (path / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        (path / name).chmod(0o755)
    return {**os.environ, "PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(PACKAGES)}


def run(block: Block, folder: Path, names: dict[str, Any]) -> None:
    if block.file:
        (folder / block.file).write_text(block.text, encoding="utf-8")
    elif block.language in PYTHON:
        exec(compile(block.text, block.place, "exec"), names)
    else:
        run_shell(block, folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_have_a_known_language(page: Path) -> None:
    assert [block.place for block in blocks(page) if block.language not in PYTHON | SHELL | NEITHER] == []


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name in SLOW)) for page in PAGES])
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.reason is None and (block.file or block.language in PYTHON | SHELL):
            assert block.text.strip(), f"{block.place}: nothing to run"
            run(block, tmp_path, names)


@pytest.mark.slow
def test_agent_with_a_model_of_sb3_is_used_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    [block] = [block for block in blocks(DOCS / "your_policy.md") if block.file == "learned.py"]
    run(block, tmp_path, {})
    sb3_contrib.MaskablePPO("MlpPolicy", tetrarchia_env.sb3_vec_env(2, level="4200"), n_steps=4, batch_size=8).save("model.zip")

    results = tetrarchia_agents.rollout("learned.Learned:path=model.zip", 2, level="4200", max_turns=3)

    assert [result.steps > 0 for result in results] == [True, True]


def test_readme_example_prints_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(ROOT / "README.md"):
        if block.language in PYTHON:
            exec(compile(block.text, block.place, "exec"), {})

    assert "turns, score" in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_are_not_run_have_options_that_exist(page: Path) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for block in blocks(page):
        for line in block.lines() if block.reason and block.language in SHELL else []:
            first, *words = shlex.split(line, comments=True)
            if first == "tetrarchia":
                assert words[0] in commands, f"{block.place}: {line}"
                commands[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_on_pages_does_not_import_the_engine(page: Path) -> None:
    assert [block.place for block in blocks(page) if block.language in PYTHON and "tetrarchia_env.engine" in block.text] == []


def test_numbers_of_the_findings_are_in_the_results_tables() -> None:
    findings, _, tables = (DOCS / "results.md").read_text(encoding="utf-8").partition("<!-- begin main rates -->")
    numbers = re.findall(r"\d+\.\d %", findings)

    assert len(numbers) >= 6
    assert [number for number in numbers if number not in tables] == []


def test_generated_tables_are_current() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TETRARCHIA_BOARD"}
    command = [sys.executable, str(DOCS / "make_tables.py"), "--check"]
    check = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (check.returncode, check.stdout) == (0, "up to date\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built as by `make docs`."""
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-n", "-E", "-q", "-b", "html", "-d", str(folder / "read")]
    done = subprocess.run([sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.thorough
def test_site_builds_without_a_warning(site: Path) -> None:
    made = {str(page.relative_to(site).with_suffix("")) for page in site.rglob("*.html")}
    assert {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES[1:]} | {"contributing", "changelog", "first_hour"} <= made


@pytest.mark.thorough
def test_every_public_name_has_an_entry(site: Path) -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (site / "api").glob("*.html"))
    names = [*tetrarchia_env.__all__, *tetrarchia_agents.__all__]

    assert [name for name in names if not re.search(rf'<dt class="sig [^>]*id="tetrarchia_[\w.]+\.{name}"', text)] == []


@pytest.mark.thorough
def test_links_within_the_site_are_not_broken(site: Path) -> None:
    broken = []
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#?:]+)[#?"]', page.read_text(encoding="utf-8")):
            if not (page.parent / link).exists():
                broken.append(f"{page.relative_to(site)}: {link}")
    assert broken == []


@pytest.mark.thorough
@pytest.mark.skipif(not (BROWSER and DRIVER), reason=MISSING)
def test_no_page_is_wider_than_a_phone(site: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as phone:
        phone.resize(390, 844, phone=True)
        wide = []
        for page in sorted(site.rglob("*.html")):
            phone.open(page.as_uri())
            if phone.run("document.documentElement.scrollWidth") > 390:
                wide.append(page.name)
    assert wide == []
