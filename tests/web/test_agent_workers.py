"""Agent threads: an agent plays until another player decides, and an error affects only its own room."""

import asyncio
import queue
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")

from tetrarchia_app.web.workers import MAX_ANSWER_ACTIONS, AgentSpec, AgentWorkers, Answer, Deliveries, Request
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options

EAST = frozenset({EMPERORS.index("diocletian"), EMPERORS.index("galerius")})
OPTIONS = Options(level="4000")


class FirstLegal:
    """Agent that takes the first legal action, except in one environment, where it takes an illegal one."""

    def __init__(self, illegal_env: int = -1) -> None:
        self.illegal_env = illegal_env

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return np.where(env_ids == self.illegal_env, 1, masks.argmax(axis=1))


def answers(
    agent: Any, limits: list[int], emperors: frozenset[int] = EAST, on_answer: Callable[[Request], None] = lambda _: None
) -> list[list[Answer]]:
    """Return the answers in one game per limit; a limit is the maximum number of actions."""

    async def collect() -> list[list[Answer]]:
        workers = AgentWorkers({"one": AgentSpec(lambda: agent, "", batched=True, base_only=False)})
        received: list[list[Answer]] = [[] for _ in limits]
        done = [asyncio.Event() for _ in limits]

        def deliver(room: int, answer: Answer) -> None:
            received[room].append(answer)
            on_answer(requests[room])
            if not answer.continues or requests[room].is_cancelled:
                done[room].set()

        games = [batch.new_games(OPTIONS, seed)[0] for seed in range(len(limits))]
        requests = [
            Request(game, room, emperors, limit, lambda answer, room=room: deliver(room, answer))  # type: ignore[misc]
            for room, (game, limit) in enumerate(zip(games, limits, strict=True))
        ]
        for request in requests:
            workers.submit("one", request)
        await asyncio.wait_for(asyncio.gather(*(event.wait() for event in done)), 30)
        await asyncio.sleep(0.05)  # catch unexpected further answers
        return received

    return asyncio.run(collect())


def actions(received: list[Answer]) -> list[int]:
    return [action for answer in received for action in answer.actions]


def test_agent_plays_until_another_player_decides() -> None:
    [received] = answers(FirstLegal(), [100])
    game, masks = batch.new_games(OPTIONS, 0)
    for action in actions(received):
        assert batch.agents_to_act(game)[0] in EAST
        batch.step(game, np.array([action]), masks)

    assert [answer.continues for answer in received] == [True] * (len(received) - 1) + [False]
    assert batch.is_over(game)[0] or batch.agents_to_act(game)[0] not in EAST


def test_an_answer_contains_actions_of_one_turn() -> None:
    [received] = answers(FirstLegal(), [20], frozenset(range(4)))
    game, masks = batch.new_games(OPTIONS, 0)
    for answer in received:
        emperors = set()
        for action in answer.actions:
            emperors.add(int(batch.agents_to_act(game)[0]))
            batch.step(game, np.array([action]), masks)
        assert len(emperors) == 1

    assert len(actions(received)) == 20
    assert len(received) < 20
    assert max(len(answer.actions) for answer in received) <= MAX_ANSWER_ACTIONS


def test_actions_of_a_slow_agent_are_answered_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tetrarchia_app.web.workers.MAX_ANSWER_DELAY_S", 0.0)
    [received] = answers(FirstLegal(), [5])
    assert [len(answer.actions) for answer in received] == [1] * 5


def test_agent_plays_at_most_max_actions() -> None:
    assert [len(actions(received)) for received in answers(FirstLegal(), [1, 2, 3])] == [1, 2, 3]


def test_illegal_action_affects_only_its_own_room() -> None:
    legal, illegal = answers(FirstLegal(illegal_env=1), [2, 2])

    assert len(actions(legal)) == 2
    assert [answer.error for answer in legal] == [None] * len(legal)
    assert isinstance(illegal[0].error, TetrarchiaError)


def test_actions_before_an_error_are_delivered_with_it() -> None:
    class FailingLater(FirstLegal):
        count = 0

        def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
            self.count += 1
            if self.count == 3:
                raise RuntimeError
            return super().act(games, masks, env_ids)

    [received] = answers(FailingLater(), [100])
    assert len(actions(received)) == 2
    assert [type(answer.error) for answer in received[-1:]] == [RuntimeError]


def test_a_player_is_served_between_slices_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr("tetrarchia_app.web.workers.DELIVERY_SLICE_S", 0.0005)

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        deliveries = Deliveries(loop)

        def deliver(_: Answer) -> None:
            time.sleep(0.001)  # longer than a slice
            order.append("agent")
            if order.count("agent") == 3:
                loop.call_soon(on_message)

        def on_message() -> None:
            order.append("message")
            deliveries.is_postponed = True
            loop.call_soon(lambda: order.append("response"))

        request = Request(batch.new_games(OPTIONS, 1)[0], 0, EAST, 1, deliver)
        deliveries.put([(request, Answer((0,)))] * 20)
        while order.count("agent") < 20:
            await asyncio.sleep(0.001)

    asyncio.run(serve())
    first = order.index("message")
    assert order[first - 1 : first + 2] == ["agent", "message", "response"]


def test_messages_do_not_stop_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tetrarchia_app.web.workers.MAX_POSTPONEMENTS", 5)

    async def serve() -> int:
        deliveries = Deliveries(asyncio.get_running_loop())
        delivered: list[Answer] = []
        request = Request(batch.new_games(OPTIONS, 1)[0], 0, EAST, 1, delivered.append)
        deliveries.put([(request, Answer((0,)))])
        for steps in range(1_000):
            deliveries.is_postponed = True  # a message in every step of the loop
            await asyncio.sleep(0)
            if delivered:
                return steps
        return 1_000

    assert asyncio.run(serve()) < 50


def test_agent_forgets_removed_rooms() -> None:
    forgotten: queue.SimpleQueue[list[int]] = queue.SimpleQueue()

    class Remembering(FirstLegal):
        def begin(self, env_ids: Any) -> None:
            forgotten.put(env_ids.tolist())

    async def submit() -> None:
        workers = AgentWorkers({"one": AgentSpec(Remembering, "", batched=False, base_only=False)})
        workers.submit("one", Request(batch.new_games(OPTIONS, 1)[0], 7, EAST, 1, lambda _: None))
        workers.forget(7)

    asyncio.run(submit())
    assert forgotten.get(timeout=30) == [7]


def test_cancelled_request_gets_no_more_answers() -> None:
    def cancel(request: Request) -> None:
        request.is_cancelled = True

    [received] = answers(FirstLegal(), [100], frozenset(range(4)), cancel)
    assert len(received) == 1
