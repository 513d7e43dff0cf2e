"""Training: options, lessons, copying, rewards; resuming equals not having stopped; it learns."""

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")
pytest.importorskip("tensorboard")

from stable_baselines3.common.logger import Logger  # noqa: E402

from tetrarchia_agents import make_agent  # noqa: E402
from tetrarchia_agents.checkpoints import load_checkpoint  # noqa: E402
from tetrarchia_agents.network import make_network  # noqa: E402
from tetrarchia_env import batch, tetrarchia_v0  # noqa: E402
from tetrarchia_env.engine.state import OVER, WON  # noqa: E402
from tetrarchia_env.notation import snapshot  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_train import run as whole_run  # noqa: E402
from tetrarchia_train.behavior_cloning import Copying, accuracy, copy  # noqa: E402
from tetrarchia_train.config import PRESETS, RULEBOOK, TrainOptions, options_of, read_preset  # noqa: E402
from tetrarchia_train.demonstrations import Job, load_lessons, play_lessons, save_lessons  # noqa: E402
from tetrarchia_train.distributed import Team  # noqa: E402
from tetrarchia_train.games import TrainingGames  # noqa: E402
from tetrarchia_train.learner import Run, collect, fading, new_run, one_round  # noqa: E402
from tetrarchia_train.levels import difficulty  # noqa: E402
from tetrarchia_train.potential import potentials  # noqa: E402
from tetrarchia_train.resume import load_run, save_run  # noqa: E402
from tetrarchia_train.speed import steps_a_second  # noqa: E402

QUIET = Logger(None, [])


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def tiny(**changes: object) -> TrainOptions:
    return read_preset("tiny").changed(changes)


def weights(run: Run) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in run.network.parameters()]


@pytest.mark.parametrize("name", sorted(path.stem for path in PRESETS.glob("*.yaml")))
def test_presets_load_and_come_back_from_their_data(name: str) -> None:
    options = read_preset(name)

    assert TrainOptions().changed(options.as_data()) == options


def test_there_are_81_levels_in_the_rulebook() -> None:
    assert len(set(RULEBOOK)) == 81


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("learning_rat: 1", "unknown training option 'learning_rat': choose from levels"),
        ("games: many", "training option games is a whole number, not 'many'"),
        ("steps: -5", "training option steps is from 1 to"),
        ("noise: 2", "training option noise is from 0 to 1, not 2"),
        ("actions: some", "training option actions is base or all, not 'some'"),
        ("levels: ['9999']", "level '9999'"),
        ("levels: 3.5", "training option levels is a list, not 3.5"),
        ("rules: [dux]", "training option rules is a list of rules"),
        ("rules: [{module: [dux]}]", "unknown argument 'module'"),
        ("network: deep", "network: the kind is one of graph, goals, mlp, not 'deep'"),
        ("minibatch: 1000", "multiple of the minibatch"),
        ("[1, 2", "this file is not YAML"),
        ("only text", "this file is a list of options"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        options_of(text, "this file")
    assert "\n" not in str(refusal.value)


def test_options_of_the_command_line() -> None:
    options = TrainOptions().changed({"learning_rate": "1e-4", "levels": "4200,4211", "steps": "1000"})

    assert (options.learning_rate, options.levels, options.total_timesteps) == (1e-4, ("4200", "4211"), 1000)
    with pytest.raises(ValueError, match="no preset 'huge': choose from ppo, ppo-full, small, tiny"):
        read_preset("huge")


def test_lessons_are_what_the_teacher_would_do(tmp_path: Path) -> None:
    job = Job("greedy", first=5, levels=["4200"], noise=0.3, games=6)

    lessons = play_lessons(job)
    save_lessons(lessons, tmp_path / "lessons.npz")
    again = load_lessons(tmp_path / "lessons.npz")

    assert lessons.games.tobytes() == again.games.tobytes() == play_lessons(job).games.tobytes()
    assert (lessons.actions == again.actions).all()
    masks = batch.legal_masks(lessons.games)
    assert masks[np.arange(len(lessons)), lessons.actions].all()
    with pytest.raises(ValueError, match="cannot be read"):
        load_lessons(tmp_path / "none.npz")


def test_copying_learns_the_teachers_decisions() -> None:
    torch.manual_seed(1)
    lessons = play_lessons(Job("greedy", first=5, levels=["4200"], games=40))
    network, rows = make_network(tiny().network_config), np.arange(len(lessons))
    before = accuracy(network, lessons, rows, 109)

    copied = copy(network, lessons, Copying(epochs=5, minibatch=64, rate=3e-3, actions=109), lambda *_: None)

    assert copied > before + 0.15


def test_training_games_are_those_of_the_environment() -> None:
    mine = TrainingGames(8, "base", [{}], ["4200"], seed=3)
    theirs = tetrarchia_v0.sb3_vec_env(8, seed=3, level=["4200"], actions="base")
    assert (mine.reset() == theirs.reset()).all()

    for _ in range(400):
        actions = mine.action_masks().argmax(axis=1)
        seen, _, ended, infos = mine.step(actions)
        expected, _, other_ended, other_infos = theirs.step(actions)
        assert (seen == expected).all()
        assert (ended == other_ended).all()
        for i in np.flatnonzero(ended):
            assert (infos[i]["terminal_observation"] == other_infos[i]["terminal_observation"]).all()
    assert mine.finished
    assert mine.ends.turns > 0


@pytest.mark.parametrize("shaping", [0.0, 0.5, 1.0])
def test_a_game_pays_for_a_win_and_what_the_potential_grew_by(shaping: float) -> None:
    env = TrainingGames(4, "base", [{}], ["4200"], seed=3)
    env.shaping = shaping
    env.reset()
    first, paid, over = potentials(env.games, env.discount), np.zeros(4), np.zeros(4, dtype=bool)

    while not over.all():
        _, rewards, ended, _ = env.step(env.action_masks().argmax(axis=1))
        paid += rewards * ~over
        over |= ended

    assert [game.outcome for game in env.finished[:4]].count("won") == 0
    np.testing.assert_allclose(paid, -shaping * first, atol=1e-6)


def test_rules_are_played_side_by_side() -> None:
    env = TrainingGames(6, "all", [{}, {"modules": ["pirates"]}, {"scenario": "danube_wars"}], ["4200", "4311"], seed=3)

    env.reset()
    for _ in range(300):
        env.step(batch.random_actions(env.action_masks().astype(np.int8), np.arange(1, 7, dtype=np.uint64)))

    assert {game.rules for game in env.finished} == {0, 1, 2}
    assert (env.games["scenario"] > 0).tolist() == [False] * 4 + [True] * 2


def test_levels_in_focus_are_drawn_more_often() -> None:
    options = tiny(levels="rulebook", focus=["4200", "4222"], focus_share=0.5)

    levels = options.drawn_levels

    assert abs((levels.count("4200") + levels.count("4222")) / len(levels) - 0.5) < 0.05
    assert set(levels) == set(RULEBOOK)
    assert set(tiny(levels="rulebook", focus=["4200"], focus_share=1.0).drawn_levels) == {"4200"}
    assert [difficulty(level) for level in ("5300", "4200", "4211", "4222", "3122")] == [0, 2, 4, 6, 8]
    assert (fading(3.0, 1.0, 0.0), fading(3.0, 1.0, 0.5), fading(3.0, 1.0, 1.0)) == (3.0, 2.0, 1.0)


def test_resuming_equals_not_having_stopped(tmp_path: Path) -> None:
    options = tiny(steps=16 * 8 * 12)
    straight = new_run(options, None, QUIET)
    for _ in range(12):
        one_round(straight)

    stopped = new_run(options, None, QUIET)
    for _ in range(7):
        one_round(stopped)
    save_run(stopped, tmp_path)
    torch.rand(5), np.random.random(5)  # noqa: NPY002 - what happens in between does not matter
    resumed = load_run(options, tmp_path, QUIET)
    for _ in range(5):
        one_round(resumed)

    assert straight.steps == resumed.steps == options.total_timesteps
    assert straight.env.games.tobytes() == resumed.env.games.tobytes()
    assert all(torch.equal(a, b) for a, b in zip(weights(straight), weights(resumed), strict=True))


def test_there_must_be_a_run_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="there is no run to resume"):
        load_run(tiny(), tmp_path, QUIET)
    with pytest.raises(ValueError, match="there is no run to resume in runs/none"):
        whole_run.resume("none", {})


@pytest.mark.parametrize("preset", [path.stem for path in PRESETS.glob("*.yaml") if read_preset(path.stem).start])
def test_a_preset_fits_the_checkpoint_it_begins_with(preset: str) -> None:
    options = read_preset(preset)

    assert replace(load_checkpoint(options.init_checkpoint).config, actions=options.network_config.actions) == options.network_config


@pytest.mark.slow
@pytest.mark.parametrize("policies", [1, 4])
def test_a_whole_run_leaves_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policies: int) -> None:
    monkeypatch.chdir(tmp_path)

    final = whole_run.train(tiny(teacher="greedy", policies=policies), "first", command="tetrarchia train ...")
    longer = whole_run.resume("first", {"steps": 1024})

    made = load_checkpoint(final).card["made"]
    assert (made["steps"], made["warm_start"]["teacher"]) == (1024, "greedy")
    assert made["command"] == "tetrarchia train ...; tetrarchia train --resume --name first --total-timesteps 1024"
    assert longer == final
    lines = [json.loads(line) for line in (tmp_path / "runs/first/progress.jsonl").read_text().splitlines()]
    assert [line["steps"] for line in lines][-1] == 1024
    assert list((tmp_path / "runs/first/tensorboard").iterdir())
    assert make_agent(f"ppo:{final}")
    with pytest.raises(ValueError, match="run 'first' has begun"):
        whole_run.train(tiny(), "first")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run() -> None:
    runs = [new_run(tiny(), None, QUIET) for _ in range(2)]
    for run in runs:
        torch.manual_seed(3)
        for _ in range(3):
            one_round(run)

    assert all(torch.equal(a, b) for a, b in zip(weights(runs[0]), weights(runs[1]), strict=True))


def test_ctrl_c_waits_for_the_round_under_way() -> None:
    before = signal.getsignal(signal.SIGINT)

    with whole_run._told_to_stop(Team()) as stop:
        assert not stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert stop()

    assert signal.getsignal(signal.SIGINT) == before


def test_speed_is_measured() -> None:
    assert steps_a_second(tiny(), rounds=1) > 0


def nearly_won() -> list[dict[str, object]]:
    """Positions of the planner's games a few decisions before they were won."""
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
    """The won games, each with the number of positions kept of it."""
    running = np.array([position["phase"] != OVER for position in kept])
    return [(int(i), int(running[:, i].sum())) for i in np.flatnonzero(games["outcome"] == WON)]


@pytest.mark.slow
def test_training_improves_on_random_play() -> None:
    options = tiny(games=64, rollout=32, minibatch=256, learning_rate=2e-3, steps=10**6)
    run = new_run(options, None, QUIET)
    run.env.parts[0].set_starts(nearly_won(), 1.0)
    run.model._last_obs = run.env.reset()
    shares = []

    for _ in range(60):
        collect(run)
        run.model.train()
        shares.append((sum(game.outcome == "won" for game in run.env.finished), len(run.env.finished)))
        run.env.finished = []

    first, last = np.sum(shares[:5], axis=0), np.sum(shares[-5:], axis=0)
    assert last[0] / last[1] > first[0] / first[1] + 0.2
