"""Tests of publishing a run as a checkpoint or a trial, and of the generated pages."""

import importlib.util
import json
import runpy
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from helpers.made_up_runs import match
from helpers.made_up_runs import save as save_match
from tetrarchia_agents.cards import CHECKPOINTS, read_card
from tetrarchia_agents.checkpoints import save_checkpoint
from tetrarchia_agents.network import NetworkConfig, make_network
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_env.digest import environment_digest
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.local_information import MessageResults, RunMessages
from tetrarchia_eval.page import marked
from tetrarchia_train import publish as publishing

DOCS = Path(__file__).parents[2] / "docs"
SMALL = NetworkConfig(node_dim=8, encoder_layers=1, readout_dim=4, hidden_dim=32)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "mine"
    save_checkpoint(folder / "latest", make_network(SMALL), SMALL, {"training": {"timesteps": 5}})
    (folder / "progress.jsonl").write_text('{"timesteps": 5, "seconds": 1, "win_rates": {"4200": 0.5}}\n')
    (folder / "options.yaml").write_text("seed: 1\n")
    return folder


def training_record(command: str, timesteps: int, seconds: int, init_checkpoint: str, total_timesteps: int) -> dict[str, Any]:
    options = {"init_checkpoint": init_checkpoint, "total_timesteps": total_timesteps}
    return {"command": command, "timesteps": timesteps, "seconds": seconds, "warm_start": None, "options": options}


def test_a_run_is_published_as_a_checkpoint_with_its_curve(run: Path, tmp_path: Path) -> None:
    folder = publishing.publish("mine", "good", tmp_path / "own")

    assert PPOAgent(str(folder)).num_actions == SMALL.actions
    assert read_card(folder)["training"] == {"timesteps": 5}
    assert json.loads((folder / publishing.PUBLISHED_CURVE_FILE).read_text())["win_rates"] == {"4200": 0.5}


def test_the_card_has_the_environment_digest_of_the_training(run: Path, tmp_path: Path) -> None:
    assert read_card(publishing.publish("mine", "good", tmp_path / "own"))["environment_digest"] == environment_digest()
    save_checkpoint(run / "latest", make_network(SMALL), SMALL, {"environment_digest": "0123456789abcdef", "training": {}})
    assert read_card(publishing.publish("mine", "good", tmp_path / "own"))["environment_digest"] == "0123456789abcdef"


def test_a_run_that_replaces_its_initial_checkpoint_extends_its_training_record(run: Path, tmp_path: Path) -> None:
    first, second = training_record("one", 5, 7, "old", 5), training_record("two", 3, 2, "good", 4)
    save_checkpoint(run / "latest", make_network(SMALL), SMALL, {"training": first})
    publishing.publish("mine", "good", tmp_path / "own")
    save_checkpoint(run / "final", make_network(SMALL), SMALL, {"training": second})
    (run / "progress.jsonl").write_text('{"timesteps": 0, "seconds": 1}\n{"timesteps": 3, "seconds": 2}\n')

    folder = publishing.publish("mine", "good", tmp_path / "own")

    assert read_card(folder)["training"] == training_record("one; two", 8, 9, "old", 9)
    points = [json.loads(line) for line in (folder / publishing.PUBLISHED_CURVE_FILE).read_text().splitlines()]
    assert [(point["timesteps"], point["seconds"]) for point in points] == [(5, 8), (8, 9)]
    with pytest.raises(TetrarchiaError, match=r"^run 'mine' is already part of checkpoint 'good'"):
        publishing.publish("mine", "good", tmp_path / "own")


def test_a_run_is_saved_as_a_trial(run: Path, tmp_path: Path) -> None:
    folder = publishing.save_trial("mine", tmp_path / "trials")

    assert sorted(file.name for file in folder.iterdir()) == ["options.yaml", "progress.jsonl"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["missing", "good"], "has no checkpoint yet"), (["missing"], "has no evaluation yet"), ([], "usage:")],
)
def test_errors_exit_with_code_2_and_a_message(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["publish", *words])

    with pytest.raises(SystemExit) as left:
        publishing.main()

    assert (left.value.code, sentence in capsys.readouterr().err) == (2, True)


def test_generated_pages_and_cards_are_current() -> None:
    stale = [
        path for path, text in runpy.run_path(str(DOCS / "make_results.py"))["texts"]().items() if path.read_text(encoding="utf-8") != text
    ]

    assert stale == []


def test_tables_of_local_information_are_filled_when_there_are_results(tmp_path: Path) -> None:
    skills = ("strong", "middling", "weak")
    for east in skills:
        for west in skills:
            name = east if east == west else f"{east}+{west}"
            save_match(tmp_path / "results/local/mine" / f"{name}.jsonl", match((east, east, west, west), games=10))
            save_match(tmp_path / "results/local/other" / f"{name}.jsonl", match((east, east, west, west), games=10))
    run_messages = RunMessages(20, 1.0, {"armies": 0.5}, {"armies": 0.1}, 6, 5)
    kept = MessageResults("last-two", 10, 0, {"mine": {"seed-1": run_messages, "seed-2": run_messages}})
    (tmp_path / "results/local/messages.json").write_bytes(msgspec.json.encode(kept))
    spec = importlib.util.spec_from_file_location("make_results", DOCS / "make_results.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.RESULTS = tmp_path / "results"

    parts = module.local_parts()

    page = (DOCS / "local_information.md").read_text(encoding="utf-8")
    assert set(parts) == {"local rates", "local improvement", "local messages"}
    assert marked(page, parts) == parts
    assert parts["local messages"].count("| mine | mean |") == 2
    assert "tetrarchia eval --agents" in parts["local rates"]


def test_every_published_curve_has_a_picture() -> None:
    assert {path.stem for path in (DOCS / "pictures" / "training").glob("*.svg")} == {
        *(path.parent.name for path in CHECKPOINTS.glob(f"*/{publishing.PUBLISHED_CURVE_FILE}")),
        *(f"{path.parents[1].name}-{axis}" for path in CHECKPOINTS.glob("*/seed-*/card.json") for axis in ("timesteps", "minutes")),
    }
