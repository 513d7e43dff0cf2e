"""Training with local information (R14): observations, control variate, evaluation, resuming, and the trained agent."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

from tetrarchia_agents import make_agent  # noqa: E402
from tetrarchia_agents.cards import read_card  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_agents.rollouts import play_games  # noqa: E402
from tetrarchia_env import batch, tetrarchia_v0  # noqa: E402
from tetrarchia_env.agent import Agent  # noqa: E402
from tetrarchia_env.envs.batched_games import BatchedGames  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.local_view import LocalOptions  # noqa: E402
from tetrarchia_env.observation import SIZE  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402
from tetrarchia_train import run  # noqa: E402
from tetrarchia_train.checkpointing import load_run, save_run  # noqa: E402
from tetrarchia_train.config import TrainConfig, option_words, read_preset  # noqa: E402
from tetrarchia_train.dagger import collect_local_demonstrations  # noqa: E402
from tetrarchia_train.evaluation import evaluate, greedy_actions  # noqa: E402
from tetrarchia_train.ppo import Learner, training_reward  # noqa: E402
from tetrarchia_train.variance_reduction import DICE_STRIDE, ControlVariate  # noqa: E402

SMALL = {"num_envs": 16, "n_steps": 8, "minibatch_size": 64, "node_dim": 8, "readout_dim": 4, "hidden_dim": 32, "n_eval_episodes": 4}
MESSAGES = {"message_tokens": 3, "actions": "all"}
ARMS = [("local-shared", {}), ("local-mappo", {}), ("local-shared", MESSAGES), ("local-mappo", MESSAGES)]
ROW_0 = np.array([0])
LOCAL = LocalOptions(2, last_seen=True, message_tokens=3)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def small(preset: str, **changes: object) -> TrainConfig:
    return read_preset(preset).with_overrides(SMALL | {"total_timesteps": 16 * 8 * 4} | changes)


def weights(learner: Learner) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in learner.network.parameters()]


def random_action(masks: batch.Masks, chance: np.random.Generator) -> np.ndarray:
    return np.array([chance.choice(np.flatnonzero(mask)) for mask in masks])


@pytest.mark.parametrize(("preset", "changes"), ARMS, ids=str)
def test_rollouts_hold_local_observations_and_every_policy_and_critic_learns(preset: str, changes: dict[str, object]) -> None:
    config = small(preset, n_steps=64, minibatch_size=512, **changes)
    learner = Learner(config)
    local, before = config.network_config.local, weights(learner)

    learner.train_iteration()

    assert learner.rollout.obs.shape[-1] == local.size + SIZE * (config.critic == "central")
    visible = learner.rollout.obs[..., SIZE : SIZE + 48].sum(axis=-1)
    assert 0 < visible.min() <= visible.max() < 48
    for (name, _), old, new in zip(learner.network.named_parameters(), before, weights(learner), strict=True):
        assert not torch.equal(old, new), name


@pytest.mark.parametrize(("preset", "changes"), [ARMS[0], ARMS[3]], ids=str)
def test_a_resumed_run_equals_an_uninterrupted_run(preset: str, changes: dict[str, object], tmp_path: Path) -> None:
    config = small(preset, **changes)
    straight = Learner(config)
    for _ in range(4):
        straight.train_iteration()
    torch.manual_seed(config.seed)
    stopped = Learner(config)
    for _ in range(2):
        stopped.train_iteration()
    save_run(stopped, tmp_path)
    resumed = load_run(config, tmp_path)
    for _ in range(2):
        resumed.train_iteration()

    assert {name: rows.tobytes() for name, rows in straight.games.state().items()} == {
        name: rows.tobytes() for name, rows in resumed.games.state().items()
    }
    assert straight.games.obs.tobytes() == resumed.games.obs.tobytes()
    assert all(torch.equal(a, b) for a, b in zip(weights(straight), weights(resumed), strict=True))


def test_control_variate_observes_the_copies_with_their_own_memory() -> None:
    """A copy with other dice is observed as the environment would observe it after these dice."""
    reward, received = training_reward(small("local-shared")), list[np.ndarray]()
    games, other = (BatchedGames(1, [Options(level="4222")], local=LOCAL, reward=reward) for _ in range(2))
    games.begin([3])
    chance, compared = np.random.default_rng(1), 0
    control = ControlVariate(games, reward, 2, lambda positions, obs: received.append(obs) or np.zeros(len(obs), np.float32))
    while compared < 10:
        actions, state, before = random_action(games.masks, chance), games.state(), games.games.copy()
        views = games.local.select(ROW_0)
        games.advance(actions)
        after = games.games.copy()
        games.begin_next(np.flatnonzero(games.episodes["ended"]))
        games.observe()
        received.clear()
        control.corrections(before, actions, after, views)
        expected = [] if batch.is_over(after)[0] else [games.obs[0].copy()]
        for number in (1, 2):
            copy = before.copy()
            copy["dice"] = batch.rng_states(before["dice"] + DICE_STRIDE * np.array([number], dtype=np.uint64))
            other.set_state(state | {"games": copy.view(np.uint8).reshape(1, -1)})
            other.advance(actions)
            expected += [] if batch.is_over(other.games)[0] else [other.observe()[0].copy()]
        for obs in received:  # only if dice were rolled
            assert obs.tobytes() == np.array(expected).tobytes()
            compared += 1


def test_evaluation_observes_what_the_environment_observes() -> None:
    env = tetrarchia_v0.raw_env(level="4211", view_radius=2, last_seen=True, message_tokens=3)
    env.reset(seed=5)
    chance = np.random.default_rng(2)

    class Follower(Agent):
        needs = "observations"

        def act(self, observations: np.ndarray, masks: batch.Masks, env_ids: np.ndarray, /) -> np.ndarray:
            assert observations[0].tobytes() == env.observe(env.agent_selection)["observation"].tobytes()
            actions = random_action(masks, chance)
            env.step(int(actions[0]))
            return actions

    [result] = play_games(Options(level="4211"), (Follower(),) * 4, [5], local=LOCAL)
    assert (result.turns, result.score) == (int(env.position["turn"][0]), env.status()[2])


def test_checkpoint_plays_from_observations_of_the_same_information_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = small("local-mappo", task="last-border", **MESSAGES)
    final = run.train(config, "local")
    agent = PPOAgent(str(final))
    assert (agent.needs, agent.local) == ("observations", LOCAL)
    results = evaluate(agent.network, config)
    assert set(results["win_rates"]) == {"last-border"}
    options, seeds = Options(task="last-border"), range(1 << 33, (1 << 33) + config.n_eval_episodes)
    played = play_games(options, (agent,) * 4, seeds, local=LOCAL)
    assert np.mean([game.won for game in played]) == results["win_rates"]["last-border"]
    with pytest.raises(TetrarchiaError):
        play_games(options, (agent,) * 4, seeds)
    games, masks = batch.new_games(options, seeds, LOCAL.message_tokens)
    for wrong in (games, batch.observe(games)):
        with pytest.raises(TetrarchiaError):
            agent.act(wrong, masks, np.arange(len(games)))
    for options_of_search in ({"candidates": 2}, {"temperature": 1.0}):
        with pytest.raises(TetrarchiaError):
            PPOAgent(str(final), **options_of_search)


def test_shipped_checkpoint_needs_games() -> None:
    agent = PPOAgent("ppo-small")
    assert (agent.needs, agent.local) == ("games", None)


@pytest.mark.parametrize(
    "changes",
    [
        {"view_radius": 13},
        {"view_radius": None},
        {"message_tokens": 17, "actions": "all"},
        {"message_tokens": 2},
        {"demonstrations": "file.npz"},
    ],
    ids=str,
)
def test_inconsistent_options_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(TetrarchiaError):
        small("local-shared", **changes)


def test_a_run_can_start_from_a_fully_informed_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    start = run.train(small("scratch-shared", task="last-border"), "full")
    network = run.warm_start(small("local-shared", init_checkpoint=str(start)), tmp_path, "ppo", run.progress_bar(disable=True))
    assert network is not None
    assert network.observation_size == LocalOptions(2, last_seen=True).size


@pytest.mark.parametrize("changes", [{}, MESSAGES], ids=str)
def test_dagger_labels_the_positions_of_the_student_with_the_expert(changes: dict[str, object]) -> None:
    config = small("local-shared", expert="greedy", num_demonstrations=96, dagger_rounds=3, **changes)
    network, sizes = Learner(config).network, list[int]()

    found = collect_local_demonstrations(config, network, lambda student, data: sizes.append(len(data)), lambda number: None)

    assert (sizes, len(found)) == ([32, 64], 96)
    assert (found.actions == make_agent("greedy").act(found.games, batch.legal_masks(found.games), np.arange(96))).all()
    before, after = found.games[48:64], found.games[64:80]  # a step of the student
    obs = found.views.select(np.arange(48, 64)).observe(before, batch.agents_to_act(before))
    tokens = config.message_tokens
    copies, masks = before.copy(), batch.legal_masks(before, tokens)
    batch.step(copies, greedy_actions(network, obs, masks), masks)
    assert copies.tobytes() == after.tobytes()


def test_a_distilled_student_is_a_checkpoint_with_local_information(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = small("local-shared", expert="greedy", num_demonstrations=128, dagger_rounds=2, bc_batch_size=32, task="last-border")

    checkpoint = run.train(config, "student", stop_after="bc")

    assert PPOAgent(str(checkpoint)).local == LocalOptions(2, last_seen=True)
    with pytest.raises(TetrarchiaError):
        run.train(config, "other", stop_after="demonstrations")


@pytest.mark.parametrize(
    ("value", "words"), [(True, ["--last-seen"]), (False, ["--no-last-seen"]), (2, ["--last-seen", "2"])], ids=["true", "false", "number"]
)
def test_options_as_words_of_a_command(value: object, words: list[str]) -> None:
    assert option_words("last_seen", value) == words


@pytest.mark.parametrize("method", ["shared", "mappo"])
def test_presets_differ_from_those_with_full_information_only_in_the_observations(method: str) -> None:
    full = read_preset(f"scratch-{method}")
    assert read_preset(f"local-{method}") == full.with_overrides({"view_radius": 2, "last_seen": True})


def test_a_run_is_fine_tuned_with_partners_of_the_same_information(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short = {"task": "last-border", "total_timesteps": 1, **MESSAGES}
    start, partner = (run.train(small("local-shared", seed=seed, **short), f"run-{seed}") for seed in (1, 2))
    tuned = {"seat": "all", "partners": f"ppo:{partner}", "chance_samples": 0, "critic_rollouts": 1, **short}

    final = run.train(small("local-shared", init_checkpoint=str(start), **tuned), "tuned")

    assert PPOAgent(str(final)).local == LOCAL
    assert read_card(final)["training"]["warm_start"]["timesteps"] == 16 * 8
    with pytest.raises(TetrarchiaError):
        Learner(small("local-shared", **tuned | {"view_radius": 1}))
