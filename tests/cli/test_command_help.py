"""Help texts, examples, completion and the command `levels`."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from typer.models import OptionInfo

from tetrarchia_app.cli import arguments, main
from tetrarchia_app.cli.app import EXAMPLES as FIRST_EXAMPLES
from tetrarchia_app.cli.app import command_modules
from tetrarchia_app.cli.arguments import all_levels
from tetrarchia_app.cli.levels import level_in_words
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.options import Options
from tetrarchia_env.schema import field_types
from tetrarchia_train.config import PRESETS, TrainOptions, preset_names

EXAMPLES = {name: module.EXAMPLES for name, module in command_modules().items()}
ALL = list(EXAMPLES)


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tetrarchia_app", *arguments]
    return subprocess.run(command, env={**os.environ, "COLUMNS": "200", **environment}, capture_output=True, text=True, check=False)


def help_of(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int = 200) -> str:
    """Return the help of a command, shown by this process."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as leaving:
        main([command, "--help"])
    assert leaving.value.code == 0
    return capsys.readouterr().out


def test_option_values_match_the_engine() -> None:
    assert tuple(arguments.VARIANTS) == VARIANTS
    assert tuple(arguments.MODULES) == MODULES
    assert tuple(arguments.SCENARIOS) == SCENARIOS
    assert tuple(arguments.EMPERORS) == EMPERORS
    assert len(Options(level=list(all_levels())).level_names) == 256


def test_all_specified_commands_exist() -> None:
    assert {"watch", "play", "serve", "replay", "eval", "train", "bench", "levels", "doctor", "study", "dataset"} <= set(ALL)


def test_examples_name_existing_commands() -> None:
    assert all(line.split()[1] in ALL for lines in (FIRST_EXAMPLES, *EXAMPLES.values()) for line in lines)


@pytest.mark.parametrize("command", ALL)
def test_help_ends_with_examples_whose_options_exist(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = help_of(command, capsys, monkeypatch)

    assert shown.rstrip().endswith(EXAMPLES[command][-1])
    mine = [line for line in EXAMPLES[command] if line.split()[1] == command]
    for option in re.findall(r"--[\w-]+", " ".join(mine)):
        assert f" {option} " in shown.partition("Example")[0]


@pytest.mark.parametrize("command", ALL)
def test_help_is_not_truncated_at_80_columns(command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert "…" not in help_of(command, capsys, monkeypatch, 80)


def test_without_arguments_the_command_shows_its_help() -> None:
    shown = run()

    assert shown.returncode == 0
    assert all(f" {command} " in shown.stdout for command in ALL)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("wa", "watch"),
        ("watch --agents planner,gr", "planner,greedy"),
        ("watch --scenario dan", "danube_wars"),
        ("eval --variants imperivm,the", "imperivm,the_great"),
        ("eval --level rule", "rulebook"),
        ("levels 420", "4200"),
        ("train --preset ppo-", "ppo-full"),
        ("train --learning", "--learning-rate"),
        ("train --stop-after d", "demonstrations"),
    ],
)
def test_tab_completes_commands_options_and_names(
    typed: str, first: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the fish shell requests completions."""
    monkeypatch.setenv("_TETRARCHIA_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"tetrarchia {typed}")

    with pytest.raises(SystemExit):
        main([])

    assert capsys.readouterr().out.splitlines()[0].split("\t")[0] == first


def test_all_training_options_are_in_the_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = " ".join(help_of("train", capsys, monkeypatch).replace("│", " ").split())

    for one in fields(TrainOptions):
        [option] = [meta for meta in field_types(TrainOptions)[one.name].__metadata__ if isinstance(meta, OptionInfo)]
        assert f" --{one.name.replace('_', '-')} " in shown
        assert option.help is not None
        assert option.help in shown
        assert str(option.rich_help_panel) in shown
        default = f"no-{one.name.replace('_', '-')}" if one.default is False else one.default
        assert default in ("", None) or f"[default: {default}]" in shown
    assert [*preset_names()] == sorted(file.stem for file in PRESETS.glob("*.yaml"))


def test_help_imports_neither_torch_nor_the_compiler() -> None:
    code = "import sys; from tetrarchia_app.cli import app; print(*{'numba', 'torch', 'yaml'}.intersection(sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_train_command_and_module_have_the_same_options() -> None:
    command = [sys.executable, "-m", "tetrarchia_train", "--help"]
    found = subprocess.run(command, env={**os.environ, "COLUMNS": "200"}, capture_output=True, text=True, check=True).stdout
    shown = run("train", "--help").stdout

    options = re.compile(r"--[a-z-]+")
    assert set(options.findall(found)) == set(options.findall(shown.partition("Examples")[0]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Missing option '--name'"),
        (["--name", "mine", "--stepz", "3"], "No such option: --stepz"),
        (["--name", "mine", "--total-timesteps", "many"], "'--total-timesteps'"),
        (["--name", "mine", "--preset", "huge"], "no preset 'huge'"),
        (["--name", "mine", "--stop-after", "noon"], "'--stop-after'"),
        (["--name", "mine", "--resume"], "there is no run to resume in runs"),
        (["--name", "mine", "--resume", "--preset", "ppo"], "--resume cannot be combined with --preset"),
    ],
)
def test_wrong_training_options_give_a_one_line_error(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit) as leaving:
        main(["train", *arguments])

    message = capsys.readouterr().err
    assert leaving.value.code == 2
    assert message.startswith("tetrarchia: ")
    assert sentence in message
    assert len(message.splitlines()) == 1


def test_level_is_described_in_words() -> None:
    words = level_in_words("4211")

    assert words.splitlines()[0] == "Level 4211: the normal level, in the rulebook's table of 81 levels."
    assert "  1 Barbarian army on borders at the start" in words
    assert "the level of the scenario danube_wars" in level_in_words("4122")
    assert "not in the rulebook's table" in level_in_words("2033")
    with pytest.raises(ValueError, match="extra Revolts must be 0 to 3; got '6'"):
        level_in_words("4261")


def test_levels_lists_variants_modules_and_scenarios() -> None:
    shown = run("levels")

    assert shown.returncode == 0
    for name in (*arguments.VARIANTS, *arguments.MODULES, *arguments.SCENARIOS, *arguments.LEVELS):
        assert name in shown.stdout


def test_version_is_shown() -> None:
    from tetrarchia_env import __version__

    assert run("--version").stdout == f"tetrarchia {__version__}\n"
