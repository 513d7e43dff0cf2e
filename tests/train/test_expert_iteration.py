"""Tests of expert iteration: training targets from search, rounds, and resuming after an interruption."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from helpers.positions import ALL_BUT_PERSIA, position  # noqa: E402
from tetrarchia_agents import make_agent, rollout  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_agents.network import log_probabilities  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_agents.turn_search import Plan  # noqa: E402
from tetrarchia_env.batch import legal_masks, new_games, observe, rng_states, step  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_train import behavior_cloning, demonstrations, expert_iteration, ppo  # noqa: E402
from tetrarchia_train import run as whole_run  # noqa: E402
from tetrarchia_train.behavior_cloning import CloningConfig, clone, earlier_demonstrations  # noqa: E402
from tetrarchia_train.config import TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.demonstrations import (  # noqa: E402
    TARGET,
    Demonstrations,
    Job,
    SearchingExpert,
    load_demonstrations,
    make_jobs,
    play_expert,
    save_demonstrations,
)
from tetrarchia_train.expert_iteration import iterate, round_config  # noqa: E402


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Train a first run; return the folder of runs."""
    monkeypatch.chdir(tmp_path)
    whole_run.train(read_preset("tiny").with_overrides({"total_timesteps": 256}), "first")
    return tmp_path / "runs"


def rounds(**changes: object) -> TrainConfig:
    """Return a configuration with rounds that take seconds."""
    search = {"init_checkpoint": "runs/first/final", "expert": "ppo:candidates=3", "rounds": 2, "num_demonstrations": 300}
    return read_preset("tiny").with_overrides({**search, "total_timesteps": 256, "save_freq": 128, **changes})


def test_the_target_of_a_winning_turn_is_the_win_reward_minus_the_potential_r9_1() -> None:
    """R9.1: Galerius secures the last border; the target is the discounted win reward minus the current potential."""
    game = position(emperor="galerius", tokens=ALL_BUT_PERSIA, emperors={"galerius": "PERSIA"})
    expert = SearchingExpert(PPOAgent(candidates=4), 1, 0.03)

    expert.act(game, legal_masks(game), np.zeros(1, dtype=np.int64))

    reward = expert.agent.reward
    assert expert.targets["value"][0] == pytest.approx(2 * reward.turn_discount**8 - reward.potential(game)[0], abs=1e-6)


def test_target_plus_potential_is_constant_within_a_planned_turn() -> None:
    """Without dice rolls, the sum of target and potential is constant during a turn."""
    demonstrations = play_expert(Job("ppo:candidates=3", 7, ["4200"], games=1))
    worth = demonstrations.targets["value"] + PPOAgent(candidates=3).reward.potential(demonstrations.games)
    planned = demonstrations.games["dice"][1:] == demonstrations.games["dice"][:-1]

    assert len(demonstrations.targets) == len(demonstrations.actions)
    assert np.allclose(worth[1:][planned], worth[:-1][planned], atol=1e-6)
    assert (worth[1:][~planned] != worth[:-1][~planned]).all()


def test_search_targets_have_less_variance_than_outcomes() -> None:
    """Compare search targets of one position under different dice with game outcomes."""
    games, masks = new_games(Options(level="4211"), np.full(32, 3))
    games["dice"] = rng_states(np.arange(32, dtype=np.uint64))
    expert = SearchingExpert(PPOAgent(candidates=4), 32, 0.03)

    expert.act(games, masks, np.arange(32))
    outcomes = [2.0 * game.won for game in rollout("ppo", 64, level="4211", seed=500)]

    assert 10 * expert.targets["value"].std() < np.std(outcomes)


def test_the_value_learns_the_search_targets(started: Path) -> None:
    demonstrations = play_expert(Job("ppo:checkpoint=runs/first/final:candidates=3", 3, ["4200"], games=8))
    network = load_checkpoint("runs/first/final").network
    taught = replace(demonstrations, targets=demonstrations.targets.copy())
    taught.targets["value"] = 1.5

    clone(network, taught, CloningConfig(8, 64, 3e-3), lambda *_: None)

    with torch.inference_mode():
        values = network.values(torch.from_numpy(observe(taught.games)))
    assert abs(float(values.mean()) - 1.5) < 0.2


def test_the_policy_learns_the_target_probabilities(started: Path) -> None:
    """The target probabilities of two actions are 1/3 and 2/3."""
    games, masks = new_games(Options(level="4200"), np.zeros(64, dtype=np.uint64))
    first, second = np.flatnonzero(masks[0])[:2]
    targets = np.zeros(len(games), dtype=TARGET)
    targets["actions"][:, :2], targets["probabilities"][:, :2] = (first, second), (1 / 3, 2 / 3)
    network = load_checkpoint("runs/first/final").network

    clone(network, Demonstrations(games, np.full(64, first), targets, 64, 0), CloningConfig(200, 32, 3e-3), lambda *_: None)

    with torch.inference_mode():
        logits, _ = network(torch.from_numpy(observe(games[:1])))
        likely = log_probabilities(logits, torch.from_numpy(masks[:1, : logits.shape[1]] != 0)).exp()[0]
    assert likely[[first, second]].tolist() == pytest.approx([1 / 3, 2 / 3], abs=0.03)


def test_only_searched_turns_are_recorded_and_the_policy_plays_the_others() -> None:
    job = Job("ppo:candidates=3", 7, ["4200"], games=6, search_fraction=0.25)
    found, everything = play_expert(job), play_expert(replace(job, search_fraction=1.0))
    turns = np.unique(found.games[["turn", "emperor"]])  # of several games
    policy = PPOAgent()

    assert len(found) == len(found.targets) == len(found.actions)
    assert 0.1 < len(found) / len(everything) < 0.5
    assert len(turns) > 10
    expert = SearchingExpert(PPOAgent(candidates=3), 4, 0.03, search_fraction=0.0)
    games, masks = new_games(Options(level="4200"), np.arange(4, dtype=np.uint64))
    env_ids = np.arange(4)
    assert expert.act(games, masks, env_ids).tolist() == policy.act(games, masks, env_ids).tolist()
    assert not expert.searches.any()


def test_a_turn_is_searched_completely_or_not_at_all() -> None:
    expert = SearchingExpert(PPOAgent(candidates=3), 64, 0.03, search_fraction=0.5)
    games, masks = new_games(Options(level="4200"), np.arange(64, dtype=np.uint64))
    env_ids, chosen = np.arange(64), []
    while (games["turn"] == 0).all():
        step(games, expert.act(games, masks, env_ids), masks)
        chosen.append(expert.searches.copy())

    assert len(chosen) > 2
    assert all((one == chosen[0]).all() for one in chosen)
    assert 16 < chosen[0].sum() < 48


def test_window_of_earlier_rounds() -> None:
    run = Path("runs/mine")
    assert earlier_demonstrations(run, 3) == []
    assert earlier_demonstrations(run / "round-1", 3) == []
    assert earlier_demonstrations(run / "round-4", 1) == []
    assert earlier_demonstrations(run / "round-4", 3) == [run / f"round-{number}/demonstrations.npz" for number in (2, 3)]


def test_rounds_clone_the_demonstrations_of_the_window(started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expert_iteration, "_mean_win_rate", lambda point: point["timesteps"])  # every round improves
    whole_run.train(rounds(window=2, search_fraction=0.5), "window")

    counts = [load_checkpoint(started / f"window/round-{number}/bc").card["training"]["num_demonstrations"] for number in (1, 2)]
    assert counts == [300, 600]


def test_improved_policy_weights_turns_by_their_softmax_value() -> None:
    """Three of four turns share the first action, one of them with twice the softmax weight; the fourth affects only that decision."""
    plan = Plan([[5, 6], [5, 7], [5, 6, 8], [9]], np.array([0.0, np.log(2), 0.0, 0.0]), best=1)

    assert plan.improved_policy(1.0)[0] == [5, 9]
    assert plan.improved_policy(1.0)[1] == pytest.approx([0.8, 0.2])
    assert plan.rest().improved_policy(1.0)[1] == pytest.approx([0.5, 0.5])
    assert plan.improved_policy(1e-9)[1] == pytest.approx([1.0, 0.0])


def test_targets_are_saved_with_demonstrations_and_validated(tmp_path: Path) -> None:
    played, path = play_expert(Job("ppo:candidates=4", 3, ["4200"], games=2)), tmp_path / "some.npz"
    save_demonstrations(played, path)
    assert (load_demonstrations(path).targets == played.targets).all()
    assert (played.targets["actions"][:, 0] == played.actions).mean() > 0.9

    for name, value, sentence in (
        ("value", np.nan, "there must be one finite value for each of"),
        ("probabilities", 0.5, "must sum to 1"),
        ("actions", -1, "actions must be from 0 to"),
    ):
        wrong = played.targets.copy()
        wrong[name] = value
        save_demonstrations(replace(played, targets=wrong), path)
        with pytest.raises(TetrarchiaError, match=sentence):
            load_demonstrations(path)
    unused = played.targets.copy()
    unused["actions"][unused["probabilities"] == 0] = 10**9
    save_demonstrations(replace(played, targets=unused), path)
    with pytest.raises(TetrarchiaError, match="actions must be from 0 to"):
        load_demonstrations(path)
    save_demonstrations(replace(played, targets=played.targets[:5]), path)
    with pytest.raises(TetrarchiaError, match="got 5 values"):
        load_demonstrations(path)


def test_each_round_searches_with_its_initial_network() -> None:
    config = round_config(rounds(), "runs/x/round-1/final", 2)

    assert (config.rounds, config.seed) == (0, rounds().seed + 1)
    assert config.init_checkpoint == "runs/x/round-1/final"
    assert config.expert == "ppo:checkpoint=runs/x/round-1/final:candidates=3"


def fail_once(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, when: int) -> None:
    """Make the given call of a function raise KeyboardInterrupt."""
    right, calls = getattr(module, name), []

    def wrapped(*arguments: Any) -> Any:
        calls.append(name)
        if len(calls) == when:
            raise KeyboardInterrupt
        return right(*arguments)

    monkeypatch.setattr(module, name, wrapped)


def curve(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


@pytest.fixture
def small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play demonstrations of two games per job in this process; other tests cover worker processes."""

    def play(job: Job) -> Demonstrations:
        with torch.random.fork_rng():  # a worker process has its own generator
            return play_expert(job)

    monkeypatch.setattr(demonstrations, "worker_pool", lambda size, killed: ThreadPoolExecutor(1))
    monkeypatch.setattr(demonstrations, "play_expert", play)
    monkeypatch.setattr(demonstrations, "make_jobs", lambda *arguments: (replace(job, games=2) for job in make_jobs(*arguments)))
    monkeypatch.setattr(behavior_cloning, "make_jobs", demonstrations.make_jobs)


@pytest.mark.usefixtures("small_jobs")
def test_interrupted_rounds_resume_to_the_same_result(started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interruptions occur during cloning and PPO in round 1 and before PPO in round 2; every round counts as improved."""
    monkeypatch.setattr("tetrarchia_train.expert_iteration._mean_win_rate", lambda line: line.get("round", 99))
    straight = whole_run.train(rounds(), "straight")

    for module, name, when in ((behavior_cloning, "clone", 1), (ppo.Learner, "train_iteration", 2), (ppo.Learner, "pretrain_critic", 1)):
        with monkeypatch.context() as patch:
            fail_once(patch, module, name, when)
            with pytest.raises(KeyboardInterrupt):
                whole_run.resume("killed", {}) if (started / "killed").is_dir() else whole_run.train(rounds(), "killed")
    killed = whole_run.resume("killed", {})

    assert (killed / "weights.safetensors").read_bytes() == (straight / "weights.safetensors").read_bytes()
    assert curve(started / "killed") == curve(started / "straight")
    assert {line["round"] for line in curve(started / "killed")} == {0, 1, 2}


def fake_training(rates: list[float]) -> Callable[[TrainConfig, Path], Path]:
    """Return a replacement for training that writes a checkpoint and the given win rate for each round."""

    def train_round(config: TrainConfig, folder: Path) -> Path:
        (folder / "final").mkdir(parents=True)
        (folder / "final" / "card.json").write_text(folder.name)
        line = {"timesteps": 10, "seconds": 1, "win_rates": {"4200": rates[int(folder.name[-1]) - 1]}}
        (folder / "progress.jsonl").write_text(json.dumps(line) + "\n")
        return folder / "final"

    return train_round


@pytest.mark.parametrize(
    ("rates", "trained", "best"), [([0.5, 0.6, 0.7], 3, "round-3"), ([0.5, 0.4, 0.9], 2, "round-1"), ([0.5, 0.5], 2, "round-1")]
)
def test_rounds_stop_after_the_first_round_without_improvement(started: Path, rates: list[float], trained: int, best: str) -> None:
    folder = started / "made-up"
    folder.mkdir()

    final = iterate(rounds(rounds=len(rates)), folder, fake_training(rates))

    assert (final / "card.json").read_text() == best
    assert [line["timesteps"] for line in curve(folder)] == [10 * number for number in range(trained + 1)]
    assert not (folder / f"round-{trained + 1}").exists()


def test_without_improvement_the_initial_network_is_kept(started: Path) -> None:
    folder = started / "made-up"
    folder.mkdir()

    final = iterate(rounds(), folder, fake_training([-1.0, 0.5]))

    assert (final / "weights.safetensors").read_bytes() == (started / "first/final/weights.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"init_checkpoint": ""},
            "training option rounds needs an init_checkpoint and an expert such as ppo:candidates=8; got '' and 'ppo:candidates=3'",
        ),
        (
            {"expert": "planner"},
            "training option rounds needs an init_checkpoint and an expert such as ppo:candidates=8; got .* and 'planner'",
        ),
        ({"rounds": -1}, "rounds"),
    ],
)
def test_invalid_options_of_rounds_are_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(TetrarchiaError, match=sentence):
        rounds(**changes)


def test_rounds_cannot_be_combined_with_stop_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TetrarchiaError, match="stop_after cannot be combined with rounds"):
        whole_run.train(rounds(), "some", stop_after="bc")


def test_the_initial_checkpoint_of_the_preset_supports_search() -> None:
    config = read_preset("expert-iteration")
    agent = make_agent(round_config(config, config.init_checkpoint, 1).expert)
    assert isinstance(agent, PPOAgent)
    assert agent.reward.turn_discount == config.turn_discount == config.final_turn_discount
