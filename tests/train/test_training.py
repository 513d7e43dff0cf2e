"""Tests of training: options, demonstrations, behaviour cloning, exact resuming and improvement over random play."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tetrarchia_agents import make_agent  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_agents.network import make_network  # noqa: E402
from tetrarchia_agents.partners import partner_names  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.engine.state import OVER, WON  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.notation import snapshot  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_env.variants import RULEBOOK_LEVELS  # noqa: E402
from tetrarchia_train import run as whole_run  # noqa: E402
from tetrarchia_train.behavior_cloning import CloningConfig, accuracy, clone  # noqa: E402
from tetrarchia_train.checkpointing import load_run, save_run  # noqa: E402
from tetrarchia_train.command import new_config  # noqa: E402
from tetrarchia_train.config import PRESETS, TrainConfig, preset_names, read_preset  # noqa: E402
from tetrarchia_train.demonstrations import Job, load_demonstrations, play_expert, save_demonstrations  # noqa: E402
from tetrarchia_train.metrics import RolloutStats, difficulty  # noqa: E402
from tetrarchia_train.ppo import Learner, linear_schedule  # noqa: E402
from tetrarchia_train.speed import measure_fps, profile  # noqa: E402


def tiny(**changes: object) -> TrainConfig:
    return read_preset("tiny").with_overrides(changes)


def weights(run: Learner) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in run.network.parameters()]


@pytest.mark.parametrize("name", sorted(path.stem for path in PRESETS.glob("*.yaml")))
def test_presets_survive_a_round_trip_through_their_data(name: str) -> None:
    options = read_preset(name)

    assert TrainConfig().with_overrides(options.as_data()) == options


def test_options_are_parsed_from_strings() -> None:
    options = TrainConfig().with_overrides({"learning_rate": "1e-4", "levels": "4200,4211", "total_timesteps": "1000"})

    assert (options.learning_rate, options.levels, options.total_timesteps) == (1e-4, "4200,4211", 1000)
    with pytest.raises(TetrarchiaError, match=f"choose from {', '.join(preset_names())}"):
        read_preset("huge")


def test_demonstrations_are_reproducible_legal_and_saved(tmp_path: Path) -> None:
    job = Job("greedy", first_seed=5, levels=["4200"], noise=0.3, games=6)

    played = play_expert(job)
    save_demonstrations(played, tmp_path / "demonstrations.npz")
    again = load_demonstrations(tmp_path / "demonstrations.npz")

    assert played.games.tobytes() == again.games.tobytes() == play_expert(job).games.tobytes()
    assert (played.actions == again.actions).all()
    masks = batch.legal_masks(played.games)
    assert masks[np.arange(len(played)), played.actions].all()
    with pytest.raises(TetrarchiaError, match="cannot be read"):
        load_demonstrations(tmp_path / "none.npz")


def test_cloning_learns_the_experts_decisions() -> None:
    torch.manual_seed(1)
    demonstrations = play_expert(Job("greedy", first_seed=5, levels=["4200"], games=40))
    network, rows = make_network(tiny().network_config), np.arange(len(demonstrations))
    before = accuracy(network, demonstrations, rows)

    cloned = clone(network, demonstrations, CloningConfig(epochs=5, batch_size=64, learning_rate=3e-3), lambda *_: None)

    assert cloned > before + 0.15


def test_levels_on_the_command_line_replace_the_focus_of_a_preset() -> None:
    assert set(new_config("small", {"levels": "5300"}).training_levels) == {"5300"}
    assert set(new_config("small", {"levels": "5300", "focus": "4222", "focus_share": 0.5}).training_levels) == {"5300", "4222"}
    assert new_config("small", {}).focus_share == 0.3


def test_levels_in_focus_are_drawn_more_often() -> None:
    options = tiny(levels="rulebook", focus=["4200", "4222"], focus_share=0.5)

    levels = options.training_levels

    assert abs((levels.count("4200") + levels.count("4222")) / len(levels) - 0.5) < 0.05
    assert set(levels) == set(RULEBOOK_LEVELS)
    assert set(tiny(levels="rulebook", focus=["4200"], focus_share=1.0).training_levels) == {"4200"}
    assert [difficulty(level) for level in ("5300", "4200", "4211", "4222", "3122")] == [0, 2, 4, 6, 8]
    assert (linear_schedule(3.0, 1.0, 0.0), linear_schedule(3.0, 1.0, 0.5), linear_schedule(3.0, 1.0, 1.0)) == (3.0, 2.0, 1.0)


def test_a_resumed_run_equals_an_uninterrupted_run(tmp_path: Path) -> None:
    options = tiny(total_timesteps=16 * 8 * 12)
    straight = Learner(options)
    for _ in range(12):
        straight.train_iteration()

    stopped = Learner(options)
    for _ in range(7):
        stopped.train_iteration()
    save_run(stopped, tmp_path)
    torch.rand(5), np.random.random(5)  # noqa: NPY002 - disturb the global generators
    resumed = load_run(options, tmp_path)
    for _ in range(5):
        resumed.train_iteration()

    assert straight.timesteps == resumed.timesteps == options.total_timesteps
    assert straight.games.games.tobytes() == resumed.games.games.tobytes()
    assert all(torch.equal(a, b) for a, b in zip(weights(straight), weights(resumed), strict=True))


def test_resuming_a_missing_run_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TetrarchiaError, match="there is no run to resume"):
        load_run(tiny(), tmp_path)
    with pytest.raises(TetrarchiaError, match="there is no run to resume in runs/none"):
        whole_run.resume("none", {})


def test_no_preset_trains_with_held_out_partners() -> None:
    allowed = {f"partner:{name}" for name in partner_names("validation")}
    used = {name: read_preset(name).partner_list for name in preset_names()}
    assert set(used["ad-hoc"]) <= allowed
    assert len(used["ad-hoc"]) >= 6
    assert {partner for names in used.values() for partner in names if partner.startswith("partner:")} <= allowed


@pytest.mark.parametrize("preset", [path.stem for path in PRESETS.glob("*.yaml") if read_preset(path.stem).init_checkpoint])
def test_a_preset_matches_the_network_of_its_initial_checkpoint(preset: str) -> None:
    options = read_preset(preset)

    assert replace(load_checkpoint(options.init_checkpoint).config, actions=options.network_config.actions) == options.network_config


@pytest.mark.slow
@pytest.mark.parametrize("policies", [1, 4])
def test_a_complete_run_writes_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policies: int) -> None:
    monkeypatch.chdir(tmp_path)

    final = whole_run.train(tiny(expert="greedy", policies=policies), "first", command="tetrarchia train ...")
    longer = whole_run.resume("first", {"total_timesteps": 1024})

    made = load_checkpoint(final).card["training"]
    assert (made["timesteps"], made["warm_start"]["expert"]) == (1024, "greedy")
    assert made["command"] == "tetrarchia train ...; tetrarchia train --resume --name first --total-timesteps 1024"
    assert longer == final
    lines = [json.loads(line) for line in (tmp_path / "runs/first/progress.jsonl").read_text().splitlines()]
    assert [line["timesteps"] for line in lines][-1] == 1024
    assert list((tmp_path / "runs/first/tensorboard").iterdir())
    assert make_agent(f"ppo:{final}")
    with pytest.raises(TetrarchiaError, match="run 'first' already exists"):
        whole_run.train(tiny(), "first")


@pytest.mark.thorough
def test_the_preset_small_writes_the_same_weights_in_every_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shorter = {"num_demonstrations": 1500, "bc_epochs": 1, "critic_rollouts": 1, "num_envs": 32, "n_steps": 16, "minibatch_size": 128}
    config = new_config("small", shorter | {"total_timesteps": 1024, "n_eval_episodes": 2})

    finals = [whole_run.train(config, name) for name in ("first", "second")]

    first, second = (load_checkpoint(final).card["weights_sha256"] for final in finals)
    assert first == second


def test_the_card_of_ppo_small_has_a_command_that_reproduces_it() -> None:
    card, preset = load_checkpoint("ppo-small").card["training"], read_preset("small")

    assert card["command"] == "tetrarchia train --name small --preset small"
    assert card["timesteps"] >= preset.total_timesteps
    assert (preset.threads, preset.processes, preset.max_minutes, preset.device) == (1, 1, 0, "cpu")
    assert (preset.demonstrations, preset.init_checkpoint) == ("", "")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_requests_a_stop_after_the_current_iteration(sent: signal.Signals) -> None:
    before = signal.getsignal(sent)

    with whole_run._stop_on_signal() as stop:
        assert not stop()
        os.kill(os.getpid(), sent)
        assert stop()

    assert signal.getsignal(sent) == before


def test_speed_is_measured_in_total_and_by_part() -> None:
    assert measure_fps(tiny(), iterations=1) > 0

    parts = profile(tiny(), iterations=1)

    assert list(parts) == ["policy in rollouts", "environment", "control variate", "updates", "other"]
    assert all(microseconds > 0 for microseconds in parts.values())


def nearly_won() -> list[dict[str, object]]:
    """Return positions of the planner's games a few decisions before a win."""
    games, masks = batch.new_games(Options(level="5300"), np.arange(16))
    planner, kept = make_agent("planner"), []
    for _ in range(400):
        running = np.flatnonzero(games["phase"] != OVER)
        if not len(running):
            break
        kept.append(games.copy())
        actions = np.zeros(len(games), dtype=np.int64)
        actions[running] = planner.act(games[running], masks[running], running)
        batch.step(games, actions, masks)
    return [snapshot(kept[end - back][i]) for i, end in _ends(kept, games) for back in (1, 2, 3)]


def _ends(kept: list[np.ndarray], games: np.ndarray) -> list[tuple[int, int]]:
    """Return the index of each won game and the number of its recorded positions."""
    running = np.array([position["phase"] != OVER for position in kept])
    return [(int(i), int(running[:, i].sum())) for i in np.flatnonzero(games["outcome"] == WON)]


@pytest.mark.slow
def test_training_improves_on_random_play() -> None:
    options = tiny(num_envs=64, n_steps=32, minibatch_size=256, learning_rate=2e-3, total_timesteps=10**6)
    run = Learner(options)
    run.games.set_initial_states(nearly_won(), 1.0)
    run.games.begin(range(64))
    shares = []

    for _ in range(60):
        run.collect_rollout()
        run.compute_advantages()
        run.update(learning_rate=2e-3, ent_coef=0.005)
        outcomes = np.concatenate([episodes["outcome"] for episodes in run.stats.episodes])
        shares.append((np.sum(outcomes == WON), len(outcomes)))
        run.stats = RolloutStats()

    first, last = np.sum(shares[:5], axis=0), np.sum(shares[-5:], axis=0)
    assert last[0] / last[1] > first[0] / first[1] + 0.2
