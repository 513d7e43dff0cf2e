"""Questions of pages to the trained network, answered one slice at a time in one thread.

A question is a generator: each step computes a part of the answer in some tenths of a second, and its return value is the answer. Between
two steps the queue may serve another room, so that a long analysis does not delay the coach of another game.
"""

import asyncio
import logging
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import sanitize_line

if TYPE_CHECKING:
    from tetrarchia_app.web.connection import Connection
    from tetrarchia_app.web.room import Room

Slices = Generator[None, None, dict[str, Any]]  # runs in the analysis thread; returns the result
PRIORITIES = ("coach", "analysis")  # a coach question is one slice, an analysis up to some hundreds
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Question:
    """A question about the game of a room, and the pages that wait for the answer.

    Attributes:
        room: The room.
        type: Type of the message with the answer: `coach` or `analysis`.
        revision: State of the room's game; pages that ask the same in the same state share one question.
        slices: Computes the answer.
        fields: Further fields of the message.
        pages: The pages that wait.
    """

    room: "Room"
    type: str
    revision: int
    slices: Slices
    fields: dict[str, Any]
    pages: "set[Connection]" = field(default_factory=set)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.room.name, self.type, self.revision


class AnalysisQueue:
    """The open questions of all rooms; used only in the server's thread.

    Coach questions are served first; among questions of one type, that of the room which was served least recently. A page has at most one
    open question of each type: a newer one replaces it. A question is dropped when no page waits for its answer.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "analysis")
        self._questions: dict[tuple[str, str, int], Question] = {}
        self._running: Question | None = None
        self._num_slices = 0

    def ask(self, connection: "Connection", question: Question) -> None:
        """Send the answer to a page when it is known."""
        if connection in self._questions.get(question.key, question).pages:
            return  # it asked the same before
        self._remove_page(connection, question.type)
        self._questions.setdefault(question.key, question).pages.add(connection)
        self._run_next()

    def cancel(self, connection: "Connection") -> None:
        """Drop the questions of a page that was closed."""
        for type_ in PRIORITIES:
            self._remove_page(connection, type_)

    def close(self) -> None:
        """Drop all questions."""
        self._questions.clear()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _remove_page(self, connection: "Connection", type_: str) -> None:
        for question in [one for one in self._questions.values() if one.type == type_ and connection in one.pages]:
            question.pages.discard(connection)
            if not question.pages:
                del self._questions[question.key]

    def _run_next(self) -> None:
        if self._running or not self._questions:
            return
        self._running = min(self._questions.values(), key=lambda one: (PRIORITIES.index(one.type), one.room.last_analysis))
        self._num_slices += 1
        self._running.room.last_analysis = self._num_slices
        future = asyncio.get_running_loop().run_in_executor(self._thread, _next_slice, self._running.slices)
        future.add_done_callback(self._on_slice)

    def _on_slice(self, done: "asyncio.Future[dict[str, Any] | None]") -> None:
        question, self._running = self._running, None
        if question is None or done.cancelled():
            return
        error = done.exception()
        result = None if error else done.result()
        if error or result is not None:
            if self._questions.get(question.key) is question:
                del self._questions[question.key]
            if error and not isinstance(error, TetrarchiaError):
                log.error("the analysis failed", exc_info=error)
            reason = sanitize_line(str(error), 200) if isinstance(error, TetrarchiaError) else "see the log of the server"
            for page in question.pages:
                if error:
                    page.send_error(f"the analysis failed: {reason}")
                else:
                    page.send({"type": question.type, "result": result, **question.fields})
        self._run_next()


def _next_slice(slices: Slices) -> dict[str, Any] | None:
    """Compute one slice; return the answer if it was the last."""
    try:
        next(slices)
    except StopIteration as stop:
        result: dict[str, Any] = stop.value
        return result
    return None
