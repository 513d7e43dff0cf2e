"""Agents in threads of their own: they play on until somebody else decides, and one that errs troubles only its own room."""

import asyncio
import queue
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")

from tetrarchia_app.web.workers import Answer, Offer, Request, Workers
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.options import Options

EAST = frozenset({EMPERORS.index("diocletian"), EMPERORS.index("galerius")})
OPTIONS = Options(level="4000")


class First:
    """Takes the first legal action; in a game of this environment, none."""

    def __init__(self, wrong: int = -1) -> None:
        self.wrong = wrong

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return np.where(env_ids == self.wrong, 1, masks.argmax(axis=1))


def answers(agent: Any, most: list[int], emperors: frozenset[int] = EAST, after: Callable[[Request], None] = lambda _: None) -> Any:
    """Of an agent that is asked in as many games as there are numbers, each at most so many times."""

    async def ask() -> list[list[Answer]]:
        workers, told = Workers({"one": Offer(lambda: agent, "", together=True, base_only=False)}), [[] for _ in most]  # type: ignore[var-annotated]
        ended = [asyncio.Event() for _ in most]

        def hear(room: int, answer: Answer) -> None:
            told[room].append(answer)
            after(requests[room])
            if not answer.goes_on or requests[room].is_off:
                ended[room].set()

        games = [batch.new_games(OPTIONS, seed)[0] for seed in range(len(most))]
        requests = [
            Request(game, room, emperors, limit, lambda answer, room=room: hear(room, answer))  # type: ignore[misc]
            for room, (game, limit) in enumerate(zip(games, most, strict=True))
        ]
        for request in requests:
            workers.ask("one", request)
        await asyncio.wait_for(asyncio.gather(*(event.wait() for event in ended)), 30)
        await asyncio.sleep(0.05)  # what comes too late would come now
        return told

    return asyncio.run(ask())


def test_an_agent_plays_on_until_another_decides() -> None:
    [told] = answers(First(), [100])
    game, masks = batch.new_games(OPTIONS, 0)
    for answer in told:
        assert batch.agents_to_act(game)[0] in EAST
        batch.step(game, np.array([answer.action]), masks)

    assert [answer.goes_on for answer in told] == [True] * (len(told) - 1) + [False]
    assert batch.is_over(game)[0] or batch.agents_to_act(game)[0] not in EAST


def test_it_plays_no_more_often_than_it_is_asked_to() -> None:
    assert [len(told) for told in answers(First(), [1, 2, 3])] == [1, 2, 3]


def test_an_illegal_action_troubles_only_its_own_room() -> None:
    right, wrong = answers(First(wrong=1), [2, 2])

    assert [type(answer.action) for answer in right] == [int, int]
    assert str(wrong[0].action).startswith("action 1 is not legal in game")


def test_an_agent_forgets_rooms_that_are_gone() -> None:
    forgotten: queue.SimpleQueue[list[int]] = queue.SimpleQueue()

    class Rememberer(First):
        def begin(self, env_ids: Any) -> None:
            forgotten.put(env_ids.tolist())

    async def ask() -> None:
        workers = Workers({"one": Offer(Rememberer, "", together=False, base_only=False)})
        workers.ask("one", Request(batch.new_games(OPTIONS, 1)[0], 7, EAST, 1, lambda _: None))
        workers.forget(7)

    asyncio.run(ask())
    assert forgotten.get(timeout=30) == [7]


def test_who_is_let_go_says_nothing_more() -> None:
    def let_go(request: Request) -> None:
        request.is_off = True

    [told] = answers(First(), [100], frozenset(range(4)), let_go)
    assert len(told) == 1
