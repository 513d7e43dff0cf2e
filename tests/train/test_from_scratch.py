"""Training without a teacher: presets from scratch, the borders reward, tasks and the curriculum over head starts."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tetrarchia_agents import Agent, make_agent  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_env import batch  # noqa: E402
from tetrarchia_env.envs.batched_games import EPISODE  # noqa: E402
from tetrarchia_env.envs.rewards import BordersReward  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_eval.arena import win_rates  # noqa: E402
from tetrarchia_train import run  # noqa: E402
from tetrarchia_train.calibrate import calibrate  # noqa: E402
from tetrarchia_train.checkpointing import load_run, save_run  # noqa: E402
from tetrarchia_train.config import TrainConfig, read_preset  # noqa: E402
from tetrarchia_train.curriculum import Curriculum  # noqa: E402
from tetrarchia_train.evaluation import FIRST_SEED, GreedyNetwork, evaluate  # noqa: E402
from tetrarchia_train.ppo import Learner  # noqa: E402

PRESETS = ("scratch-shared", "scratch-ippo", "scratch-mappo", "scratch-large")
SMALL = {"num_envs": 16, "n_steps": 8, "minibatch_size": 64, "node_dim": 8, "readout_dim": 4, "hidden_dim": 32, "n_eval_episodes": 4}
CURRICULUM = {"curriculum": True, "revolts": [0, 3, 6], "secured": [0, 4, 5]}
RESUMED: list[tuple[str, dict[str, object]]] = [
    ("scratch-mappo", {}),
    ("scratch-shared", CURRICULUM | {"auto_levels": True, "ema_decay": 0.9}),
    ("scratch-shared", {"seat": "all", "partners": "random,greedy", "chance_samples": 0}),
    ("ppo", {"critic": "separate", "shaping_coef": 0, "processes": 1}),
]
PARTNERS = {"seat": "all", "partners": "random,greedy", "chance_samples": 0}


def small(preset: str, **changes: object) -> TrainConfig:
    return read_preset(preset).with_overrides(SMALL | {"total_timesteps": 16 * 8 * 6} | changes)


def weights(learner: Learner) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in learner.network.parameters()]


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_uses_no_teacher(preset: str) -> None:
    config = read_preset(preset)

    assert (config.expert, config.init_checkpoint, config.reward) == ("none", "", "borders")


@pytest.mark.parametrize("preset", PRESETS)
def test_every_policy_and_critic_learns(preset: str) -> None:
    learner = Learner(small(preset, n_steps=64, minibatch_size=512))
    before = weights(learner)

    learner.train_iteration()

    for (name, _), old, new in zip(learner.network.named_parameters(), before, weights(learner), strict=True):
        assert not torch.equal(old, new), name


@pytest.mark.parametrize(("preset", "changes"), RESUMED)
def test_a_resumed_run_equals_an_uninterrupted_run(preset: str, changes: dict[str, object], tmp_path: Path) -> None:
    config = small(preset, **changes)
    straight, stopped = Learner(config), Learner(config)
    for _ in range(6):
        straight.train_iteration()
    torch.manual_seed(config.seed)
    stopped = Learner(config)
    for _ in range(3):
        stopped.train_iteration()
    save_run(stopped, tmp_path)
    resumed = load_run(config, tmp_path)
    for _ in range(3):
        resumed.train_iteration()

    assert straight.games.games.tobytes() == resumed.games.games.tobytes()
    assert not isinstance(straight.reward, BordersReward) or (straight.reward.most == resumed.reward.most).all()
    np.testing.assert_array_equal(straight.curriculum.win_rates, resumed.curriculum.win_rates)
    assert all(torch.equal(a, b) for a, b in zip(weights(straight), weights(resumed), strict=True))
    published = (straight.policy.state_dict(), resumed.policy.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(*(one.values() for one in published), strict=True))


def test_learner_decides_for_its_seat_and_partners_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = small("scratch-shared", **PARTNERS)
    learner = Learner(config)
    assert learner.games.partners is not None

    for _ in range(2):
        learner.train_iteration()

    assert batch.agents_to_act(learner.games.games).tolist() == [0, 1, 2, 3] * 4
    assert set(learner.games.partners.records["lineup"]) == {0, 1}
    final = run.train(config, "response")
    assert load_checkpoint(final).card["training"]["options"]["partners"] == "random,greedy"


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"seat": "nero"}, "seat"),
        ({"partners": ""}, "partners"),
        ({"seat": ""}, "seat"),
        ({"chance_samples": 2}, "chance_samples"),
        ({"num_envs": 2, "minibatch_size": 8}, "seat"),
    ],
)
def test_wrong_partners_are_refused(changes: dict[str, object], option: str) -> None:
    with pytest.raises(TetrarchiaError, match=option):
        small("scratch-shared", **PARTNERS | changes)


def test_evaluation_with_partners_plays_every_seat_with_every_partner() -> None:
    config = small("scratch-shared", **PARTNERS | {"n_eval_episodes": 16, "eval_levels": "5300"})
    network = Learner(config).network

    found = evaluate(network, config)

    agent, first = GreedyNetwork(network), FIRST_SEED
    borders = []
    for seat in range(4):
        for name in ("random", "greedy"):
            team: list[Agent] = [make_agent(name)] * 4
            team[seat] = agent
            summary = win_rates(team, {"5300": Options("5300")}, range(first, first + 2))["5300"]
            borders.append(summary.borders)
            first += 2
    assert found["borders"]["5300"] == pytest.approx(np.mean(borders), abs=1e-3)


def test_weight_of_borders_is_annealed() -> None:
    learner = Learner(small("scratch-shared"))
    assert isinstance(learner.reward, BordersReward)
    assert learner.reward.border == 1.0
    borders = []

    for _ in range(6):
        learner.train_iteration()
        borders.append(learner.reward.border)

    fraction = learner.config.border_fraction
    assert borders == pytest.approx([1 - 0.8 * min(step / 6 / fraction, 1) for step in range(6)])


def test_task_sets_the_games_and_the_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = small("scratch-shared", task="last-border")  # instead of the preset's curriculum
    learner = Learner(config)

    assert (batch.borders(learner.games.games) == 5).all()
    final = run.train(config, "task")
    assert "last-border" in (tmp_path / "runs/task/progress.jsonl").read_text()
    assert load_checkpoint(final).card["training"]["options"]["task"] == "last-border"


def test_value_trained_with_borders_is_not_used_as_a_win_probability(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    final = run.train(small("scratch-shared"), "scratch")

    for use in (lambda: PPOAgent(str(final), candidates=2), lambda: calibrate(final, 4)):
        with pytest.raises(TetrarchiaError, match="trained with the reward 'borders'"):
            use()


def test_curriculum_draws_most_often_where_the_outcome_is_uncertain() -> None:
    curriculum = Curriculum({"revolts": [6], "secured": [0, 4, 5]})
    episodes = np.zeros(3000, dtype=EPISODE)
    episodes["final_secured"], episodes["final_revolts"] = np.tile([0, 4, 5], 1000), 6
    episodes["outcome"] = np.where(episodes["final_secured"] == 0, 2, np.where(episodes["final_secured"] == 5, 1, np.arange(3000) % 2 + 1))

    curriculum.add_episodes([episodes])
    lists = curriculum.lists()

    assert lists["revolts"] == [6] * len(lists["revolts"])
    assert lists["secured"].count(4) > 4 * lists["secured"].count(0) > 0
    assert 0 < lists["secured"].count(5) < lists["secured"].count(4) / 4


def test_levels_are_drawn_by_success() -> None:
    config = small("scratch-shared", **CURRICULUM | {"secured": [0, 4]}, levels=["5300", "4200", "4222"], auto_levels=True)
    learner = Learner(config)
    assert list(config.curriculum_lists) == ["level", "revolts", "secured"]
    episodes = np.zeros(6000, dtype=EPISODE)
    episodes["level"] = np.array([[4, 2, 0, 0], [4, 2, 2, 2], [5, 3, 0, 0]] * 2000)
    episodes["outcome"] = np.where(episodes["level"][:, 2] == 2, 1 + np.arange(6000) // 3 % 2, 2)

    learner.curriculum.add_episodes([episodes])
    learner.curriculum.apply(learner.games)
    learner.games.begin(range(16))

    assert learner.curriculum.lists()["level"].count("4222") > 0.8 * len(learner.curriculum.lists()["level"])
    assert (learner.games.options[0].levels == [4, 2, 2, 2]).all(axis=1).mean() > 0.8


@pytest.mark.parametrize("changes", [{"task": "last-two"}, {"levels": ["4200"]}, {"rules": [{"variants": ["imperivm"]}], "actions": "all"}])
def test_drawing_levels_by_success_needs_several_levels_of_the_base_game(changes: dict[str, object]) -> None:
    with pytest.raises(TetrarchiaError, match="auto_levels"):
        small("scratch-shared", auto_levels=True, **changes)


def test_curriculum_changes_the_games_that_begin_next() -> None:
    learner = Learner(small("scratch-shared", **CURRICULUM))
    learner.curriculum.win_rates[:] = [0.5, 0.5, 0.5, 0, 0, 0.5]  # revolts 0, 3, 6; secured 0, 4, 5

    learner.curriculum.apply(learner.games)
    learner.games.begin(range(100, 116))

    assert (batch.borders(learner.games.games) == 5).mean() > 0.6
