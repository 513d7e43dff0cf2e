"""Tests of `tetrarchia eval`: options, output and files."""

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, GameResult
from tetrarchia_app import cli
from tetrarchia_env.batch import Games, Masks
from tetrarchia_eval import workers
from tetrarchia_eval.arena import Arena
from tetrarchia_eval.match import repeat_command
from tetrarchia_eval.result_files import load_match

TINY = ("--agents", "random", "--games", "20", "--workers", "1")
Command = Callable[..., "CommandResult"]


@dataclass(frozen=True)
class CommandResult:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def saved(self) -> list[Path]:
        return [Path(line.removeprefix("saved: ")) for line in self.out.splitlines() if line.startswith("saved: ")]


@dataclass(frozen=True)
class Named(Agent):
    """Agent that accepts any name and plays the first legal action."""

    name: str = ""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return masks.argmax(axis=1)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `tetrarchia eval ...` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    def run_command(*words: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["tetrarchia", "eval", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        shown = capsys.readouterr()
        return CommandResult(int(ended.value.code or 0), shown.out, shown.err)

    return run_command


def games_of(path: Path) -> list[GameResult]:
    """Return the games with their durations removed."""
    return [replace(game, seconds=(0.0,) * 4) for game in load_match(path).games]


def row_of(shown: CommandResult, *cells: str) -> str:
    """Return the line of the output that begins with these cells."""
    (line,) = (line for line in shown.out.splitlines() if line.split()[: len(cells)] == list(cells))
    return line


def test_a_second_run_reports_that_the_file_is_complete(run: Command) -> None:
    first = run(*TINY, "--out", "games.jsonl")
    second = run(*TINY, "--out", "games.jsonl")

    assert first.saved == [Path("games.jsonl")]
    assert (second.code, second.saved) == (0, [])
    assert second.out.endswith("already complete: games.jsonl\n")


def test_results_are_shown_and_saved(run: Command) -> None:
    shown = run(*TINY)
    assert (shown.code, shown.err) == (0, "")
    assert "base game, level 4211, 20 games each, seeds 0 to 19" in shown.out
    assert "% (" in row_of(shown, "4211", "random", "20")
    (file,) = shown.saved
    assert file.parent == Path("runs/eval")
    assert file.name.startswith("random_4211_seeds-0-19_")
    assert len(load_match(file).games) == 20


def test_agents_seed_changes_the_games(run: Command) -> None:
    run(*TINY, "--out", "first.jsonl")
    run(*TINY, "--out", "other.jsonl", "--agents-seed", "1")
    assert games_of(Path("first.jsonl")) != games_of(Path("other.jsonl"))


def test_same_command_continues_an_unfinished_file_and_shows_a_finished_one(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(*TINY)
    (file,) = first.saved
    whole, lines = games_of(file), file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:8]) + lines[8][:30])
    assert run(*TINY).saved == [file]
    assert games_of(file) == whole
    monkeypatch.setattr(workers, "play_chunk", None)  # no games are left to play
    assert run(*TINY).code == 0


def test_ctrl_c_explains_how_to_continue(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Arena, "play", interrupted)
    shown = run(*TINY)
    assert shown.code == 130
    assert "the same command continues" in shown.err


def test_another_version_of_an_agent_has_its_own_file(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    before, named = run(*TINY).saved, run(*TINY, "--out", "named.jsonl")
    monkeypatch.setattr(workers, "fingerprint", lambda agent: "changed")
    after, refused = run(*TINY).saved, run(*TINY, "--out", "named.jsonl")
    assert before != after
    assert (named.code, refused.code) == (0, 2)
    assert "named.jsonl: it contains games of another version of random" in refused.err
    assert "choose another file or delete this one" in refused.err


def test_one_comparison_is_shown_as_text(run: Command) -> None:
    shown = run(*TINY, "--against", "greedy", "--out", "both")
    assert shown.saved == [Path("both/random.jsonl"), Path("both/greedy.jsonl")]
    assert "random minus greedy on the same 20 seeds: games won " in shown.out
    assert "(McNemar's exact test); score " in shown.out


def test_several_comparisons_are_shown_as_a_table(run: Command) -> None:
    shown = run(*TINY, "--against", "random,greedy", "--against", "greedy,random", "--level", "4200,5300", "--table", "all.csv")
    assert "p-values are corrected for 4 comparisons (Holm)" in shown.out
    for level in ("4200", "5300"):
        assert row_of(shown, level, "greedy,random", "20", "0.0", "%")  # win rate
        assert row_of(shown, level, "greedy,random", "20", "0.0", "(-16.1")  # difference
    assert row_of(shown, "all", "random", "40")
    rows = list(csv.DictReader(Path("all.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["level"], row["agent"]) for row in rows[:3]] == [("4200", "random"), ("4200", "random,greedy"), ("4200", "greedy,random")]
    assert [row["p"] for row in rows[:2]] == ["", "1.0"]
    assert {"won, low", "won, high", "random minus this, score, low", "rome fell", "ms per decision"} <= set(rows[0])


def test_players_share_the_emperors(run: Command) -> None:
    """R13.1: the line-up is assigned to the players."""
    (file,) = run("--agents", "random,greedy,random", "--players", "3", "--games", "2", "--workers", "1").saved
    assert load_match(file).spec.agents == ("random", "random", "greedy", "random")


def test_a_long_line_up_has_a_short_file_name(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "named", AgentType("named", "", f"{__name__}:Named"))
    names = [f"named:{'x' * 200}{last}" for last in "ab"]
    first, second = run("--agents", names[0], "--against", names[1], "--games", "1", "--max-turns", "2", "--workers", "1").saved
    assert first != second
    assert len(first.name) == len(second.name) == 150 + len("_12345678.jsonl")


def test_line_ups_with_the_same_file_name_are_refused(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "named", AgentType("named", "", f"{__name__}:Named"))
    failed = run("--agents", "named:a/b", "--against", "named:a-b", "--games", "1", "--out", "both")
    assert failed.code == 2
    assert "named:a/b and named:a-b have the same file both/named-a-b.jsonl" in failed.err
    assert not Path("both").exists()


def test_a_scenario_is_played_and_shown(run: Command) -> None:
    shown = run(*TINY, "--scenario", "danube_wars", "--variants", "imperivm")
    assert "danube_wars + imperivm, level 4122" in shown.out
    assert row_of(shown, "danube_wars", "random", "20")


@pytest.mark.slow
def test_many_levels_are_shown_as_a_map(run: Command) -> None:
    pytest.importorskip("matplotlib")
    words = ("--agents", "random", "--games", "1", "--max-turns", "2", "--workers", "1", "--level", "rulebook")
    shown = run(*words, "--against", "greedy", "--plot", "map.svg", "--table", "map.json")
    assert "81 levels, 1 games each" in shown.out
    assert shown.out.count("00   01   02   10   11   12   20   21   22") == 2
    assert row_of(shown, "all", "random", "81")
    assert row_of(shown, "random", "greedy", "81", "0", "0")
    assert Path("map-random.svg").is_file()
    assert Path("map-greedy.svg").is_file()
    assert len(json.loads(Path("map.json").read_text(encoding="utf-8"))) == 2 * 81


def test_cross_play_shows_matrices_and_saves_files_for_the_page(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    loaded: list[Path] = []
    monkeypatch.setattr("tetrarchia_eval.page.load_match", lambda path: (loaded.append(path), load_match(path))[1])
    shown = run("--agents", "random,greedy", "--cross-play", "--games", "3", "--out", "crossplay", "--table", "t.md", "--plot", "p.png")
    assert "saved: 12 files in crossplay" in shown.out
    assert len(row_of(shown, "greedy", "+", "random").split("%")) == 5
    assert {path.name for path in Path().glob("p-*.png")} == {"p-pair.png", "p-ad-hoc.png"}
    assert len(Path("t.md").read_text(encoding="utf-8").splitlines()) == 2 + 12
    assert len(list(Path("crossplay/pair").iterdir())) == 4
    assert Path("crossplay/ad-hoc/random+greedy@maximian.jsonl").is_file()
    Path("results").mkdir()
    Path("crossplay").rename("results/crossplay")
    page = run("--report", "results", "--out", "page.md")
    assert page.out == "written: page.md\n"
    assert "<!-- begin crossplay pairs -->" in Path("page.md").read_text(encoding="utf-8")
    assert sorted(loaded) == sorted(Path("results").rglob("*.jsonl"))  # each file once


@pytest.mark.parametrize("plot", ["bars.png", "bars.svg"])
def test_few_levels_are_plotted_as_bars(run: Command, plot: str) -> None:
    pytest.importorskip("matplotlib")
    shown = run(*TINY, "--level", "4200,4211", "--plot", plot)
    assert f"written: {plot}" in shown.out
    assert Path(plot).stat().st_size > 1000


@pytest.mark.parametrize(
    "words",
    [
        ("--level", "4200,2033", "--seed", "5", "--agents-seed", "2"),
        ("--level", "rulebook", "--max-turns", "2", "--fixed-setup"),
        ("--variants", "imperivm,diarchia", "--modules", "dux", "--max-turns", "3"),
        ("--scenario", "great_persian_war"),
    ],
)
def test_printed_command_reproduces_the_file(run: Command, words: tuple[str, ...]) -> None:
    run("--agents", "random", "--games", "1", *words, "--out", "first.jsonl")
    spec = load_match("first.jsonl").spec
    assert run(*repeat_command(spec, "second.jsonl").split()[2:]).code == 0
    assert load_match("second.jsonl").spec == spec
    assert games_of(Path("second.jsonl")) == games_of(Path("first.jsonl"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--agents", "nero"), "unknown agent 'nero': choose from random, greedy, planner"),
        (("--against", "random"), "against must differ from the other line-ups; got random twice"),
        (("--workers", "0"), "workers must be an integer of at least 1; got 0"),
        (("--cross-play",), "cross-play needs at least two agents, separated by commas; got 'random'"),
        (("--agents", "random,greedy", "--cross-play", "--players", "2"), "give neither against nor players"),
        (("--plot", "plot.jpg"), "plot must end in .png or .svg; got 'plot.jpg'"),
        (("--table", "table.xlsx"), "table must end in .md, .csv, .json; got 'table.xlsx'"),
        (("--table", "nowhere/table.md"), "there is no folder nowhere"),
        (("--out", "nowhere/run.jsonl"), "there is no folder nowhere"),
        (("--out", "folder"), "out must be a file that ends in .jsonl for one line-up; got 'folder'"),
        (("--out", "run.txt"), "out must be a file that ends in .jsonl for one line-up; got 'run.txt'"),
        (("--against", "greedy", "--out", "run.jsonl"), "out must be a folder for several line-ups; got 'run.jsonl'"),
        (("--against", "greedy", "--out", "file.txt"), "out must be a folder for several line-ups; got 'file.txt'"),
        (("--out", "kept.jsonl"), "it contains another match, with games 2, not 20"),
        (("--report", "folder"), "report takes no other option than out; got agents, games, workers"),
    ],
)
def test_user_error_is_one_line_and_nothing_is_played(run: Command, words: tuple[str, ...], message: str) -> None:
    pytest.importorskip("matplotlib")
    run("--agents", "random", "--games", "2", "--out", "kept.jsonl")
    Path("folder").mkdir()
    Path("file.txt").touch()
    before = sorted(Path().rglob("*.jsonl"))
    failed = run(*TINY, *words)
    assert (failed.code, failed.out) == (2, "")
    assert message in failed.err
    assert len(failed.err.splitlines()) == 1
    assert sorted(Path().rglob("*.jsonl")) == before


def test_report_without_results_is_refused(run: Command) -> None:
    failed = run("--report", "results", "--out", "page.md")
    assert failed.code == 2
    assert "report must be a folder with results; got results" in failed.err

    Path("results").mkdir()
    failed = run("--report", "results", "--out", "page.md")
    assert failed.code == 2
    assert "there are no results in results" in failed.err
