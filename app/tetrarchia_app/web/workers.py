"""Agents in their own threads: a search in one room delays neither the server nor other rooms.

Compiled search and networks release the GIL while they run. A batched agent (a network) has one thread, which decides for all waiting
games in one pass; other agents have one thread per core. An agent keeps playing until an Emperor of another player decides. Its actions of
one turn reach the server's thread together, between the messages of players: players come first.
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
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tetrarchia_env.agent import Agent, IllegalActionsError, Observations, agent_streams, ask, begin_games
from tetrarchia_env.batch import Games, agents_to_act, is_over, legal_masks, observe_unchecked, step
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions, LocalViews

MAX_BATCH = 256  # games per pass of a batched agent
GATHER_S = 0.01  # a batched agent with several games waits this long for more: a pass over sixteen takes as long as over one
MAX_ANSWER_ACTIONS = 8  # in one answer: the server needs about 2 ms to play and show them
MAX_ANSWER_DELAY_S = 0.5  # an action of a slow agent does not wait longer for the rest of the turn; pages pause 0.7 s per event
DELIVERY_SLICE_S = 0.002  # the server delivers agents' answers this long before it serves other events
MAX_POSTPONEMENTS = 50  # of a slice, in a row, in favour of players
ROW_0 = np.array([0])


@dataclass(frozen=True)
class AgentSpec:
    """An agent that can be chosen on this server."""

    factory: Callable[[], Any]
    description: str
    batched: bool  # decides for many games in one pass
    base_only: bool  # knows only the actions of the base game
    needs_games: bool = True  # receives whole games, and not observations
    local: LocalOptions | None = None  # the observations that it needs; None accepts all


@dataclass(frozen=True)
class Answer:
    """Legal actions that an agent chose in a row for one Emperor, and the exception that it raised instead of the next one.

    `continues` if another answer to the same request follows.
    """

    actions: tuple[int, ...]
    error: Exception | None = None
    continues: bool = False


@dataclass
class Request:
    """A game in which an agent decides for some Emperors, for at most `max_actions` actions."""

    game: Games
    env_id: int
    emperors: frozenset[int]
    max_actions: int
    deliver: Callable[[Answer], None]  # called in the server's thread; must not raise
    views: LocalViews | None = None  # of this request alone; None with full information
    is_cancelled: bool = False
    chosen: list[int] = field(default_factory=list)  # not yet answered
    last_answer: float = field(default_factory=time.monotonic)

    @property
    def message_tokens(self) -> int:
        """The number of message tokens (R14.7)."""
        return 0 if self.views is None else self.views.message_tokens

    def observe(self) -> Observations:
        """Return the observation of the Emperor to act."""
        viewers = agents_to_act(self.game)
        return observe_unchecked(self.game, viewers) if self.views is None else self.views.observe(self.game, viewers)

    def answer(self, error: Exception | None = None, *, continues: bool = False) -> Answer:
        """Return an answer with the actions chosen since the last one."""
        found, self.chosen, self.last_answer = Answer(tuple(self.chosen), error, continues), [], time.monotonic()
        return found


class AgentWorkers:
    """The agents of a server, by name. The threads of an agent start with the first request to it."""

    def __init__(self, specs: dict[str, AgentSpec]) -> None:
        self.specs = specs
        self._threads: dict[str, _AgentThreads] = {}
        self._deliveries: Deliveries | None = None

    def submit(self, agent: str, request: Request) -> None:
        """Queue a request; must be called in the server's thread."""
        self._deliveries = self._deliveries or Deliveries(asyncio.get_running_loop())
        if agent not in self._threads:
            self._threads[agent] = _AgentThreads(agent, self.specs[agent], self._deliveries)
        self._threads[agent].put(request.env_id, request)

    def postpone_deliveries(self) -> None:
        """Let the server send its response to a player before it delivers further answers of agents."""
        if self._deliveries is not None:
            self._deliveries.is_postponed = True

    def forget(self, env_id: int) -> None:
        """Let agents drop what they remember of a removed room."""
        for threads in self._threads.values():
            threads.put(env_id, env_id)


class _AgentThreads:
    """The threads of one agent, each with its own queue of requests and of ids of removed rooms."""

    def __init__(self, name: str, spec: AgentSpec, deliveries: "Deliveries") -> None:
        self._spec, self._deliveries = spec, deliveries
        self._queues = [queue.SimpleQueue[Request | int]() for _ in range(1 if spec.batched else os.cpu_count() or 1)]
        for number, waiting in enumerate(self._queues):
            threading.Thread(target=self._run, args=(waiting,), name=f"{name} {number}", daemon=True).start()

    def put(self, env_id: int, item: Request | int) -> None:
        """Queue an item; a room always uses the same thread, whose agent may remember its plan."""
        self._queues[env_id % len(self._queues)].put(item)

    def _run(self, waiting: "queue.SimpleQueue[Request | int]") -> None:
        agent: Any = None
        begun: set[int] = set()  # rooms that the agent knows
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
                new = {request.env_id for request in requests} - begun
                if removed or new:
                    begin_games(agent, np.array([*removed, *new]))
                begun = (begun | new) - set(removed)
                answers = _decide(agent, requests) if requests else []
            except Exception as error:  # an agent may raise anything; its thread must keep serving other rooms
                answers = [request.answer(error) for request in requests]
            if answered := [(request, answer) for request, answer in zip(requests, answers, strict=True) if answer is not None]:
                self._deliveries.put(answered)
            for request, answer in zip(requests, answers, strict=True):
                if answer is None or answer.continues:
                    waiting.put(request)


def _decide(agent: Agent, requests: Sequence[Request]) -> list[Answer | None]:
    """Ask the agent, and play its actions in the requests' games; an illegal action only affects its own request.

    Returns:
        For each request its answer, or None while the turn continues.
    """
    answers: dict[int, Answer | None] = {}
    for tokens in {request.message_tokens for request in requests}:  # the rows of masks have the same length
        some = [row for row, request in enumerate(requests) if request.message_tokens == tokens]
        answers |= zip(some, _decide_together(agent, [requests[row] for row in some], tokens), strict=True)
    return [answers[row] for row in range(len(requests))]


def _decide_together(agent: Agent, requests: Sequence[Request], message_tokens: int) -> list[Answer | None]:
    """Decide for requests with the same number of message tokens, see `_decide`."""
    games = np.concatenate([request.game for request in requests])
    masks, env_ids = legal_masks(games, message_tokens), np.array([request.env_id for request in requests])
    emperors = agents_to_act(games).tolist()
    errors: dict[int, str] = {}
    try:
        rngs = agent_streams([secrets.randbits(63) for _ in requests])
        actions = ask(agent, games, masks, env_ids, rngs, lambda: np.concatenate([request.observe() for request in requests]))
    except IllegalActionsError as error:
        errors, actions = error.messages, error.actions.copy()
        actions[list(errors)] = masks[list(errors)].argmax(axis=1)  # any legal action: these games are not used further
    step(games, actions, masks)
    over, deciders = is_over(games).tolist(), agents_to_act(games).tolist()
    answers: list[Answer | None] = []
    for row, request in enumerate(requests):
        if row in errors:
            answers.append(request.answer(TetrarchiaError(errors[row])))
            continue
        request.chosen.append(int(actions[row]))
        if request.views is not None:
            request.views.say(request.game, ROW_0, actions[row : row + 1])
        request.game, request.max_actions = games[row : row + 1], request.max_actions - 1
        if request.views is not None:
            request.views.update(request.game)
        continues = request.max_actions > 0 and not over[row] and deciders[row] in request.emperors
        is_complete = not continues or deciders[row] != emperors[row] or len(request.chosen) >= MAX_ANSWER_ACTIONS
        is_late = time.monotonic() - request.last_answer >= MAX_ANSWER_DELAY_S
        answers.append(request.answer(continues=continues) if is_complete or is_late else None)
    return answers


class Deliveries:
    """Answers on their way from the agents' threads to the server's thread, which delivers them in slices between players' messages.

    Attributes:
        is_postponed: Whether the next slice is left out, so that a player gets a response first.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.is_postponed = False
        self._loop = loop
        self._waiting: deque[tuple[Request, Answer]] = deque()
        self._num_postponed = 0  # in a row

    def put(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        """Queue answers; may be called in any thread."""
        with suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self._receive, answers)

    def _receive(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        is_scheduled = bool(self._waiting)
        self._waiting.extend(answers)
        if not is_scheduled:
            self._schedule()

    def _schedule(self) -> None:
        self._loop.call_later(0, self._deliver)  # runs after everything that is ready; call_soon would run before messages that arrived

    def _deliver(self) -> None:
        if self.is_postponed and self._num_postponed < MAX_POSTPONEMENTS:
            self.is_postponed = False
            self._num_postponed += 1
            self._schedule()
            return
        self._num_postponed = 0
        end = time.perf_counter() + DELIVERY_SLICE_S
        while self._waiting and time.perf_counter() < end:
            request, answer = self._waiting.popleft()
            if not request.is_cancelled:
                request.deliver(answer)
        if self._waiting:
            self._schedule()
