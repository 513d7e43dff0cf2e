"""The vector API: batched games equal single games, and each environment plays one game after another."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.configurations import random_options
from helpers.positions import position
from tetrarchia_env import batch, tetrarchia_v0
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.actions import BASE_ACTIONS
from tetrarchia_env.engine.state import VARIANTS
from tetrarchia_env.envs.vector import TetrarchiaVector
from tetrarchia_env.notation import snapshot
from tetrarchia_env.options import Options


def choose(masks: NDArray[np.int8], step: int) -> NDArray[np.int64]:
    """Return a random legal action for each row."""
    weights = np.random.default_rng(step).random(masks.shape)
    return (masks * weights).argmax(axis=1)


def vector_of(options: Options, number: int, **more: Any) -> TetrarchiaVector:
    """Return a vector environment that resets in the same step and raises on illegal actions."""
    return tetrarchia_v0.vector_env(number, autoreset_mode="SameStep", illegal="raise", **options.arguments(), **more)


@pytest.mark.parametrize("seed", range(12))
def test_batch_equals_single_games(seed: int) -> None:
    """Compare observations, masks, rewards, ends and agents of each environment's first game with the AEC API."""
    options = random_options(seed)
    many = vector_of(options, 4, reward="shaped")
    seen, info = many.reset(seed=seed)
    singles = [tetrarchia_v0.raw_env(**options.arguments(), reward="shaped") for _ in range(4)]
    for i, single in enumerate(singles):
        single.reset(seed=seed + i)
    running = [True] * 4
    for step in range(400):
        actions = choose(seen["action_mask"], step)
        for i in np.flatnonzero(running):
            expected = singles[i].observe(singles[i].agent_selection)
            assert seen["observation"][i].tobytes() == expected["observation"].tobytes()
            assert seen["action_mask"][i].tobytes() == expected["action_mask"].tobytes()
            assert EMPERORS[info["agent"][i]] == singles[i].agent_selection
            singles[i].step(int(actions[i]))
        seen, rewards, terminations, truncations, info = many.step(actions)
        for i in np.flatnonzero(running):
            agent = singles[i].agent_selection
            assert rewards[i] == singles[i].rewards[agent]
            assert terminations[i] == singles[i].terminations[agent]
            assert truncations[i] == singles[i].truncations[agent]
            running[i] = not (terminations[i] or truncations[i])
        if not any(running):
            return
    raise AssertionError("the games did not end")


def test_next_game_of_an_environment_has_other_dice() -> None:
    """Each game of an environment begins with a different RNG state."""
    many = vector_of(Options(), 64)
    seen, _ = many.reset(seed=0)
    states = [many.batched.episodes["rng"].copy()]
    for step in range(200):
        seen, *_ = many.step(choose(seen["action_mask"], step))
        states.append(many.batched.episodes["rng"].copy())
    different = np.unique(np.concatenate(states))
    assert len(different) > 64 * 2


def test_invalid_seeds_are_refused() -> None:
    many = vector_of(Options(), 2)
    for wrong, sentence in ((-1, "seed must be an integer"), ([1], "2 numbers; got 1"), ([1, -1], "got -1")):
        with pytest.raises(ValueError, match=sentence):
            many.reset(seed=wrong)


def test_games_begin_from_initial_states_with_new_dice() -> None:
    start = snapshot(position(tokens={"LIBYA": "maximian", "PERSIA": "galerius"}))
    many = vector_of(Options(), 200, initial_states=[start], initial_state_share=0.5)
    many.reset(seed=2)
    begun = many.batched.games["turn"] == start["turn"]
    assert 60 < begun.sum() < 140
    assert len(np.unique(many.batched.games["dice"][begun])) == begun.sum()
    same_but_dice = many.batched.games[begun].copy()
    same_but_dice["dice"] = start["dice"]
    assert {game.tobytes() for game in same_but_dice} == {position(tokens={"LIBYA": "maximian", "PERSIA": "galerius"}).tobytes()}


def test_initial_states_can_be_removed() -> None:
    many = vector_of(Options(), 50, initial_states=[snapshot(position())])
    many.batched.set_initial_states([])
    many.reset(seed=2)
    assert not many.batched.games["turn"].any()


@pytest.mark.parametrize("variants", [(), ("mare_nostrvm", "diarchia", "the_great")])
def test_base_actions_suffice_without_variants_that_add_actions(variants: tuple[str, ...]) -> None:
    base = tetrarchia_v0.vector_env(20, actions="base", variants=variants, modules=["goths"])
    whole = tetrarchia_v0.vector_env(20, variants=variants, modules=["goths"])
    assert base.single_action_space.n == BASE_ACTIONS == 109
    seen, _ = base.reset(seed=4)
    also, _ = whole.reset(seed=4)
    for step in range(100):
        assert (also["action_mask"][:, :BASE_ACTIONS] == seen["action_mask"]).all()
        assert not also["action_mask"][:, BASE_ACTIONS:].any()
        actions = choose(seen["action_mask"], step)
        seen, *_ = base.step(actions)
        also, *_ = whole.step(actions)
    assert base.batched.games.tobytes() == whole.batched.games.tobytes()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"actions": "few"}, "'few'"),
        ({"actions": "base", "variants": ["imperivm"]}, "does not include"),
        ({"initial_state_share": 2}, "initial_state_share"),
        ({"initial_states": [{}]}, "missing"),
    ],
)
def test_invalid_argument_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tetrarchia_v0.vector_env(**{"num_envs": 2} | arguments)


def test_initial_state_that_is_finished_or_needs_more_actions_is_refused() -> None:
    games, masks = batch.new_games(Options(), 1)
    batch.playout(games, masks, np.array([1], dtype=np.uint64), steps=10_000)
    with pytest.raises(ValueError, match="must be running"):
        tetrarchia_v0.vector_env(2, initial_states=[snapshot(games)])
    rich, _ = batch.new_games(Options(variants=VARIANTS), 1)
    with pytest.raises(ValueError, match="needs actions"):
        tetrarchia_v0.vector_env(2, actions="base", initial_states=[snapshot(rich)])


def test_copies_and_pickles_continue_identically() -> None:
    many = vector_of(Options(), 5)
    seen, _ = many.reset(seed=1)
    others = [copy.deepcopy(many), pickle.loads(pickle.dumps(many))]
    actions = choose(seen["action_mask"], 0)
    after = many.step(actions)[0]["observation"].tobytes()
    assert [other.step(actions)[0]["observation"].tobytes() for other in others] == [after, after]


def test_returned_observation_is_not_overwritten() -> None:
    many = vector_of(Options(), 5)
    seen, _ = many.reset(seed=1)
    kept = {name: array.copy() for name, array in seen.items()}
    more = seen
    for step in range(5):
        more, *_ = many.step(choose(more["action_mask"], step))
    assert all((seen[name] == kept[name]).all() for name in seen)


def test_sets_of_rules_are_assigned_to_blocks_of_environments() -> None:
    rules = [{"level": "4200"}, {"scenario": "danube_wars"}, {"level": ["5300", "4222"], "variants": ["imperivm"]}]
    together = tetrarchia_v0.vector_env(6, rules=rules)
    obs, _ = together.reset(seed=4)
    alone = [tetrarchia_v0.vector_env(2, **rule) for rule in rules]
    parts = [env.reset(seed=4 + 2 * number)[0] for number, env in enumerate(alone)]
    assert together.batched.rule_index.tolist() == [0, 0, 1, 1, 2, 2]

    for step in range(300):
        assert obs["observation"].tobytes() == b"".join(part["observation"].tobytes() for part in parts)
        actions = choose(obs["action_mask"], step)
        obs, *_ = together.step(actions)
        parts = [env.step(some)[0] for env, some in zip(alone, actions.reshape(3, 2), strict=True)]


@pytest.mark.parametrize(
    "actions",
    [[0], [0] * 5, 0, [8.9] * 4, ["0"] * 4, [True] * 4, [[0]] * 4, None, [None] * 4],
    ids=["one", "five", "scalar", "floats", "texts", "bools", "nested", "none", "nones"],
)
def test_actions_of_the_wrong_number_shape_or_type_are_refused(actions: Any) -> None:
    """Compiled code would read beyond the end of a shorter array."""
    env = vector_of(Options(), 4)
    env.reset(seed=1)
    before = env.batched.games.tobytes()
    with pytest.raises(ValueError, match="actions must be 4 integers, one per game; got"):
        env.step(actions)
    games, masks = batch.new_games(Options(), range(4))
    with pytest.raises(ValueError, match="actions must be 4 integers, one per game; got"):
        batch.step(games, actions, masks)
    assert env.batched.games.tobytes() == before


def test_restored_state_continues_identically() -> None:
    one, other = vector_of(Options(), 4, reward="shaped"), vector_of(Options(), 4, reward="shaped")
    obs, _ = one.reset(seed=1)
    for step in range(60):
        obs, *_ = one.step(choose(obs["action_mask"], step))
    other.batched.set_state(one.batched.state())
    for step in range(60):
        actions = choose(obs["action_mask"], step)
        obs, reward, *_ = one.step(actions)
        again, same_reward, *_ = other.step(actions)
        assert obs["observation"].tobytes() == again["observation"].tobytes()
        assert reward.tobytes() == same_reward.tobytes()
