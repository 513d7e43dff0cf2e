"""One page at the other end of a WebSocket: what waits to be sent is bounded, and so is what it may say in a second."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from tetrarchia_app.web.protocol import LARGEST, Message, read_message
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import sanitize_line

WAITING = 2_048  # messages: a whole game, for a page that was asleep
TOGETHER = 32  # messages in a frame at most
PATIENCE = 20.0  # seconds that sending one frame may take
RATE, BURST = 20.0, 60.0  # messages a second, and how many at once
REFUSALS = 30  # messages that could not be understood, before we stop listening
CLOSED, BUSY, REPLACED = 1008, 1013, 4001  # codes of WebSockets: against the rules, try later; ours: the link was opened elsewhere
log = logging.getLogger(__name__)


class Connection:
    """A page, and the player it is: None for one who only looks."""

    def __init__(self, socket: WebSocket, player: int | None) -> None:
        self.player = player
        self.known: set[int] = set()  # drawings that this page has
        self._socket = socket
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(WAITING)
        self._end: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self._allowance, self._since = BURST, time.monotonic()
        self._refused = 0

    def send(self, message: dict[str, Any]) -> None:
        """It waits in line; a page that takes nothing any more is let go."""
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.end(BUSY, "it does not read what it is sent")

    def refuse(self, sentence: str) -> None:
        """Tell the page what was wrong; one that says nothing sensible is let go."""
        self._refused += 1
        self.send({"type": "refused", "sentence": sanitize_line(sentence, 300)})
        if self._refused >= REFUSALS:
            self.end(CLOSED, f"it sent {REFUSALS} messages that were refused, such as: {sanitize_line(sentence, 200)}")

    def end(self, code: int, reason: str) -> None:
        """Close it; the reason goes into the log."""
        if not self._end.done():
            self._end.set_result((code, reason))

    async def run(self, obey: Callable[[Message], None]) -> None:
        """Until it goes away, or has to go."""
        tasks = [asyncio.create_task(self._write()), asyncio.create_task(self._read(obey))]
        waited: list[asyncio.Future[Any]] = [*tasks, self._end]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._end.done():
            await self._close(*self._end.result())

    async def _close(self, code: int, reason: str) -> None:
        if code != REPLACED:
            log.warning("a connection was closed: %s", reason)
        try:
            async with asyncio.timeout(1):
                await self._socket.close(code, reason[:100])
        except (TimeoutError, RuntimeError, OSError):
            return  # it does not even listen to that

    async def _write(self) -> None:
        """All that waits goes in one frame, as a list: a frame costs more than a message."""
        while True:
            messages = [await self._waiting.get()]
            while len(messages) < TOGETHER and not self._waiting.empty():
                messages.append(self._waiting.get_nowait())
            text = msgspec.json.encode(messages).decode()
            try:
                async with asyncio.timeout(PATIENCE):  # not wait_for, which forgets in Python 3.11 that it was cancelled
                    await self._socket.send_text(text)
            except TimeoutError:
                self.end(BUSY, f"it did not take what it was sent within {PATIENCE:g} seconds")
                return
            except (WebSocketDisconnect, RuntimeError, OSError):
                return

    async def _read(self, obey: Callable[[Message], None]) -> None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            if not self._may_speak():
                self.end(CLOSED, f"it sent more than {RATE:g} messages a second")
                return
            self._take(received.get("text") or received.get("bytes") or "", obey)

    def _take(self, data: str | bytes, obey: Callable[[Message], None]) -> None:
        try:
            if len(data) > LARGEST:
                raise TetrarchiaError(f"a message has at most {LARGEST} bytes, not {len(data)}")
            obey(read_message(data))
        except ValueError as error:
            self.refuse(str(error))

    def _may_speak(self) -> bool:
        """A bucket that fills with RATE drops a second and holds BURST."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + RATE * (now - self._since)) - 1
        self._since = now
        return self._allowance >= 0
