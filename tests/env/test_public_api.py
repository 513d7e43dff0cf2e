"""The public API of `tetrarchia_env`: exported names, imported modules, signatures, and the `Game` object."""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import tetrarchia_env
from helpers.positions import EMPTY
from tetrarchia_agents import make_agent, rollout
from tetrarchia_env import BOARD, Game, Options, load_replay
from tetrarchia_env.envs.gymnasium import TetrarchiaEnv

PUBLIC = ["BOARD", "Game", "Options", "agent_name", "env", "load_replay", "outcome_name"]
PUBLIC += ["parallel_env", "raw_env", "sb3_vec_env", "vector_env"]


def output_of_new_process(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_is_exported_and_documented(name: str) -> None:
    assert name in tetrarchia_env.__all__
    assert name in dir(tetrarchia_env)
    assert getattr(tetrarchia_env, name).__doc__


def test_no_other_name_is_public() -> None:
    assert sorted(tetrarchia_env.__all__) == PUBLIC
    with pytest.raises(AttributeError, match=r"no attribute 'Emperor': it has BOARD, Game, Options"):
        tetrarchia_env.Emperor  # noqa: B018


def test_import_loads_neither_torch_nor_numba_nor_pettingzoo() -> None:
    heavy = "'torch', 'numba', 'pettingzoo'"
    assert output_of_new_process(f"import tetrarchia_env, sys; print([name for name in ({heavy}) if name in sys.modules])") == "[]"


@pytest.mark.parametrize(
    "imports", ["tetrarchia_env, gymnasium", "gymnasium, tetrarchia_env", "tetrarchia_env.board, gymnasium.spaces, gymnasium"]
)
def test_import_registers_with_gymnasium(imports: str) -> None:
    assert output_of_new_process(f"import {imports}; print(gymnasium.spec('Tetrarchia-v0').id)") == "Tetrarchia-v0"


def test_game_object_matches_the_environment() -> None:
    env = tetrarchia_env.raw_env(level="4211")
    env.reset(seed=5)
    game, chance = Game(level="4211", seed=5), np.random.default_rng(1)
    while not game.is_over:
        assert (game.agent, game.turn) == (env.agent_selection, env.snapshot()["turn"])
        assert game.legal_actions == [env.action_text(action) for action in env.legal_actions()]
        assert game.observation.tobytes() == env.observe(game.agent)["observation"].tobytes()
        assert game.action_mask.tobytes() == env.observe(game.agent)["action_mask"].tobytes()
        action = chance.choice(np.flatnonzero(game.action_mask))
        game.play(int(action))
        env.step(int(action))
    assert game.snapshot() == env.snapshot()
    assert (game.outcome, game.score) == (env.snapshot()["outcome"], env.snapshot()["score"])
    for call in (lambda: game.play("end"), lambda: game.ask(make_agent("random"))):
        with pytest.raises(ValueError, match="the game is over"):
            call()


def test_copy_is_independent() -> None:
    game = Game(level="4200", seed=7)
    other = game.copy()
    other.play("fleet INTERNVM")
    assert game.legal_actions == ["fleet ATLANTICVM", "fleet INTERNVM", "fleet AEGAEVM"]
    assert other.legal_actions == ["fleet ATLANTICVM", "fleet AEGAEVM"]
    assert [text for _, text in other.replay().actions] == ["fleet INTERNVM"]
    assert game.replay().actions == ()


def test_agent_plays_a_turn_from_a_snapshot() -> None:
    game = Game.restore(EMPTY)
    story = game.play_turn(make_agent("planner"))
    assert game.turn == EMPTY["turn"] + 1
    assert story
    assert game._repr_svg_().startswith("<svg")
    assert story[-1] in str(game)
    with pytest.raises(ValueError, match="has no replay"):
        game.replay()


def test_agent_cannot_see_the_dice() -> None:
    class PeekingAgent:
        def act(self, games, masks, env_ids):  # type: ignore[no-untyped-def]
            self.dice = int(games["dice"][0])
            return masks.argmax(axis=1)

    game, agent = Game(seed=3), PeekingAgent()
    game.ask(agent)
    assert agent.dice != game.snapshot()["dice"]


def test_replay_is_saved_loaded_and_stepped_through(tmp_path: Path) -> None:
    game = Game(level="4200", seed=7)
    game.play("fleet INTERNVM")
    game.play("fleet AEGAEVM")
    game.replay().save(tmp_path / "game.json")
    replay = load_replay(tmp_path / "game.json")
    assert Game.from_replay(replay).snapshot() == game.snapshot()
    assert Game.from_replay(replay, 1).legal_actions == ["fleet ATLANTICVM", "fleet AEGAEVM"]
    assert json.loads((tmp_path / "game.json").read_text())["seed"] == 7


def test_frames_and_replay_have_the_position_and_agent_of_each_action() -> None:
    game = Game(level="4211", seed=3)
    agents, positions = [], [game.snapshot()]
    for _ in range(10):
        agents.append(game.agent)
        game.play(game.legal_actions[0])
        positions.append(game.snapshot())
    assert [frame.snapshot for frame in game.frames()] == positions
    assert [agent for agent, _ in game.replay().actions] == agents
    assert game.replay().final == positions[-1]


def test_games_without_a_seed_differ() -> None:
    assert len({Game().snapshot()["dice"] for _ in range(3)}) == 3


FACTORIES = {
    "Game": Game,
    "env": tetrarchia_env.env,
    "raw_env": tetrarchia_env.raw_env,
    "parallel_env": tetrarchia_env.parallel_env,
    "gymnasium": TetrarchiaEnv,
    "vector_env": tetrarchia_env.vector_env,
    "sb3_vec_env": tetrarchia_env.sb3_vec_env,
}
RULES = ("level", "variants", "modules", "scenario", "fixed_setup", "revolts", "secured", "task", "max_turns")
SINGLE = (*RULES, "seat", "partners", "reward", "gamma", "view_radius", "last_seen", "message_tokens", "render_mode", "mask")
VECTOR = (*SINGLE, "num_envs", "rules", "actions", "initial_states", "initial_state_share", "illegal", "copy")
PARAMETERS = {
    "Game": {*RULES, "seed", "view_radius", "last_seen", "message_tokens"},
    **{name: {*SINGLE} for name in ("env", "raw_env", "parallel_env")},
    "gymnasium": {*SINGLE, "illegal"},
    "vector_env": {*VECTOR, "autoreset_mode"},
    "sb3_vec_env": {*VECTOR, "seed"},
}


@pytest.mark.parametrize("name", FACTORIES)
def test_factory_has_explicit_typed_documented_parameters(name: str) -> None:
    parameters = inspect.signature(FACTORIES[name]).parameters
    documentation = inspect.getdoc(FACTORIES[name]) or ""

    assert set(parameters) == PARAMETERS[name]
    for parameter in parameters.values():
        assert parameter.default is not inspect.Parameter.empty
        assert parameter.annotation not in (inspect.Parameter.empty, Any)
        assert f"    {parameter.name}: " in documentation


@pytest.mark.parametrize("name", FACTORIES)
def test_unknown_keyword_is_a_type_error(name: str) -> None:
    with pytest.raises(TypeError, match="levle"):
        FACTORIES[name](levle="4200")
    with pytest.raises(TypeError, match="levle"):
        gymnasium.make("Tetrarchia-v0", levle="4200")


def test_rollout_by_name_equals_rollout_by_agent() -> None:
    results = rollout("random", 5, level="4200", seed=3)
    assert [result.seed for result in results] == [3, 4, 5, 6, 7]
    again = rollout(make_agent("random"), range(3, 8), options=Options(level="4200"))
    assert [(one.outcome, one.score, one.turns) for one in results] == [(one.outcome, one.score, one.turns) for one in again]
    assert BOARD.names
