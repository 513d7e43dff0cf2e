"""Packaging: types, version, changelog, and the search for checkpoints."""

import re
import tomllib
from pathlib import Path

import pytest

import tetrarchia_env
from tetrarchia_agents import cards

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def checkpoint(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / cards.CARD).write_text('{"format": 1}', encoding="utf-8")
    return folder


@pytest.mark.parametrize("package", WHEEL["packages"])
def test_every_package_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_wheel_contains_the_checkpoints_in_the_search_path() -> None:
    assert {*WHEEL["only-include"]} == {*WHEEL["packages"], "checkpoints"}
    assert WHEEL["sources"]["checkpoints"] == "tetrarchia_agents/shipped"
    assert ROOT / "checkpoints" == cards.CHECKPOINTS


def test_version_is_defined_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    sources = [path for package in WHEEL["packages"] for path in (ROOT / package).rglob("*.py")]
    defined_in = [path for path in sources if re.search(r"^__version__ =", path.read_text(encoding="utf-8"), re.M)]
    assert defined_in == [ROOT / "tetrarchia_env" / "__init__.py"]


def test_changelog_begins_with_this_version() -> None:
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)

    assert versions[0] == tetrarchia_env.__version__


def test_citation_has_this_version() -> None:
    versions = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)

    assert versions == [tetrarchia_env.__version__]


def test_bare_name_prefers_a_shipped_checkpoint_to_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    checkpoint(own / "ppo")
    checkpoint(tmp_path / "ppo")
    checkpoint(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)

    assert cards.find_checkpoint("ppo", own) == own / "ppo"
    assert cards.find_checkpoint("mine", own) == Path("mine")


def test_name_with_a_slash_or_path_object_is_a_local_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own"
    checkpoint(own / "ppo")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ValueError, match=r"no checkpoint './ppo' \(did you mean ppo\?\): give a folder with card.json, or one of ppo$"):
        cards.find_checkpoint("./ppo", own)
    with pytest.raises(ValueError, match="no checkpoint 'ppo'"):
        cards.find_checkpoint(Path("ppo"), own)
    here = checkpoint(tmp_path / "ppo")
    assert cards.find_checkpoint("./ppo", own).resolve() == here
