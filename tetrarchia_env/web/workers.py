"""Agents think in threads of their own: a search in one room stalls neither the server nor other rooms.

Compiled search and networks release Python's lock while they work. Each agent has its own queue; one that decides for many
games in one pass (a network) is given all that wait, one that searches has as many threads as the machine has cores.
"""

import asyncio
import os
import queue
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks, checked_actions, legal_masks, reseed

TOGETHER = 64  # games that a network is given at most in one pass


class Agent(Protocol):
    """Whoever chooses an action: see `tetrarchia_agents`."""

    def act(self, games: Games, masks: Masks, env_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """An action for each game."""


@dataclass(frozen=True)
class Request:
    """A decision that somebody waits for."""

    game: Games
    env_id: int
    loop: asyncio.AbstractEventLoop
    answer: "asyncio.Future[int]"

    def tell(self, action: int) -> None:
        """From any thread; who does not wait any more is told nothing."""
        self.loop.call_soon_threadsafe(self._deliver, self.answer.set_result, action)

    def fail(self, error: Exception) -> None:
        """The same of what went wrong."""
        self.loop.call_soon_threadsafe(self._deliver, self.answer.set_exception, error)

    def _deliver(self, deed: Callable[[Any], None], value: object) -> None:
        if not self.answer.done():
            deed(value)


class Worker:
    """The threads of one agent."""

    def __init__(self, make: Callable[[], Agent], name: str, together: bool) -> None:
        self._make = make
        self._most = TOGETHER if together else 1
        self._queues: list[queue.SimpleQueue[Request]] = [queue.SimpleQueue() for _ in range(1 if together else os.cpu_count() or 1)]
        for number, requests in enumerate(self._queues):
            threading.Thread(target=self._run, args=(requests,), name=f"{name} {number}", daemon=True).start()

    def ask(self, request: Request) -> None:
        """It is answered in its turn; a room always asks the same thread, whose agent may remember what it planned there."""
        self._queues[request.env_id % len(self._queues)].put(request)

    def _run(self, queued: "queue.SimpleQueue[Request]") -> None:
        agent: Agent | None = None
        while True:
            requests = self._waiting(queued)
            try:
                agent = agent or self._make()
                actions = _decide(agent, requests)
            except Exception as error:  # whatever an agent does, the others go on
                for request in requests:
                    request.fail(error)
            else:
                for request, action in zip(requests, actions, strict=True):
                    request.tell(action)

    def _waiting(self, queued: "queue.SimpleQueue[Request]") -> list[Request]:
        requests = [queued.get()]
        while len(requests) < self._most:
            try:
                requests.append(queued.get_nowait())
            except queue.Empty:
                break
        return requests


def _decide(agent: Agent, requests: list[Request]) -> list[int]:
    """In copies with other dice, so that nobody sees those to come."""
    games = np.concatenate([request.game for request in requests])
    reseed(games, [secrets.randbits(63) for _ in requests])
    env_ids = np.array([request.env_id for request in requests])
    chosen: list[int] = checked_actions(agent.act(games, legal_masks(games), env_ids), len(games)).tolist()
    return chosen


class Workers:
    """The agents that may be asked, by name; a worker begins with the first question to it."""

    def __init__(self, offered: "dict[str, Offer]") -> None:
        self.offered = offered
        self._workers: dict[str, Worker] = {}

    async def act(self, name: str, game: Games, env_id: int) -> int:
        """What this agent does in this game."""
        if name not in self._workers:
            offer = self.offered[name]
            self._workers[name] = Worker(offer.make, name, offer.together)
        loop = asyncio.get_running_loop()
        request = Request(game.copy(), env_id, loop, loop.create_future())
        self._workers[name].ask(request)
        return await request.answer


@dataclass(frozen=True)
class Offer:
    """An agent that may be chosen: how it is made, what it is, and whether it decides for many games in one pass."""

    make: Callable[[], Any]
    about: str
    together: bool
    base_only: bool  # whether it knows only the actions of the base game
