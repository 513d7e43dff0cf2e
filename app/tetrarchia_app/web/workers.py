"""Agents in their own threads: a search in one room delays neither the server nor other rooms.

Compiled search and networks release the GIL while they run. A batched agent (a network) has one thread, which decides for all waiting
games in one pass; other agents have one thread per core. An agent keeps playing until an Emperor of another player decides.
"""

import asyncio
import os
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tetrarchia_env.agent import Agent, IllegalActionsError, agent_streams, ask, begin_games
from tetrarchia_env.batch import Games, agents_to_act, is_over, legal_masks, step
from tetrarchia_env.errors import TetrarchiaError

MAX_BATCH = 64  # games per pass of a batched agent
GATHER_S = 0.02  # a batched agent with several games waits this long for more: a pass over sixteen takes as long as over one
DELIVERY_SLICE_S = 0.004  # the server delivers agents' actions this long before it serves other events


@dataclass(frozen=True)
class AgentSpec:
    """An agent that can be chosen on this server."""

    factory: Callable[[], Any]
    description: str
    batched: bool  # decides for many games in one pass
    base_only: bool  # knows only the actions of the base game


@dataclass(frozen=True)
class Answer:
    """An agent's action, or the exception it raised instead; `continues` if another answer to the same request follows."""

    action: int | Exception
    continues: bool = False


@dataclass
class Request:
    """A game in which an agent decides for some Emperors, for at most `max_actions` actions."""

    game: Games
    env_id: int
    emperors: frozenset[int]
    max_actions: int
    deliver: Callable[[Answer], None]  # called in the server's thread; must not raise
    is_cancelled: bool = False


class AgentWorkers:
    """The agents of a server, by name. The threads of an agent start with the first request to it."""

    def __init__(self, specs: dict[str, AgentSpec]) -> None:
        self.specs = specs
        self._threads: dict[str, _AgentThreads] = {}
        self._deliveries: _Deliveries | None = None

    def submit(self, agent: str, request: Request) -> None:
        """Queue a request; must be called in the server's thread."""
        self._deliveries = self._deliveries or _Deliveries(asyncio.get_running_loop())
        if agent not in self._threads:
            self._threads[agent] = _AgentThreads(agent, self.specs[agent], self._deliveries)
        self._threads[agent].put(request.env_id, request)

    def forget(self, env_id: int) -> None:
        """Let agents drop what they remember of a removed room."""
        for threads in self._threads.values():
            threads.put(env_id, env_id)


class _AgentThreads:
    """The threads of one agent, each with its own queue of requests and of ids of removed rooms."""

    def __init__(self, name: str, spec: AgentSpec, deliveries: "_Deliveries") -> None:
        self._spec, self._deliveries = spec, deliveries
        self._queues = [queue.SimpleQueue[Request | int]() for _ in range(1 if spec.batched else os.cpu_count() or 1)]
        for number, waiting in enumerate(self._queues):
            threading.Thread(target=self._run, args=(waiting,), name=f"{name} {number}", daemon=True).start()

    def put(self, env_id: int, item: Request | int) -> None:
        """Queue an item; a room always uses the same thread, whose agent may remember its plan."""
        self._queues[env_id % len(self._queues)].put(item)

    def _run(self, waiting: "queue.SimpleQueue[Request | int]") -> None:
        agent: Any = None
        requests: list[Request] = []
        while True:
            items = [waiting.get()]
            time.sleep(GATHER_S if len(requests) > 1 else 0.0)
            with suppress(queue.Empty):
                while self._spec.batched and len(items) < MAX_BATCH:
                    items.append(waiting.get_nowait())
            requests = [item for item in items if isinstance(item, Request) and not item.is_cancelled]
            removed = [item for item in items if not isinstance(item, Request)]
            try:
                agent = agent or self._spec.factory()
                if removed:
                    begin_games(agent, np.array(removed))
                answers = _decide(agent, requests) if requests else []
            except Exception as error:  # an agent may raise anything; its thread must keep serving other rooms
                answers = [Answer(error) for _ in requests]
            self._deliveries.put(list(zip(requests, answers, strict=True)))
            for request, answer in zip(requests, answers, strict=True):
                if answer.continues:
                    waiting.put(request)


def _decide(agent: Agent, requests: Sequence[Request]) -> list[Answer]:
    """Ask the agent, and play its actions in the requests' games; an illegal action only affects its own request."""
    games = np.concatenate([request.game for request in requests])
    masks, env_ids = legal_masks(games), np.array([request.env_id for request in requests])
    errors: dict[int, str] = {}
    try:
        actions = ask(agent, games, masks, env_ids, agent_streams([secrets.randbits(63) for _ in requests]))
    except IllegalActionsError as error:
        errors, actions = error.messages, error.actions.copy()
        actions[list(errors)] = masks[list(errors)].argmax(axis=1)  # any legal action: these games are not used further
    step(games, actions, masks)
    over, deciders = is_over(games).tolist(), agents_to_act(games).tolist()
    answers = []
    for row, request in enumerate(requests):
        if row in errors:
            answers.append(Answer(TetrarchiaError(errors[row])))
            continue
        request.game, request.max_actions = games[row : row + 1], request.max_actions - 1
        continues = request.max_actions > 0 and not over[row] and deciders[row] in request.emperors
        answers.append(Answer(int(actions[row]), continues))
    return answers


class _Deliveries:
    """Answers on their way from the agents' threads to the server's thread, which serves players between slices of deliveries."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Request, Answer]] = deque()

    def put(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        """Queue answers; may be called in any thread."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._receive, answers)

    def _receive(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        is_running = bool(self._waiting)
        self._waiting.extend(answers)
        if not is_running:
            self._deliver()

    def _deliver(self) -> None:
        end = time.perf_counter() + DELIVERY_SLICE_S
        while self._waiting and time.perf_counter() < end:
            request, answer = self._waiting.popleft()
            if not request.is_cancelled:
                request.deliver(answer)
        if self._waiting:
            self._loop.call_soon(self._deliver)
