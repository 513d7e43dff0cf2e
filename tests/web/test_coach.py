"""The coach: the network that knows the rules, values that agree with each other, mistakes above the noise, and kept results."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from helpers.random_games import random_replay
from helpers.web_server import serving
from tetrarchia_app.cli.serve import COACHES, make_coach
from tetrarchia_app.web import coach as coach_module
from tetrarchia_app.web.analysis_queue import Slices
from tetrarchia_app.web.coach import Coach
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.game_analysis import NOISE
from tetrarchia_env.options import Options

ME, AGENT = "player 1", "random"


@cache
def coach() -> Coach:
    found = make_coach(*COACHES)
    assert found
    return found


def answer(slices: Slices) -> tuple[dict[str, Any], int]:
    """Return the answer and the number of slices before the last."""
    count = 0
    while True:
        try:
            next(slices)
        except StopIteration as stop:
            return stop.value, count
        count += 1


def ask_for_analysis(game: Game, players: Any = None, by: Coach | None = None) -> tuple[dict[str, Any], int]:
    return answer((by or coach()).analyze(game.options, game.positions, game.moves, players or [(None, None)] * len(game.moves)))


@cache
def finished_game() -> Game:
    """Return a game of 64 actions in 13 turns; Rome falls."""
    return Game.from_replay(random_replay(Options(level="4211"), 7, 1000))


@pytest.mark.parametrize(
    ("rules", "critic"),
    [({"level": "4222"}, "ppo"), ({"variants": ["imperivm"]}, "ppo:ppo-full"), ({"modules": ["pirates"]}, "ppo:ppo-full")],
)
def test_network_that_was_trained_with_the_rules_advises(tmp_path: Path, rules: dict[str, Any], critic: str) -> None:
    with serving(tmp_path, coach=coach()) as server:
        me = server.connect(server.create_room(*[ME] * 4, seed=1, **rules))
        me.send("coach", position=0)
        result = me.wait_for("coach")["result"]

    assert result["critic"] == critic
    assert {one["action"] for one in result["actions"]} <= {choice["action"] for choice in me.received["decision"]["choices"]}
    assert result["chance"] == max(one["chance"] for one in result["actions"])
    assert all(one["label"] != one["action"] for one in result["actions"])


def test_rules_that_no_network_knows_are_refused() -> None:
    base_only = make_coach("ppo")
    assert base_only
    with pytest.raises(TetrarchiaError, match="knows these rules"):
        base_only.critic_for(Options(variants=["imperivm"]))


def test_chance_is_that_of_the_best_action_listed() -> None:
    found, _ = ask_for_analysis(finished_game())
    decided = found["positions"][:-1]

    assert len(decided) == len(finished_game().moves)
    assert all(one["chance"] == max(action["chance"] for action in one["actions"]) for one in decided)
    assert any(one["note"] for one in decided)
    assert all(("The curve" in one["note"]) == bool(one["note"]) for one in decided)
    assert found["positions"][-1]["chance"] == 0


def test_actions_have_labels_and_practically_impossible_ones_are_left_out() -> None:
    found, _ = ask_for_analysis(finished_game())
    for position in found["positions"][:-1]:
        assert sum(action["is_played"] for action in position["actions"]) == 1
        assert all(action["is_played"] or round(100 * action["probability"]) > 0 for action in position["actions"])
        assert all(action["label"][0].isupper() for action in position["actions"])


def test_mistakes_are_above_the_noise_and_name_their_player() -> None:
    moves = finished_game().moves
    players = [(0 if move.agent == "diocletian" else 1, None if move.agent == "diocletian" else AGENT) for move in moves]
    mistakes = ask_for_analysis(finished_game(), players)[0]["mistakes"]

    assert {(one["player"], one["agent"]) for one in mistakes} == {(0, None), (1, AGENT)}
    assert all(players[one["position"]] == (one["player"], one["agent"]) for one in mistakes)
    assert max(sum(one["player"] == player for one in mistakes) for player in (0, 1)) <= 3
    assert all(int(one["cost"].split("\N{NO-BREAK SPACE}")[0]) >= round(100 * NOISE) for one in mistakes)
    assert all(one["played"] != one["best"] for one in mistakes)


def test_newest_position_has_actions_and_agrees_with_the_coach() -> None:
    game = Game(level="4211", seed=5)
    for _ in range(4):
        game.play(game.legal_actions[0])
    newest = ask_for_analysis(game)[0]["positions"][-1]
    advice, _ = answer(coach().advise(game.options, game.position))

    assert newest["actions"] == advice["actions"]
    assert newest["chance"] == advice["chance"]


def test_analysis_computes_only_new_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    own, evaluated, original = make_coach("ppo"), [], coach_module.evaluate_decisions

    def count(critic: Any, games: Any, actions: Any) -> Any:
        evaluated.append(len(games))
        return original(critic, games, actions)

    monkeypatch.setattr(coach_module, "evaluate_decisions", count)
    first, slices = ask_for_analysis(finished_game().copy(40), by=own)
    second, more = ask_for_analysis(finished_game().copy(50), by=own)

    assert (slices, more) == (2, 1)
    assert evaluated == [32, 8, 10]
    assert [one["actions"] for one in second["positions"][:40]] == [one["actions"] for one in first["positions"][:40]]
