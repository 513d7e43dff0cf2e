"""Tests of tables, plots and the results page, on small synthetic matches."""

import csv
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.made_up_runs import match, spec
from helpers.made_up_runs import save as keep
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.variants import RULEBOOK_LEVELS
from tetrarchia_eval.analysis import ad_hoc_teams, compare_games, level_grid, pair_matrix, pair_teams, summarize
from tetrarchia_eval.console import ProgressTracker, show
from tetrarchia_eval.match import ALL_LEVELS, Match, repeat_command, rules_label, team_label
from tetrarchia_eval.page import fill, write_report
from tetrarchia_eval.plots import bars, dots, heat_map, matrix_plot, save
from tetrarchia_eval.report import sign_flip_p
from tetrarchia_eval.result_files import load_match
from tetrarchia_eval.statistics import Estimate, wilson
from tetrarchia_eval.tables import (
    Column,
    Table,
    escape_markdown,
    mean,
    mean_difference,
    milliseconds,
    p_value,
    percent,
    percentage_points,
    write_table,
)

MARKUP = "<img src=x onerror=alert(1)> [link](javascript:alert(1)) `code` *bold* _slanted_ a|b\n# head \x1b[31m &lt; $x$ https://x.y \\*"


def write_all_sections(folder: Path) -> Path:
    """Write result files for every section; return the folder."""
    for name in ("strong", "weak"):
        keep(folder / f"main/{name}.jsonl", match(name, ("4200", "4222"), 40))
        keep(folder / f"ladder/{name}.jsonl", match(name, ("4222",), 20))
        keep(folder / f"sweep/{name}.jsonl", match(name, RULEBOOK_LEVELS, 2))
        keep(folder / f"scenarios/{name}.jsonl", match(name, scenario="danube_wars"))
    keep(folder / "options/dux.jsonl", match("strong", ("4211",), modules=["dux"]))
    keep(folder / "options/base.jsonl", match("strong", ("4211",)))
    for team in pair_teams(["strong", "weak"]):
        keep(folder / f"crossplay/pair/{team.label}.jsonl", match(team.agents))
    for team in ad_hoc_teams(["strong", "weak"]):
        if len(set(team.agents)) == 2:
            keep(folder / f"crossplay/ad-hoc/{team.label}.jsonl", match(team.agents))
    return folder


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_all_sections(tmp_path / "results")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a page with all sections."""
    pytest.importorskip("matplotlib")
    return page_of(write_all_sections(tmp_path_factory.mktemp("kept") / "results"))


def page_of(results: Path) -> Path:
    page = results.parent / "docs/results.md"
    page.parent.mkdir()
    write_report(results, page)
    return page


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (percent(Estimate(0.623, 0.591, 0.654)), "62.3 % (59.1 to 65.4)"),
        (percent(0.5), "50.0 %"),
        (percentage_points(Estimate(0.123, -0.0001, 0.2)), "+12.3 (0.0 to 20.0)"),
        (percentage_points(Estimate(-0.123, -0.2, -0.05)), "-12.3 (-20.0 to -5.0)"),
        (percentage_points(Estimate(0.0, -0.05, 0.05)), "0.0 (-5.0 to 5.0)"),
        (mean(Estimate(4.21, 4.016, 4.4)), "4.21 (4.02 to 4.40)"),
        (milliseconds(12.3), "12.30"),
        (milliseconds(0.05), "0.050"),
        (milliseconds(0.00341), "0.0034"),
        (milliseconds(0.0), "0.00"),
        (mean_difference(0.5), "+0.50"),
        (p_value(0.0123), "0.0123"),
        (p_value(0.0), "< 0.0001"),
        (sign_flip_p(220)(0.0022), "<= 0.0022"),
        (sign_flip_p(220)(0.0023), "0.0023"),
        (sign_flip_p(1)(0.00001), "< 0.0001"),
    ],
)
def test_cell_formats(written: str, text: str) -> None:
    assert written == text


TABLE = Table(
    [Column("agent"), Column("games"), Column("won", percent)],
    [("a|b", 1000, Estimate(0.5, 0.25, 0.75)), ("c", 20, None)],
)


def test_table_as_markdown() -> None:
    expected = "| agent | games | won |\n| --- | ---: | ---: |\n| a\\|b | 1,000 | 50.0 % (25.0 to 75.0) |\n| c | 20 |  |\n"
    assert TABLE.markdown() == expected


def test_csv_and_json_keep_unrounded_numbers(tmp_path: Path) -> None:
    for ending in (".md", ".csv", ".json"):
        write_table(TABLE, tmp_path / f"table{ending}")
    rows = list(csv.reader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["agent", "games", "won", "won, low", "won, high"]
    assert rows[1:] == [["a|b", "1000", "0.5", "0.25", "0.75"], ["c", "20", "", "", ""]]
    content = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert content[0] == {"agent": "a|b", "games": 1000, "won": {"value": 0.5, "low": 0.25, "high": 0.75}}
    with pytest.raises(TetrarchiaError, match="xlsx"):
        write_table(TABLE, tmp_path / "table.xlsx")


@pytest.mark.parametrize(
    "name",
    ["planner:beam=64", "ppo:runs/mine/final", "my_module.MyAgent", "mare_nostrvm + dux", "< 0.0001", "East \\ West", "random,greedy"],
)
def test_common_names_need_no_escape(name: str) -> None:
    assert escape_markdown(name) == name


def test_markup_in_names_is_escaped() -> None:
    text = escape_markdown(MARKUP)

    assert "\n" not in text
    assert "\x1b" not in text
    for sign in ("<", "[", "`", "*", "&", "$"):
        assert re.search(rf"(?<!\\)(\\\\)*{re.escape(sign)}", text) is None
    assert ":\\//x.y" in text
    lines = Table([Column(MARKUP), Column("won")], [[MARKUP, 1]]).markdown().splitlines()
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [3, 3, 3]


def test_terminal_output_has_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    show(MARKUP)
    show(Table([Column(MARKUP)], [[MARKUP]]))
    tracker = ProgressTracker(3)
    tracker.begin("a\x1b[2Jb", [])

    assert "\x1b" not in capsys.readouterr().out + tracker.text()


def test_dollar_signs_in_names_are_not_formulas(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    save(bars("$\\frac$", {"a$_{$": {"4211": Estimate(0.5, 0.4, 0.6)}}), tmp_path / "bars.svg")

    assert (tmp_path / "bars.svg").stat().st_size > 0


def test_fill_replaces_only_the_text_between_markers() -> None:
    page = "Prose.\n<!-- begin table -->\nold\n<!-- end table -->\nMore prose.\n"

    assert fill(page, {"table": "new\n"}, "page.md") == page.replace("old", "new")


@pytest.mark.parametrize("text", ["", "<!-- end table -->\n<!-- begin table -->\n"])
def test_missing_markers_are_refused(text: str) -> None:
    with pytest.raises(TetrarchiaError, match=r"^page\.md must have the markers"):
        fill(text, {"table": "new"}, "page.md")


@pytest.mark.parametrize(
    ("played", "words"),
    [
        (match("strong", ("4200", "4211"), 3), "--agents strong --level 4200,4211 --games 3 --seed 0"),
        (match(("strong", "strong", "weak", "weak")), "--agents strong,weak --level 4200 --games 20 --seed 0"),
        (match(("strong", "weak", "weak", "weak")), "--agents strong,weak,weak,weak --level 4200 --games 20 --seed 0"),
        (match("weak", scenario="danube_wars"), "--agents weak --scenario danube_wars --games 20 --seed 0"),
        (
            match("weak", variants=["imperivm", "diarchia"], modules=["dux"]),
            "--agents weak --level 4200 --variants imperivm,diarchia --modules dux --games 20 --seed 0",
        ),
    ],
)
def test_repeat_command_contains_the_options_of_the_match(played: Match, words: str) -> None:
    assert repeat_command(played.spec, "results/main/x.jsonl") == f"tetrarchia eval {words} --out results/main/x.jsonl"


def test_team_label_is_as_short_as_possible() -> None:
    """R13.1: the label lists one agent per player where possible."""
    assert [team_label(tuple(agents)) for agents in ("aaaa", "aabb", "aabc", "abcd", "abaa")] == ["a", "a,b", "a,b,c", "a,b,c,d", "a,b,a,a"]


def test_rules_label() -> None:
    assert rules_label(spec("weak")) == "base game"
    assert rules_label(spec("weak", scenario="danube_wars", variants=["imperivm"])) == "danube_wars + imperivm"
    assert rules_label(spec("weak", fixed_setup=True, max_turns=50)) == "base game + fixed set-up + at most 50 turns"


def plots() -> dict[str, Any]:
    pytest.importorskip("matplotlib")
    rates = {"strong": {"4200": wilson(8, 10), "4211": wilson(0, 10)}, "weak": {"4200": wilson(10, 10)}}
    matrix = pair_matrix([match(team.agents) for team in pair_teams(["strong", "weak"])[1:]])
    return {
        "bars": bars("Win rates", rates, "level"),
        "dots": dots("Win rates", rates, "level"),
        "heat": heat_map("81 levels", level_grid(dict.fromkeys(RULEBOOK_LEVELS[:80], 0.5))),
        "all": heat_map("256 levels", level_grid(dict.fromkeys(ALL_LEVELS, 0.25))),
        "matrix": matrix_plot("Pairs", matrix, "East", "West"),
    }


@pytest.mark.slow
def test_plots_are_png_or_svg_and_reproducible(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        for name, plot in plots().items():
            save(plot, tmp_path / folder / f"{name}.png")
            save(plot, tmp_path / folder / f"{name}.svg")
    for path in (tmp_path / "first").iterdir():
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n" if path.suffix == ".png" else b"<?xml")
        assert content == (tmp_path / "second" / path.name).read_bytes(), path.name
    with pytest.raises(TetrarchiaError, match="jpg"):
        save(plots()["bars"], tmp_path / "bars.jpg")


def test_missing_matplotlib_is_refused_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TetrarchiaError, match=r'pip install "matplotlib'):
        bars("Win rates", {"a": {"4200": wilson(1, 2)}})


@pytest.mark.slow
def test_page_has_every_section_and_its_plots(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for section in ("main", "ladder", "scenarios", "options"):
        for part in ("rates", "comparisons", "endings", "scores", "commands"):
            assert f"<!-- begin {section} {part} -->" in text
    for part in ("sweep rates", "sweep digits", "sweep leads", "crossplay pairs", "crossplay ad hoc", "crossplay emperors", "versions"):
        assert f"<!-- begin {part} -->" in text
    for name in ("standard-levels", "ladder", "sweep-strong", "sweep-weak", "scenarios", "options", "crossplay-pair", "crossplay-ad-hoc"):
        assert f"](pictures/results/{name}.svg)" in text
        assert (page.parent / f"pictures/results/{name}.svg").is_file()
        assert (page.parent / f"pictures/results/{name}.png").is_file()


def test_page_of_the_project_has_all_markers() -> None:
    text = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    begins = re.findall(r"^<!-- begin (.*) -->$", text, re.MULTILINE)

    assert begins == re.findall(r"^<!-- end (.*) -->$", text, re.MULTILINE)
    assert len(begins) == len(set(begins)) == 31


@pytest.mark.slow
def test_prose_of_an_existing_page_is_kept(page: Path, results: Path) -> None:
    text = page.read_text(encoding="utf-8")
    edited = results.parent / "edited.md"
    edited.write_text(text.replace("# Results\n", "# Results\n\nProse.\n").replace("| strong |", "| stale |"), encoding="utf-8")

    write_report(results, edited)

    assert edited.read_text(encoding="utf-8") == text.replace("# Results\n", "# Results\n\nProse.\n")


@pytest.mark.slow
def test_page_has_the_numbers_of_the_files_and_the_commands(page: Path) -> None:
    text, results = page.read_text(encoding="utf-8"), page.parents[1] / "results"
    strong, weak = (load_match(results / f"main/{name}.jsonl").games for name in ("strong", "weak"))
    rates = [percent(summarize(games).win_rate) for games in (strong[:40], strong[40:])]
    assert f"| strong | 40 | {rates[0]} | {rates[1]} |" in text
    assert "tetrarchia eval --agents weak --level 4200,4222 --games 40 --seed 0 --out results/main/weak.jsonl" in text
    assert "strong `0123456789ab`, weak `0123456789ab`" in text
    assert text.count("tetrarchia eval ") == len(list(results.rglob("*.jsonl")))
    test = compare_games(("strong", strong[:40]), ("weak", weak))
    assert f"| 4200 | strong | weak | 40 | {percentage_points(test.wins.difference)} |" in text


@pytest.mark.slow
def test_page_is_reproducible(page: Path, results: Path) -> None:
    first, second = page.parent, page_of(results).parent
    files = [path.relative_to(first) for path in first.rglob("*") if path.is_file()]
    assert len(files) == 17
    for file in files:
        assert (first / file).read_bytes() == (second / file).read_bytes(), file


def test_new_page_has_only_sections_with_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    keep(tmp_path / "results/scenarios/weak.jsonl", match("weak", scenario="great_persian_war"))
    text = page_of(tmp_path / "results").read_text(encoding="utf-8")
    assert "great_persian_war" in text
    assert "<!-- begin main" not in text
    assert "<!-- begin crossplay" not in text


def test_page_in_a_missing_folder_is_refused(results: Path) -> None:
    with pytest.raises(TetrarchiaError, match="nowhere"):
        write_report(results, results / "nowhere/results.md")


@pytest.mark.parametrize(
    ("file", "other", "reason"),
    [
        ("main/other.jsonl", match("middling", modules=["dux"]), "keep them in different folders"),
        ("main/again.jsonl", match("weak", ("4222",), 3), "both contain the game of weak at level 4222 with seed 0"),
        ("crossplay/pair/ad-hoc.jsonl", match(("weak", "strong", "weak", "weak")), "pair play gives"),
        (
            "search/turns.jsonl",
            match("weak"),
            r"must be in one of main, ladder, sweep, .*; got .*search/turns\.jsonl",
        ),
        ("crossplay/ad-hoc/other.jsonl", match("middling", ("4211",)), "different levels"),
    ],
)
def test_misplaced_or_conflicting_files_are_refused(results: Path, file: str, other: Match, reason: str) -> None:
    pytest.importorskip("matplotlib")
    keep(results / file, other)
    if not file.startswith("main"):
        for path in (
            *results.glob("main/*"),
            *results.glob("ladder/*"),
            *results.glob("sweep/*"),
            *results.glob("options/*"),
            *results.glob("scenarios/*"),
        ):
            path.unlink()
    with pytest.raises(TetrarchiaError, match=reason):
        page_of(results)
