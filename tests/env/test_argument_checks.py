"""Checks of arguments before they reach compiled code: invalid ones raise a one-line error instead of crashing the process."""

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

from tetrarchia_agents import make_agent
from tetrarchia_agents.rollouts import rollout
from tetrarchia_env import Game, batch, tetrarchia_v0
from tetrarchia_env.checks import ERR_CONCURRENT_USE, SingleThreadGuard, check_records
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import record_replay
from tetrarchia_env.options import Options

RNGS = np.arange(1, 5, dtype=np.uint64)


@pytest.fixture
def four_games() -> tuple[batch.Games, batch.Masks]:
    return batch.new_games(Options(), range(4))


WRONG_CALLS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "no games": ("games must be a one-dimensional array", lambda g, m: batch.step([1], [8], m)),
    "bytes": ("games must be a one-dimensional array", lambda g, m: batch.observe(g.view(np.uint8))),
    "two rows": ("games must be a one-dimensional array", lambda g, m: batch.legal_masks(g.reshape(2, 2))),
    "another record": ("games must be a one-dimensional array", lambda g, m: batch.scores(np.zeros(4, dtype=[("turn", int)]))),
    "masks of floats": ("masks must be int8", lambda g, m: batch.step(g, [8] * 4, m.astype(float))),
    "masks of three": ("masks must be int8 of shape", lambda g, m: batch.playout(g, m[:3], RNGS, 1)),
    "masks of three, played": ("masks must be int8 of shape", lambda g, m: batch.play_to_end(g, m[:3], lambda *_: None)),
    "viewer 4": ("0 to 3, not 4", lambda g, m: batch.observe(g, np.array([0, 1, 2, 4]))),
    "viewer -1": ("0 to 3, not -1", lambda g, m: batch.observe(g, np.array([-1, 0, 0, 0]))),
    "viewer 2**40": ("0 to 3, not 1099511627776", lambda g, m: batch.observe(g, np.full(4, 2**40))),
    "viewers of floats": ("viewers must be 4 integers", lambda g, m: batch.observe(g, np.array([0.5] * 4))),
    "viewers in a column": ("viewers must be 4 integers", lambda g, m: batch.observe(g, np.zeros((4, 1), int))),
    "rngs signed": ("rngs must be writable uint64", lambda g, m: batch.playout(g, m, RNGS.astype(int), 1)),
    "rngs of three": ("rngs must be writable uint64", lambda g, m: batch.random_actions(m, RNGS[:3])),
    "steps of floats": ("steps must be an integer", lambda g, m: batch.playout(g, m, RNGS.copy(), 1.5)),
    "steps below 0": ("steps must be an integer", lambda g, m: batch.playout(g, m, RNGS.copy(), -1)),
    "actions of no shape": ("actions must be an array", lambda g, m: batch.step(g, [[8], [8, 8]], m)),
    "seeds of two rows": ("seeds must be 4", lambda g, m: batch.reset(g, Options(), np.zeros((2, 2), int), m)),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_invalid_array_is_refused(four_games: tuple[batch.Games, batch.Masks], name: str) -> None:
    games, masks = four_games
    before = games.tobytes()
    words, call = WRONG_CALLS[name]

    with pytest.raises(TetrarchiaError, match=words) as refusal:
        call(games, masks)

    assert "\n" not in str(refusal.value)
    assert games.tobytes() == before


def test_read_only_array_is_refused(four_games: tuple[batch.Games, batch.Masks]) -> None:
    games, masks = four_games
    games.setflags(write=False)
    with pytest.raises(TetrarchiaError, match="games must be writable"):
        batch.step(games, masks.argmax(axis=1), masks)
    masks.setflags(write=False)
    with pytest.raises(TetrarchiaError, match="masks must be writable"):
        batch.step(games.copy(), masks.argmax(axis=1), masks)


def test_action_of_another_phase_is_refused_even_if_the_mask_allows_it() -> None:
    """A move in the fleet phase would set bit 52 of the three-bit fleet field and cause reads out of bounds."""
    games, masks = batch.new_games(Options(), range(4))
    with pytest.raises(TetrarchiaError, match="action 60 does not belong to the phase of game 0"):
        batch.step(games, np.full(4, 60), np.ones_like(masks))
    assert (games["fleets"] == 0).all()


def test_playout_recomputes_the_masks() -> None:
    games, masks = batch.new_games(Options(), range(4))
    own, own_masks = games.copy(), masks.copy()
    batch.playout(games, np.zeros_like(masks), RNGS.copy(), 20)
    batch.playout(own, own_masks, RNGS.copy(), 20)
    assert games.tobytes() == own.tobytes()


class ScriptedAgent:
    """An agent that returns whatever a given function makes of the masks."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def begin(self, env_ids: Any) -> None: ...

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return self.answer(masks)


WRONG_ANSWERS: list[Callable[[Any], Any]] = [
    lambda masks: masks.argmax(axis=1)[:1].repeat(len(masks) + 1),
    lambda masks: masks.argmax(axis=1) + 0.9,
    lambda masks: int(masks[0].argmax()),
    lambda masks: None,
    lambda masks: ["end"] * len(masks),
]


@pytest.mark.parametrize("answer", WRONG_ANSWERS)
def test_invalid_actions_of_an_agent_are_refused(answer: Any) -> None:
    agent: Any = ScriptedAgent(answer)
    with pytest.raises(TetrarchiaError, match="integers, one per game"):
        rollout(agent, 3, seed=1)
    with pytest.raises(TetrarchiaError, match="integers, one per game"):
        Game(seed=1).ask(agent)


@pytest.mark.parametrize("name", ["planner", "greedy", "ppo:candidates=2"])
def test_agent_refuses_masks_of_the_wrong_shape(four_games: tuple[batch.Games, batch.Masks], name: str) -> None:
    with pytest.raises(TetrarchiaError, match="masks must be int8 of shape"):
        make_agent(name).act(four_games[0], four_games[1][:1], np.arange(4))


@pytest.mark.parametrize("action", [8.9, True, np.float64(8), None, [8]])
def test_game_accepts_only_texts_and_integers(action: Any) -> None:
    with pytest.raises(TetrarchiaError, match="is not legal for diocletian"):
        Game(seed=1).play(action)


def environments() -> dict[str, Any]:
    vector = tetrarchia_v0.vector_env(4)
    sb3 = tetrarchia_v0.sb3_vec_env(4)
    return {"aec": tetrarchia_v0.raw_env(), "gymnasium": gymnasium.make("Tetrarchia-v0").unwrapped, "vector": vector, "sb3": sb3}


def guard_of(env: Any) -> SingleThreadGuard:
    lock: SingleThreadGuard = env.thread_guard if hasattr(env, "thread_guard") else env.batched.thread_guard
    return lock


@pytest.mark.parametrize("name", ["aec", "gymnasium", "vector", "sb3"])
def test_concurrent_use_by_a_second_thread_is_refused(name: str) -> None:
    env, messages = environments()[name], []
    env.reset()

    def use() -> None:
        for call in (env.reset, lambda: env.step(8 if name in ("aec", "gymnasium") else np.full(4, 8))):
            try:
                call()
            except TetrarchiaError as error:
                messages.append(str(error))

    with guard_of(env):
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()

    assert messages == [ERR_CONCURRENT_USE] * 2
    use()
    assert len(messages) == 2


def test_concurrent_steps_never_corrupt_the_games() -> None:
    """Each step either completes or is refused."""
    many = tetrarchia_v0.vector_env(64)
    many.reset(seed=1)
    others: list[BaseException] = []

    def play() -> None:
        for _ in range(300):
            try:
                many.step(many.batched.masks.argmax(axis=1))
            except TetrarchiaError:
                pass
            except BaseException as error:
                others.append(error)

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not others
    check_records(many.batched.games, "games")


def test_copy_has_its_own_unlocked_guard() -> None:
    env = tetrarchia_v0.raw_env()
    env.reset(seed=1)
    with env.thread_guard:
        copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone()]
    assert all(other.thread_guard is not env.thread_guard for other in copies)
    assert all(other.snapshot() == env.snapshot() for other in copies)


@pytest.mark.parametrize("name", ["aec", "gymnasium", "vector"])
def test_unknown_reset_options_are_refused(name: str) -> None:
    env = environments()[name]
    env.reset(seed=1, options={})
    with pytest.raises(TetrarchiaError, match=r"reset takes no options; got \{'level': '4200'\}"):
        env.reset(seed=1, options={"level": "4200"})


def test_invalid_reset_options_of_vector_apis_are_refused() -> None:
    envs = environments()
    for wrong in ([True] * 4, np.ones(3, bool), np.ones(4), np.zeros(4, bool), None):
        with pytest.raises(TetrarchiaError, match="reset_mask must be an array of 4 bools"):
            envs["vector"].reset(options={"reset_mask": wrong})
    with pytest.raises(TetrarchiaError, match="reset all of them first"):
        envs["vector"].reset(options={"reset_mask": np.arange(4) == 1})
    envs["sb3"].set_options([{}] * 4)
    with pytest.raises(TetrarchiaError, match="reset takes no options"):
        envs["sb3"].set_options({"level": "4200"})


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.uint64])
def test_numpy_integers_are_accepted_as_seeds(kind: Any) -> None:
    seed = kind(7)
    plain, given = environments(), environments()
    for name in ("aec", "gymnasium", "vector"):
        plain[name].reset(seed=7)
        given[name].reset(seed=seed)
    plain["sb3"].seed(7)
    given["sb3"].seed(seed)
    assert plain["sb3"].reset().tobytes() == given["sb3"].reset().tobytes()
    assert plain["aec"].snapshot() == given["aec"].snapshot()
    assert plain["gymnasium"].snapshot() == given["gymnasium"].snapshot()
    assert plain["vector"].batched.games.tobytes() == given["vector"].batched.games.tobytes()
    assert Game(seed=seed).snapshot() == Game(seed=7).snapshot()
    assert [game.score for game in rollout("random", kind(2), seed=seed)] == [game.score for game in rollout("random", 2, seed=7)]
    assert type(record_replay(Options(), seed, []).seed) is int


def test_numpy_array_gives_each_game_its_seed() -> None:
    many = tetrarchia_v0.vector_env(4)
    one, _ = many.reset(seed=np.arange(7, 11))
    other, _ = many.reset(seed=7)
    assert one["observation"].tobytes() == other["observation"].tobytes()


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True, [7]])
def test_invalid_seed_is_refused_by_every_api(seed: Any) -> None:
    envs = environments()
    calls = [lambda: envs["aec"].reset(seed=seed), lambda: envs["gymnasium"].reset(seed=seed), lambda: envs["sb3"].seed(seed)]
    calls += [lambda: Game(seed=seed), lambda: rollout("random", 1, seed=seed), lambda: envs["vector"].reset(seed=seed)]
    for call in calls:
        with pytest.raises(TetrarchiaError, match="seed"):
            call()


@pytest.mark.parametrize("number", [0, -1, 10**12, 2.0, True])
def test_invalid_number_of_games_is_refused(number: Any) -> None:
    with pytest.raises(TetrarchiaError, match="num_envs must be an integer from 1 to 16777216"):
        tetrarchia_v0.vector_env(number)
