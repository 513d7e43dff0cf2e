"""Tests of `tetrarchia eval --group`: finding the runs, figures over runs, cross-play of runs, files and plots."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from helpers.made_up_runs import match
from helpers.made_up_runs import save as save_match
from tetrarchia_app import cli
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.groups import GroupReport, find_group, group_results, learning_curve_plots
from tetrarchia_eval.match import Match
from tetrarchia_eval.page import write_report
from tetrarchia_eval.plots import save
from tetrarchia_eval.result_files import load_match
from tetrarchia_eval.statistics import Estimate

LEVELS = ("4200", "4211")
RUNS = {"seed-1": "strong", "seed-2": "middling", "seed-3": "weak"}


def made_up_group(name: str = "mine", runs: Sequence[str] = tuple(RUNS), *, cross_play: bool = False, games: int = 40) -> dict[str, Match]:
    found = {f"{name}/{run}": match(RUNS[run], LEVELS, games) for run in runs}
    for east in runs if cross_play else ():
        for west in runs:
            if east != west:
                found[f"{name}/{east}+{west}"] = match((RUNS[east],) * 2 + (RUNS[west],) * 2, LEVELS, games)
    return found


def win_rate(played: Match, level: str | None = None) -> float:
    return float(np.mean([game.won for game in played.games if level in (None, game.level)]))


def checkpoints(folder: Path, seeds: Sequence[int], inside: str = "") -> None:
    """Write a small checkpoint for each seed."""
    torch = pytest.importorskip("torch")
    from tetrarchia_agents.checkpoints import save_checkpoint
    from tetrarchia_agents.network import make_network
    from tetrarchia_agents.network_config import NetworkConfig

    config = NetworkConfig(node_dim=8, encoder_layers=1, readout_dim=4, hidden_dim=32)
    for seed in seeds:
        torch.manual_seed(seed)
        save_checkpoint(folder / f"seed-{seed}" / inside, make_network(config), config, {"training": {}})


def evaluate(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["eval", *words])
    return int(ended.value.code or 0)


def estimate(cell: object) -> Estimate:
    assert isinstance(cell, Estimate)
    return cell


def test_the_mean_of_a_group_is_the_mean_of_its_runs() -> None:
    matches = made_up_group()
    rows = {str(row[0]): row for row in GroupReport(matches).summary().rows}
    for level in LEVELS:
        rates = [win_rate(played, level) for played in matches.values()]
        _, group, runs, average, _, iqm, gap, worst, best = rows[level]
        assert (group, runs) == ("mine", 3)
        assert (worst, best) == pytest.approx((min(rates), max(rates)))
        assert (estimate(average).value, estimate(gap).value) == pytest.approx((np.mean(rates), 1 - np.mean(rates)))
        assert estimate(iqm).value == pytest.approx(np.mean(rates))  # a quarter of three runs, rounded down, is none
        assert estimate(average).low < estimate(average).value < estimate(average).high
    every = [win_rate(played, level) for played in matches.values() for level in LEVELS]
    assert estimate(rows["all"][3]).value == pytest.approx(np.mean(every))
    assert estimate(rows["all"][5]).value == pytest.approx(np.mean(sorted(every)[1:5]))


def test_a_better_group_has_a_higher_probability_of_improvement() -> None:
    report = GroupReport(made_up_group("good", ["seed-1", "seed-2"]) | made_up_group("bad", ["seed-2", "seed-3"]))
    rows = {str(row[0]): row for row in report.improvement_table().rows}
    assert list(rows["4200"][1:3]) == ["good", "bad"]
    assert estimate(rows["4200"][3]).value == (1 + 1 + 0.5 + 1) / 4  # one of the four pairs is the same agent
    assert estimate(rows["all"][3]).value == (1 + 1 + 0.5 + 1) / 4


def test_differences_from_the_first_group() -> None:
    report = GroupReport(made_up_group("good", ["seed-1", "seed-2"]) | made_up_group("bad", ["seed-2", "seed-3"]))
    good, bad = report.difference_table().rows
    places, means = len(report.places), {str(row[1]): estimate(row[3]) for row in report.summary().rows if row[0] == "all"}
    assert good[:2] == ["good", 2]
    assert good[2 + places :] == [None] * places
    assert estimate(good[1 + places]) == means["good"]
    difference = estimate(bad[-1])
    assert difference.value == pytest.approx(means["bad"].value - means["good"].value)
    assert difference.low < difference.value < difference.high


def test_cross_play_of_runs_gives_the_gap_by_level_and_over_levels() -> None:
    matches = made_up_group(cross_play=True)
    report = GroupReport(matches)
    own = np.mean([win_rate(played) for name, played in matches.items() if "+" not in name])
    cross = np.mean([win_rate(played) for name, played in matches.items() if "+" in name])
    last = report.gap_table().rows[-1]
    assert last[:3] == ["all", "mine", 3]
    assert [estimate(cell).value for cell in last[3:]] == pytest.approx([own, cross, own - cross])
    assert report.groups["mine"].matrix().cells["seed-1", "seed-3"].value == win_rate(matches["mine/seed-1+seed-3"])


def test_a_scenario_is_the_place_of_its_games() -> None:
    matches = {f"mine/{run}": match(skill, games=10, scenario="danube_wars") for run, skill in RUNS.items()}
    assert GroupReport(matches).places == ["danube_wars"]


def test_groups_without_all_pairs_show_no_cross_play() -> None:
    matches = made_up_group(cross_play=True)
    del matches["mine/seed-1+seed-2"]
    assert GroupReport(matches).cross_play_groups() == []


def test_matches_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(TetrarchiaError, match="games differs"):
        group_results(made_up_group("mine") | made_up_group("other", games=20))
    with pytest.raises(TetrarchiaError, match="at least 2 runs; got 1"):
        group_results(made_up_group("mine", ["seed-1"]))
    foreign = made_up_group("mine", ["seed-1", "seed-2"]) | {"mine/odd": match(("weak", "weak", "strong", "strong"), LEVELS, 40)}
    with pytest.raises(TetrarchiaError, match="must be a pair of runs"):
        group_results(foreign)


def test_a_report_has_tables_and_plots_of_everything(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    report = GroupReport(
        made_up_group("one", cross_play=True) | made_up_group("two"),
        {"one": {f"seed-{seed}": curve(seed) for seed in (1, 2, 3)}, "two": {}},
    )
    assert {"worst run", "probability that one is better", "self-play minus cross-play"} <= set(report.table().titles)
    plots, again = report.plots(), report.plots()
    assert list(plots) == ["levels", "profile", "cross-play-one", "one-timesteps", "one-minutes"]
    for name in plots:
        save(plots[name], tmp_path / "first.svg")
        save(again[name], tmp_path / "again.svg")
        assert (tmp_path / "first.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()
    assert len(list(report.parts())) == 13


def curve(seed: int) -> list[dict[str, object]]:
    """Return a made-up learning curve; runs differ in speed and success."""
    return [
        {"timesteps": 100_000 * n, "seconds": (20 + seed) * n, "win_rates": dict.fromkeys(LEVELS, 0.2 * seed * n / 10)} for n in range(11)
    ]


def test_learning_curves_show_levels_that_all_runs_have() -> None:
    pytest.importorskip("matplotlib")
    runs = {"seed-1": curve(1), "seed-2": [point | {"win_rates": {"4200": 0.5}} for point in curve(2)]}
    (axes,) = learning_curve_plots("mine", runs)["timesteps"].axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["4200"]
    assert len(axes.lines) == 3  # two runs and their mean
    assert learning_curve_plots("mine", {"seed-1": curve(1), "seed-2": []}) == {}


def test_groups_are_found_by_name_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = tmp_path / "shipped"
    checkpoints(Path("runs/mine"), [10, 2], "final")
    checkpoints(shipped / "published", [1, 2])

    assert find_group("mine").agents == {"seed-2": "ppo:runs/mine/seed-2/final", "seed-10": "ppo:runs/mine/seed-10/final"}
    assert find_group("runs/mine") == find_group("mine")
    assert find_group("published", shipped).agents == {"seed-1": "ppo:published/seed-1", "seed-2": "ppo:published/seed-2"}
    assert find_group("shipped/published").agents["seed-1"] == "ppo:shipped/published/seed-1"
    assert find_group("shipped/published", shipped).agents["seed-1"] == "ppo:published/seed-1"


def test_a_bare_name_that_fits_several_groups_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints(Path("runs/mine"), [1, 2], "final")
    checkpoints(Path("shipped/mine"), [1, 2])
    with pytest.raises(TetrarchiaError, match="give the folder, one of runs/mine, shipped/mine"):
        find_group("mine", Path("shipped"))
    assert find_group("runs/mine", Path("shipped")).agents["seed-1"] == "ppo:runs/mine/seed-1/final"
    assert find_group("shipped/mine", Path("shipped")).agents["seed-1"] == "ppo:mine/seed-1"


def test_groups_that_are_missing_unfinished_or_single_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints(Path("runs/mine"), [1], "final")
    with pytest.raises(TetrarchiaError, match="no group 'missing'"):
        find_group("missing")
    with pytest.raises(TetrarchiaError, match="at least 2 runs; got 1"):
        find_group("mine")
    checkpoints(Path("runs/mine"), [2], "latest")
    with pytest.raises(TetrarchiaError, match="seed-2 is not finished"):
        find_group("mine")


def test_the_command_evaluates_a_group_and_keeps_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints(Path("runs/mine"), [1, 2, 3], "final")
    words = ("--group", "mine", "--level", "5300,4200", "--games", "3", "--workers", "1", "--max-turns", "12", "--out", "kept")
    assert evaluate(*words, "--cross-play", "--table", "table.json") == 0

    files = sorted(path.relative_to("kept").as_posix() for path in Path("kept").rglob("*.jsonl"))
    pairs = [f"mine/seed-{one}+seed-{other}.jsonl" for one in (1, 2, 3) for other in (1, 2, 3) if one != other]
    assert files == sorted([*(f"mine/seed-{seed}.jsonl" for seed in (1, 2, 3)), *pairs])
    assert {load_match(Path("kept") / file).spec.first_seed for file in files} == {0}
    assert "all" in Path("table.json").read_text()
    capsys.readouterr()
    assert evaluate(*words) == 0
    assert "already complete: kept/mine/seed-1.jsonl" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [("--agents", "random"), ("--against", "random"), ("--players", "2"), ("--group", "mine"), ("--cross-play",)]
)
def test_options_that_do_not_fit_a_group_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoints(Path("runs/mine"), [1, 2], "final")
    assert evaluate("--group", "mine", "--games", "2", *words) == 2
    assert not Path("runs/eval").exists()


def test_tables_of_groups_are_filled_into_the_pages_with_their_markers(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, played in (made_up_group("one", cross_play=True) | made_up_group("two")).items():
        save_match(tmp_path / "results/groups" / f"{name}.jsonl", played)
    page, new = tmp_path / "page.md", tmp_path / "new.md"
    page.write_text(
        "".join(f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in ("versions", "groups cross-play")), encoding="utf-8"
    )

    write_report(tmp_path / "results", page)
    write_report(tmp_path / "results", new)

    gap = GroupReport(made_up_group("one", cross_play=True)).gap_table().markdown()
    assert gap in page.read_text(encoding="utf-8")
    names = ("rates", "runs", "profile", "improvement", "cross-play", "commands")
    assert all(f"<!-- begin groups {name} -->" in new.read_text(encoding="utf-8") for name in names)
    links = re.findall(r"\]\((pictures/[^)]*)\)", new.read_text(encoding="utf-8"))
    assert len(links) == 3
    assert all((tmp_path / link).is_file() for link in links)
