"""Tests of complete games between agents: which agent decides, and equality with a game played step by step."""

import numpy as np
import pytest

from helpers.witness import Witness
from tetrarchia_agents import Actions, TeamPolicy, make_agent, make_agents, rollout
from tetrarchia_agents.rollouts import play_games
from tetrarchia_app.cli.arguments import game_policy
from tetrarchia_env.batch import Games, Masks, new_games, step
from tetrarchia_env.engine.state import OVER
from tetrarchia_env.game import Game
from tetrarchia_env.notation import record_replay
from tetrarchia_env.options import Options

EVERYTHING = Options(level="4202", variants=["imperivm", "patres_patriae"], modules=["dux", "pirates", "goths"])


@pytest.mark.parametrize("options", [Options(level="4200"), EVERYTHING, Options(scenario="danube_wars", max_turns=5)])
def test_a_game_played_step_by_step_ends_the_same(options: Options) -> None:
    (played,) = play_games(options, make_agents("random"), 11, agents_seed=2)
    team, env_id, actions = TeamPolicy(make_agents("random"), 1, 2), np.array([0]), []
    games, masks = new_games(options, 11)
    team.begin(env_id, 11)
    while games[0].phase != OVER:
        actions.append(int(team.act(games, masks, env_id)[0]))
        step(games, np.array(actions[-1:]), masks)
    final = record_replay(options, 11, actions).final
    assert (played.outcome, played.score, played.turns) == (final["outcome"], final["score"], final["turn"])
    assert played.steps == len(actions) == sum(played.decisions)
    assert played.decisions == tuple(team.decisions[0].tolist())


@pytest.mark.parametrize("level", ["4200", "4211"])
@pytest.mark.parametrize("name", ["random", "planner:beam=4:ends=2:attacks=1"])
def test_game_watch_and_rollout_play_the_same_game(name: str, level: str) -> None:
    """All three take the agents' RNG states from `tetrarchia_env.agent.agent_rngs`."""
    options = Options(level=level)
    game, agent = Game(level=level, seed=11), make_agent(name)
    while not game.is_over:
        game.play_turn(agent)
    watched = list(Game.from_options(options, 11, game_policy(name)).frames())

    (played,) = rollout(name, [11], level=level)

    assert [frame.action for frame in watched[1:]] == [text for _, text in game.replay().actions]
    assert (game.turn, game.score, game.outcome) == (played.turns, played.score, played.outcome)
    assert played.steps == len(watched) - 1


def test_repeated_calls_return_the_same_result() -> None:
    game, agent = Game(seed=3), make_agent("random")
    assert len({game.ask(agent) for _ in range(20)}) == 1


def test_agents_receive_neither_finished_games_nor_future_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    real: list[Games] = []
    agent = Witness(notes=[])

    def watched(games: Games, actions: Actions, masks: Masks) -> None:
        real.append(games.copy())
        step(games, actions, masks)

    monkeypatch.setattr("tetrarchia_env.batch.step", watched)
    played = play_games(Options(), (agent,) * 4, range(6), 0)
    shown = [note[1] for note in agent.notes[1:]]
    assert sum(map(len, shown)) == sum(game.steps for game in played)
    for copies, games in zip(shown, real, strict=True):
        assert (copies["phase"] != OVER).all()
        assert not np.isin(copies["dice"], games["dice"]).any()
        copies["dice"] = games["dice"]
        assert copies.tobytes() == games.tobytes()
