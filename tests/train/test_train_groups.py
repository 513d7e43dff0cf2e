"""Tests of groups of runs: seeds, folders, training in processes, stopping, resuming and publishing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from safetensors.torch import load_file  # noqa: E402

from tetrarchia_agents import cards  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint, save_checkpoint  # noqa: E402
from tetrarchia_agents.network import make_network  # noqa: E402
from tetrarchia_app import cli  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_train import groups  # noqa: E402
from tetrarchia_train import publish as publishing  # noqa: E402
from tetrarchia_train import run as whole_run  # noqa: E402
from tetrarchia_train.config import EXIT_STOPPED, TrainConfig, parse_seeds, read_preset  # noqa: E402
from tetrarchia_train.metrics import PUBLISHED_CURVE_FILE, read_curve  # noqa: E402

STOP_TIMEOUT_S = 300


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides({"total_timesteps": 128, "eval_freq": 128, "n_eval_episodes": 2} | changes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder; return that of the runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def train(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", *words])
    return int(ended.value.code or 0)


def final_weights(run: Path) -> dict[str, list[float]]:
    return {name: tensor.flatten().tolist() for name, tensor in load_file(run / "final" / "weights.safetensors").items()}


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("1-5", [1, 2, 3, 4, 5]), ("7", [7]), ("1,4,10-12", [1, 4, 10, 11, 12]), ("3, 1", [3, 1]), ("0-0", [0])],
)
def test_seeds_are_numbers_and_ranges(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "ascending ranges") for text in ("5-1", "", "1-", "-3", "1..5", "a", "1,,2", "1.5", "²", "99999999999")),
        ("1,2,1", "got 1 twice"),
        ("1-3,3-4", "got 3 twice"),
        ("1-1000000000", "at most 1000"),
    ],
)
def test_bad_seeds_are_refused(text: str, reason: str) -> None:
    with pytest.raises(TetrarchiaError, match=f"^seeds must be .*{reason}"):
        parse_seeds(text)


def test_all_runs_are_created_before_training(folder: Path) -> None:
    group = groups.create_group(tiny(), "many", [2, 10, 1], "the command")
    runs = groups.group_runs(group)
    assert [run.name for run in runs] == ["seed-1", "seed-2", "seed-10"]
    assert [whole_run.saved_options(run) for run in runs] == [(tiny(seed=seed), "the command") for seed in (1, 2, 10)]


def test_each_run_can_start_from_the_checkpoint_of_its_seed(folder: Path) -> None:
    group = groups.create_group(tiny(init_checkpoint="runs/first/seed-{seed}/final"), "many", [1, 2], "")
    starts = [whole_run.saved_options(run)[0].init_checkpoint for run in groups.group_runs(group)]
    assert starts == ["runs/first/seed-1/final", "runs/first/seed-2/final"]


def test_a_seed_that_is_too_large_creates_nothing(folder: Path) -> None:
    with pytest.raises(TetrarchiaError, match="training option seed"):
        groups.create_group(tiny(), "many", [1, 2**31], "")
    assert not folder.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--preset", "tiny", "--seeds", "5-1"),
        ("--preset", "tiny", "--seeds", "1-2", "--seed", "3"),
        ("--preset", "tiny", "--seeds", "1-2", "--stop-after", "bc"),
        ("--preset", "tiny", "--jobs", "2"),
        ("--preset", "tiny", "--seeds", "1-2", "--jobs", "0"),
        ("--resume", "--seeds", "1-2"),
        ("--resume",),
    ],
)
def test_options_that_do_not_fit_together_are_refused(folder: Path, words: tuple[str, ...]) -> None:
    assert train("--name", "many", *words) == 2
    assert not folder.exists()


@pytest.mark.parametrize("name", ["many/seed-1", "../many", "many/seed-1/final"])
def test_names_with_slashes_are_refused_for_new_runs(folder: Path, name: str) -> None:
    assert train("--name", name, "--preset", "tiny") == 2
    assert not folder.exists()


def test_a_group_never_replaces_a_folder(folder: Path) -> None:
    (folder / "many").mkdir(parents=True)
    (folder / "many" / "notes.txt").write_text("mine")
    assert train("--name", "many", "--preset", "tiny", "--seeds", "1-2") == 2
    assert [path.name for path in (folder / "many").iterdir()] == ["notes.txt"]


def test_runs_trained_at_once_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    threads = [
        groups.share_cores(tiny(threads=6), given, jobs).threads for given, jobs in (({}, 1), ({}, 2), ({}, 20), ({"threads": 6}, 20))
    ]
    assert threads == [6, 4, 1, 6]


@pytest.mark.thorough
def test_a_group_trains_the_same_runs_as_single_commands(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--preset", "tiny", "--total-timesteps", "128", "--eval-freq", "128", "--n-eval-episodes", "2")
    assert train("--name", "many", *options, "--seeds", "1,3", "--jobs", "2") == 0
    shown = capfd.readouterr().out

    torch.set_num_threads(1)
    whole_run.train(tiny(seed=3), "single")
    assert final_weights(folder / "many/seed-3") == final_weights(folder / "single") != final_weights(folder / "many/seed-1")
    assert "seed-1: written: runs/many/seed-1/final" in shown
    assert "group many: 2 runs finished; held-out win rates, mean over runs: 4200" in shown

    before = [run.stat().st_mtime_ns for run in folder.glob("many/*/final/card.json")]
    assert train("--name", "many", "--resume") == 0
    assert [run.stat().st_mtime_ns for run in folder.glob("many/*/final/card.json")] == before  # finished runs are skipped

    assert train("--name", "many", "--resume", "--total-timesteps", "256") == 0
    assert [read_curve(folder / f"many/seed-{seed}/progress.jsonl")[-1]["timesteps"] for seed in (1, 3)] == [256, 256]


@pytest.mark.thorough
def test_sigterm_saves_the_running_run_and_resume_finishes_the_group(folder: Path) -> None:
    options = ["--preset", "tiny", "--total-timesteps", "1000000", "--eval-freq", "128", "--n-eval-episodes", "2"]
    words = [sys.executable, "-m", "tetrarchia_train", "--name", "many", *options, "--seeds", "1-2"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while len(read_curve(folder / "many/seed-1/progress.jsonl")[:2]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    shown, _ = process.communicate(timeout=STOP_TIMEOUT_S)

    assert process.returncode == EXIT_STOPPED
    assert "to continue: tetrarchia train --resume --name many\n" in shown
    assert [(folder / "many" / run / "latest").is_dir() for run in ("seed-1", "seed-2")] == [True, False]
    stopped_at = read_curve(folder / "many/seed-1/progress.jsonl")[-1]["timesteps"]
    assert train("--name", "many", "--resume", "--total-timesteps", str(stopped_at + 256)) == 0
    assert [read_curve(run / "progress.jsonl")[-1]["timesteps"] >= stopped_at + 256 for run in groups.group_runs(folder / "many")] == [
        True,
        True,
    ]


@pytest.mark.slow
def test_a_failed_run_ends_the_group_with_its_exit_code(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    group = groups.create_group(tiny(init_checkpoint="missing"), "many", [1, 2], "")
    assert groups.train_group(Path("runs/many"), {}) == 2
    assert "seed-1 failed with exit code 2" in capfd.readouterr().err
    assert sorted(path.name for path in (group / "seed-2").iterdir()) == ["options.yaml"]


def test_a_group_is_published_in_half_precision_with_cards_and_curves(folder: Path, tmp_path: Path) -> None:
    config, shipped = tiny(), tmp_path / "shipped"
    group = groups.create_group(config, "many", [1, 2], "the command")
    networks = {run: make_network(config.network_config) for run in ("seed-1", "seed-2")}
    for run, network in networks.items():
        training = {"command": "the command", "timesteps": 5, "options": config.as_data()}
        save_checkpoint(group / run / "final", network, config.network_config, {"training": training})
        (group / run / "progress.jsonl").write_text('{"timesteps": 5, "seconds": 1, "win_rates": {"4200": 0.5}}\n')

    assert publishing.publish_group("many", "small", shipped) == shipped / "small"

    assert cards.shipped_group_runs(shipped) == ["small/seed-1", "small/seed-2"]
    assert cards.find_checkpoint("small/seed-2", shipped) == shipped / "small/seed-2"
    for run, network in networks.items():
        published = load_checkpoint(shipped / "small" / run)
        assert published.card["training"]["command"] == "the command"
        assert len(read_curve(shipped / "small" / run / PUBLISHED_CURVE_FILE)) == 1
        for name, weight in published.network.state_dict().items():
            assert weight.dtype == torch.float32
            assert torch.equal(weight, network.state_dict()[name].half().float())
    halved, whole = ((path / "weights.safetensors").stat().st_size for path in (shipped / "small/seed-1", group / "seed-1/final"))
    assert halved < 0.55 * whole


def test_an_unfinished_group_is_not_published(folder: Path, tmp_path: Path) -> None:
    group = groups.create_group(tiny(), "many", [1, 2], "")
    save_checkpoint(group / "seed-1/final", make_network(tiny().network_config), tiny().network_config, {"training": {}})
    with pytest.raises(TetrarchiaError, match="seed-2 is not finished"):
        publishing.publish_group("many", "small", tmp_path / "shipped")
    assert not (tmp_path / "shipped").exists()
