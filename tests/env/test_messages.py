"""R14.7, messages: legality, the exception to R3.5, observations, snapshots, replays and events."""

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from helpers.positions import position
from tetrarchia_env import Game, batch, tetrarchia_v0
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.actions import ACTIONS, END, SAY
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import narrate
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.notation import action_id, action_label, action_text, load_replay, play_replay, record_replay, snapshot
from tetrarchia_env.observation import SIZE
from tetrarchia_env.options import Options

M = 3
RULES: dict[str, Any] = {"level": "4211", "view_radius": 1, "message_tokens": M}
FIRST = SIZE + 48  # of the message blocks


def say(token: int) -> int:
    return SAY + token - 1


def env_at(game: batch.Games, **arguments: Any) -> tetrarchia_v0.raw_env:
    env = tetrarchia_v0.raw_env(**{**RULES, "level": None} | arguments)
    env.restore(snapshot(game))
    return env


def blocks(env: tetrarchia_v0.raw_env, agent: str) -> tuple[list[list[float]], list[float]]:
    """Return the tokens and their ages as this agent observes them."""
    vector = env.observe(agent)["observation"][FIRST:]
    return vector[: 4 * M].reshape(4, M).tolist(), vector[4 * M :].tolist()


def test_texts_and_ids() -> None:
    assert [action_text(SAY), action_id("say 16")] == ["say 1", ACTIONS + 15]
    assert action_label(position(), say(2)) == "Say 2"
    with pytest.raises(TetrarchiaError):
        action_id("say 17")


def test_said_in_the_own_roman_phase_once_a_turn() -> None:
    env = tetrarchia_v0.raw_env(**RULES)
    env.reset(seed=4)
    chance, said, before = np.random.default_rng(0), set(), None
    while not any(env.terminations.values()):
        data = env.snapshot()
        may = data["phase"] == "roman" and data["passing"] is None and data["turn"] not in said
        assert set(env.masks[0, ACTIONS:].tolist()) == {int(may)}
        if before is not None:
            assert {**data, "pending": None, "local": None} == before
        before = None
        if may and chance.random() < 0.5:
            said.add(data["turn"])
            action = int(chance.integers(SAY, SAY + M))
            if env.masks[0, 1:ACTIONS].any():  # otherwise the turn ends
                before = {**data, "pending": None, "local": None}
        else:
            action = int(chance.choice(np.flatnonzero(env.masks[0, :ACTIONS])))
        env.step(action)
    assert said


def test_no_message_while_passing() -> None:
    game = position()
    game["passing"] = 0
    assert not batch.legal_masks(game, M)[0, ACTIONS:].any()


def test_a_turn_with_only_end_and_say_does_not_end_by_itself() -> None:
    """R14.7, R3.5: it ends after the message, or by `end`."""
    game = position(emperors={"diocletian": "BITHYNIA"}, ip=1)
    silent, env = tetrarchia_v0.raw_env(), env_at(game)
    silent.restore(snapshot(game))
    silent.step(action_id("move ASIA"))
    env.step(action_id("move ASIA"))
    assert silent.snapshot()["turn"] == game["turn"][0] + 1
    assert env.snapshot()["turn"] == game["turn"][0]
    assert env.legal_actions() == [END, say(1), say(2), say(3)]
    other = env.clone()
    env.step(END)
    other.step(say(2))
    assert env.snapshot()["turn"] == other.snapshot()["turn"] == game["turn"][0] + 1
    assert {**env.snapshot(), "local": None} == {**other.snapshot(), "local": None} == silent.snapshot() | {"local": None}


def test_every_emperor_observes_the_last_token_of_each_and_its_age() -> None:
    env = env_at(position())
    none = [0.0] * M
    assert blocks(env, "galerius") == ([none] * 4, [1.0] * 4)
    turn = env.snapshot()["turn"]
    env.step(say(2))
    for viewer, agent in enumerate(EMPERORS):
        tokens, ages = blocks(env, agent)
        speaker = -viewer % 4  # diocletian's place: the observer comes first
        assert tokens == [[0.0, 1.0, 0.0] if place == speaker else none for place in range(4)]
        assert ages == [0.0 if place == speaker else 1.0 for place in range(4)]
    while env.snapshot()["turn"] < turn + 2:
        env.step(END if env.masks[0, END] else env.legal_actions()[0])
    assert blocks(env, "diocletian")[1] == [np.float32(0.1), 1, 1, 1]


def test_messages_change_nothing_else() -> None:
    """The same actions without the messages give the same game."""
    talking, silent = tetrarchia_v0.raw_env(**RULES), tetrarchia_v0.raw_env(level="4211")
    talking.reset(seed=5)
    silent.reset(seed=5)
    chance = np.random.default_rng(5)
    for _ in range(150):
        if any(silent.terminations.values()):
            break
        if talking.masks[0, ACTIONS:].any() and talking.masks[0, 1:ACTIONS].any():
            talking.step(int(chance.integers(SAY, SAY + M)))
        if not talking.masks[0, 1:ACTIONS].any() and talking.masks[0, ACTIONS:].any():
            talking.step(END)
            continue
        action = int(chance.choice(silent.legal_actions()))
        silent.step(action)
        talking.step(action)
    assert {**talking.snapshot(), "pending": None, "local": None} == {**silent.snapshot(), "pending": None, "local": None}


def test_snapshot_restores_the_messages() -> None:
    env, other = (tetrarchia_v0.raw_env(**RULES, last_seen=True) for _ in range(2))
    env.reset(seed=8)
    chance = np.random.default_rng(8)
    while legal := env.legal_actions():
        env.step(int(chance.choice([action for action in legal if action >= SAY] or legal)))
        data = json.loads(json.dumps(env.snapshot()))
        other.restore(data)
        assert other.snapshot() == data
        assert other.legal_actions() == env.legal_actions()
        assert other.observe("galerius")["observation"].tobytes() == env.observe("galerius")["observation"].tobytes()
    assert set(data["local"]["messages"]) == set(EMPERORS)
    del data["local"]
    other.restore(data)
    assert other.snapshot()["local"]["messages"] == {}


@pytest.mark.parametrize("message", [{"token": 4, "turn": 0}, {"token": 0, "turn": 0}, {"token": 1, "turn": 10**6}, {"token": 1}])
def test_impossible_messages_are_refused(message: dict[str, int]) -> None:
    env = tetrarchia_v0.raw_env(**RULES)
    with pytest.raises(TetrarchiaError):
        env.restore({**snapshot(position()), "local": {"messages": {"galerius": message}}})


def test_replays_with_messages_reproduce(tmp_path: Path) -> None:
    env = tetrarchia_v0.raw_env(**RULES)
    env.reset(seed=9)
    chance, actions = np.random.default_rng(9), []
    while legal := env.legal_actions():
        actions.append(int(chance.choice(legal)))
        env.step(actions[-1])
    replay = record_replay(Options(level="4211"), 9, actions, LocalOptions(1, message_tokens=M))
    replay.save(tmp_path / "game.json")
    loaded = load_replay(tmp_path / "game.json")
    assert loaded == replay
    assert any(text.startswith("say") for _, text in replay.actions)
    assert len(list(play_replay(loaded))) == len(actions)
    game = Game.from_replay(loaded)
    assert game.position.tobytes() == env.position.tobytes()
    assert game.replay() == replay
    assert any(line == f"{move.agent} says {move.action - SAY + 1}" for move in game.moves for line in move.story if move.action >= SAY)


def test_a_replay_without_message_tokens_refuses_messages() -> None:
    with pytest.raises(TetrarchiaError):
        record_replay(Options(level="4211"), 9, [say(1)])


def test_events_name_the_token() -> None:
    assert narrate(position(), say(3), M).lines == ("diocletian says 3",)
    env = env_at(position(), render_mode="ansi")
    env.step(say(3))
    assert env.events.lines == ("diocletian says 3",)


def test_state_of_batched_games_contains_the_messages() -> None:
    ours, other = (BatchedGames(3, [Options()], local=LocalOptions(2, message_tokens=M)) for _ in range(2))
    ours.begin([1, 2, 3])
    for step in range(40):
        ours.advance(np.array([np.flatnonzero(mask)[-1 - step % 2 * (mask.sum() > 1)] for mask in ours.masks]))
        ours.begin_next(np.flatnonzero(ours.episodes["ended"]))
    expected = ours.observe().copy()
    state = ours.state()
    other.set_state(state)
    assert ours.local is not None
    assert ours.local.messages["token"].any()
    assert other.obs.tobytes() == expected.tobytes()
    assert other.masks.tobytes() == ours.masks.tobytes()
    for wrong in ({**state, "messages": state["messages"][:2]}, {**state, "messages": np.full_like(state["messages"], 9)}):
        with pytest.raises(TetrarchiaError):
            other.set_state(wrong)


def test_base_actions_do_not_include_messages() -> None:
    with pytest.raises(TetrarchiaError):
        tetrarchia_v0.vector_env(2, actions="base", **RULES)


def test_illegal_messages_are_not_kept() -> None:
    env = gymnasium.make("Tetrarchia-v0", **RULES, illegal="ignore").unwrapped
    many = tetrarchia_v0.vector_env(1, **RULES, illegal="ignore")
    env.reset(seed=1)
    many.reset(seed=1)
    env.step(say(1))  # the first decision places a fleet
    many.step(np.array([say(1)]))
    assert not env.local.messages["token"].any()
    assert not many.batched.local.messages["token"].any()


def test_partners_that_receive_games_say_nothing() -> None:
    class LastAction:
        def act(self, games: batch.Games, masks: batch.Masks, env_ids: np.ndarray) -> np.ndarray:
            assert masks.shape[1] == ACTIONS
            return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    env = gymnasium.make("Tetrarchia-v0", **RULES, seat="galerius", partners=LastAction()).unwrapped
    obs, _ = env.reset(seed=2)
    over = False
    while not over:
        obs, _, terminated, truncated, _ = env.step(int(np.flatnonzero(obs["action_mask"])[-1]))
        over = terminated or truncated
        assert not env.local.messages["token"][0, [0, 2, 3]].any()
    assert env.local.messages["token"][0, 1] == M
