"""Tests of user-defined agent classes: objects that are not agents are refused without being called."""

import sys
from pathlib import Path

import pytest

from tetrarchia_agents import make_agent, rollout
from tetrarchia_env.errors import TetrarchiaError

NO_AGENT = "must be a class with a method act"
AGENT = "from tetrarchia_agents import Agent\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["os.getcwd", "sys.exit", "os.path", "builtins.print", "json.JSONDecoder", "subprocess.Popen"])
def test_objects_that_are_not_agents_are_refused_without_being_called(name: str) -> None:
    with pytest.raises(TetrarchiaError, match=NO_AGENT):
        make_agent(name)


@pytest.mark.parametrize("name", ["..x", ".x", "x.", ".", "", "a..b", "os/path.join", "os.path join", "\x1b[31m.x"])
def test_malformed_names_are_refused(name: str) -> None:
    with pytest.raises(TetrarchiaError, match="unknown agent"):
        make_agent(name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('broken')", r"breaks cannot be imported \(RuntimeError: broken\)"),
        ("import sys; sys.exit(3)", r"breaks cannot be imported \(SystemExit: 3\)"),
        ("class A(:", r"breaks cannot be imported \(SyntaxError"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("class B: pass", "there is no A in .*breaks.py"),
        ("class A: pass", NO_AGENT),
        (f"{AGENT}class A(Agent):\n def __init__(self, needed): pass", r"cannot be made \(TypeError"),
    ],
)
def test_errors_in_a_user_module_are_reported_in_one_message(text: str, reason: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "breaks.py").write_text(text)
    monkeypatch.delitem(sys.modules, "breaks", raising=False)

    with pytest.raises(TetrarchiaError, match=rf"agent breaks\.A.*{reason}"):
        make_agent("breaks.A")
    sys.modules.pop("breaks", None)


def test_a_class_with_act_is_an_agent(folder: Path) -> None:
    (folder / "plain.py").write_text("class A:\n def act(self, games, masks, env_ids): return masks.argmax(axis=1)\n")
    (result,) = rollout(make_agent("plain.A"), max_turns=2)
    assert result.steps > 0


def test_options_of_a_class_with_postponed_annotations_are_numbers(folder: Path) -> None:
    (folder / "later.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n"
        " depth: int = 1\n share: float = 1.0\n name: str = ''\n def act(self, games, masks, env_ids): ...\n"
    )
    assert vars(make_agent("later.A:3:share=0.5:name=7")) == {"depth": 3, "share": 0.5, "name": "7"}
    with pytest.raises(TetrarchiaError, match=r"later\.A:depth must be an integer; got 'x'"):
        make_agent("later.A:x")


def test_the_current_folder_is_searched_last(folder: Path) -> None:
    (folder / "sitting.py").write_text("import sys\nPATH = list(sys.path)\n" + AGENT + "class A(Agent): ...\n")
    (folder / "colorsys.py").write_text("raise SystemExit('the local file was taken')")
    before = list(sys.path)

    make_agent("sitting.A")
    with pytest.raises(TetrarchiaError, match=r"there is no A in .*lib.*colorsys\.py"):
        make_agent("colorsys.A")

    assert [*before, str(folder)] == sys.modules.pop("sitting").PATH
    assert sys.path == before
