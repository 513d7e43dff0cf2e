"""Agents think in threads of their own: a search in one room stalls neither the server nor other rooms.

Compiled search and networks release Python's lock while they work. Each agent has its own queue; one that decides for many
games in one pass (a network) is given all that wait, one that searches has as many threads as the machine has cores.
Whoever is asked plays on until somebody else must decide, so that no pass waits for what the server makes of the last.
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

TOGETHER = 64  # games that a network is given at most in one pass
GATHERING = 0.02  # seconds that it waits for more, if there were several: a pass over sixteen takes as long as over one
TURN = 0.004  # seconds that the server spends on agents' actions before it looks whether a person has said something
NOBODY = -1


@dataclass(frozen=True)
class Answer:
    """An action, or why there is none; and whether the agent plays on."""

    action: int | Exception
    goes_on: bool = False


@dataclass
class Request:
    """A game in which an agent decides for these Emperors, at most so many times; `tell` is called in the server's thread."""

    game: Games
    env_id: int
    emperors: frozenset[int]
    most: int
    tell: Callable[[Answer], None]
    is_off: bool = False  # nobody waits for it any more

    def played(self, game: Games, action: int, decider: int) -> Answer:
        """The game after his action, and who decides there."""
        self.game, self.most = game, self.most - 1
        return Answer(action, self.most > 0 and decider in self.emperors)


Queue = queue.SimpleQueue[Request | int]  # a number: the environment of a room that is gone


class Answers:
    """From the agents' threads to the server's, where they wait while a person is answered."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Request, Answer]] = deque()

    def send(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        """From any thread."""
        with suppress(RuntimeError):  # the server has ended meanwhile
            self._loop.call_soon_threadsafe(self._take, answers)

    def _take(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        is_busy = bool(self._waiting)
        self._waiting.extend(answers)
        if not is_busy:
            self._tell()

    def _tell(self) -> None:
        end = time.perf_counter() + TURN
        while self._waiting and time.perf_counter() < end:
            request, answer = self._waiting.popleft()
            if not request.is_off:
                request.tell(answer)
        if self._waiting:
            self._loop.call_soon(self._tell)


class Worker:
    """The threads of one agent."""

    def __init__(self, make: Callable[[], Agent], name: str, together: bool, answers: Answers) -> None:
        self._make, self._answers = make, answers
        self._most = TOGETHER if together else 1
        self._queues = [Queue() for _ in range(1 if together else os.cpu_count() or 1)]
        for number, requests in enumerate(self._queues):
            threading.Thread(target=self._run, args=(requests,), name=f"{name} {number}", daemon=True).start()

    def ask(self, request: Request) -> None:
        """It is answered in its turn; a room always asks the same thread, whose agent may remember what it planned there."""
        self._queues[request.env_id % len(self._queues)].put(request)

    def forget(self, env_id: int) -> None:
        """The room is gone."""
        self._queues[env_id % len(self._queues)].put(env_id)

    def _run(self, queued: Queue) -> None:
        agent: Agent | None = None
        requests: list[Request] = []
        while True:
            waiting = self._waiting(queued, GATHERING if len(requests) > 1 else 0.0)
            requests = [one for one in waiting if isinstance(one, Request) and not one.is_off]
            try:
                agent = agent or self._make()
                _forget(agent, [one for one in waiting if not isinstance(one, Request)])
                answers = _decide(agent, requests)
            except Exception as error:  # whatever an agent does, the others go on
                answers = [Answer(error) for _ in requests]
            self._answers.send(list(zip(requests, answers, strict=True)))
            for request, answer in zip(requests, answers, strict=True):
                if answer.goes_on:
                    queued.put(request)  # behind those who wait

    def _waiting(self, queued: Queue, gathering: float) -> list[Request | int]:
        waiting = [queued.get()]
        time.sleep(gathering)
        while len(waiting) < self._most:
            try:
                waiting.append(queued.get_nowait())
            except queue.Empty:
                break
        return waiting


def _forget(agent: Agent, env_ids: Sequence[int]) -> None:
    """What it remembers of games that are gone, if it has a memory."""
    if env_ids:
        begin_games(agent, np.array(env_ids))


def _decide(agent: Agent, requests: Sequence[Request]) -> list[Answer]:
    """In copies with other dice, so that nobody sees those to come; then the actions are played."""
    if not requests:
        return []
    games = np.concatenate([request.game for request in requests])
    masks, env_ids = legal_masks(games), np.array([request.env_id for request in requests])
    wrong: dict[int, str] = {}
    try:
        chosen = ask(agent, games, masks, env_ids, agent_streams([secrets.randbits(63) for _ in requests]))
    except IllegalActionsError as error:
        wrong = error.messages
        chosen = error.actions.copy()
        chosen[list(wrong)] = masks[list(wrong)].argmax(axis=1)  # so that the other games can be played
    step(games, chosen, masks)
    deciders = np.where(is_over(games), NOBODY, agents_to_act(games)).tolist()
    rest = zip(requests, chosen.tolist(), deciders, strict=True)
    return [
        Answer(TetrarchiaError(wrong[row])) if row in wrong else request.played(games[row : row + 1], action, decider)
        for row, (request, action, decider) in enumerate(rest)
    ]


class Workers:
    """The agents that may be asked, by name; a worker begins with the first question to it."""

    def __init__(self, offered: "dict[str, Offer]") -> None:
        self.offered = offered
        self._workers: dict[str, Worker] = {}
        self._answers: Answers | None = None

    def ask(self, name: str, request: Request) -> None:
        """This agent, in the server's thread."""
        self._answers = self._answers or Answers(asyncio.get_running_loop())
        if name not in self._workers:
            offer = self.offered[name]
            self._workers[name] = Worker(offer.make, name, offer.together, self._answers)
        self._workers[name].ask(request)

    def forget(self, env_id: int) -> None:
        """Nobody asks for this room any more."""
        for worker in self._workers.values():
            worker.forget(env_id)


@dataclass(frozen=True)
class Offer:
    """An agent that may be chosen: how it is made, what it is, and whether it decides for many games in one pass."""

    make: Callable[[], Any]
    about: str
    together: bool
    base_only: bool  # whether it knows only the actions of the base game
