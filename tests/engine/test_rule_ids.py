"""Every rule of docs/rules.md is named by the code that implements it and by a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IDS = re.findall(r"^(?:- |\| )\*\*(R\d+\.\d+)\*\*", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE)


def ids_named_in(*folders: str) -> set[str]:
    sources = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".toml") and path != Path(__file__)
    ]
    return {name for path in sources for name in re.findall(r"R\d+\.\d+", path.read_text(encoding="utf-8"))}


IN_CODE = ids_named_in("tetrarchia_env", "agents")
IN_TESTS = ids_named_in("tests")


def test_rules_page_defines_each_rule_once() -> None:
    chapters = {int(name[1:].partition(".")[0]) for name in IDS}
    assert chapters == set(range(1, 15))
    assert len(IDS) == len(set(IDS)) == 67


@pytest.mark.parametrize("rule", IDS)
def test_rule_has_code_and_a_test(rule: str) -> None:
    assert rule in IN_CODE
    assert rule in IN_TESTS


def test_code_and_tests_name_no_other_rule() -> None:
    assert sorted((IN_CODE | IN_TESTS) - set(IDS)) == []
