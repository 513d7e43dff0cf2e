"""Agents' names in reports and on the screen are text, whatever they hold."""

import re
from pathlib import Path

import pytest

from tetrarchia_eval.console import Tally, show
from tetrarchia_eval.plots import bars, save
from tetrarchia_eval.result_tables import Column, Table, markdown_text
from tetrarchia_eval.statistics import Estimate

EVIL = "<img src=x onerror=alert(1)> [link](javascript:alert(1)) `code` *bold* _slanted_ a|b\n# head \x1b[31m &lt; $x$ https://x.y \\*"


def test_markup_in_names_is_escaped() -> None:
    text = markdown_text(EVIL)

    assert "\n" not in text
    assert "\x1b" not in text
    for sign in ("<", "[", "]", "`", "*", "&", "$"):
        assert re.search(rf"(?<!\\)(\\\\)*{re.escape(sign)}", text) is None or sign == "]"
    assert ":\\//x.y" in text


@pytest.mark.parametrize(
    "name",
    ["planner:beam=64", "ppo:runs/mine/final", "my_module.MyAgent", "mare_nostrvm + dux", "< 0.0001", "East \\ West", "random,greedy"],
)
def test_usual_names_stay_as_they_are(name: str) -> None:
    assert markdown_text(name) == name


def test_a_table_has_as_many_cells_as_columns() -> None:
    lines = Table([Column(EVIL), Column("won")], [[EVIL, 1]]).markdown().splitlines()

    assert len(lines) == 3
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 3 for line in lines)


def test_the_screen_shows_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    show(EVIL)
    show(Table([Column(EVIL)], [[EVIL]]))
    tally = Tally(3)
    tally.begin("a\x1b[2Jb", [])

    assert "\x1b" not in capsys.readouterr().out + tally.text()


def test_a_dollar_in_a_name_is_no_formula(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = bars("$\\frac$", {"a$_{$": {"4211": Estimate(0.5, 0.4, 0.6)}})

    save(picture, tmp_path / "bars.svg")

    assert (tmp_path / "bars.svg").stat().st_size > 0
