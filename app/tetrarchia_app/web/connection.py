"""WebSocket connection to one page: the messages a page may send, and limits on what it sends and on what waits to be sent to it.

A page sends one message per frame; the server sends a list of all waiting messages per frame.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.websockets import WebSocket, WebSocketDisconnect

from tetrarchia_app.web.journal import NotSavedError
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.schema import sanitize_line, truncate_repr

MAX_MESSAGE_BYTES = 4_096  # the longest message of our own page has about 200
MAX_NAME_LENGTH = 24
MAX_QUEUED_MESSAGES = 2_048  # a complete game, for a page that was suspended
MAX_MESSAGES_PER_FRAME = 32
MAX_SEND_DELAY_S = 0.05  # of a message that may wait for others; a frame costs the server as much as a small action
SEND_TIMEOUT_S = 20.0
CLOSE_TIMEOUT_S = 1.0
RATE_PER_S, BURST = 20.0, 60.0  # token bucket for received messages
MAX_REFUSED_MESSAGES = 30
POLICY_VIOLATION, INTERNAL_ERROR, TRY_LATER = 1008, 1011, 1013  # WebSocket close codes
REPLACED = 4001  # our own close code: the link was opened in another window
log = logging.getLogger(__name__)

T = TypeVar("T")
Position = Annotated[int, Meta(ge=0, le=1_000_000)]  # number of actions played before it
Text = Annotated[str, Meta(max_length=80)]
Name = Annotated[str, Meta(max_length=MAX_NAME_LENGTH)]
if TYPE_CHECKING:
    Emperor = str
else:
    Emperor = Literal[EMPERORS]


class Play(Struct, tag="play", forbid_unknown_fields=True):
    """Play an action in the given position; a late or doubled click names an old position and is refused."""

    position: Position
    action: Text


class Undo(Struct, tag="undo", forbid_unknown_fields=True):
    """Undo the last action."""

    position: Position


class GetPosition(Struct, tag="get_position", forbid_unknown_fields=True):
    """Send an earlier position."""

    position: Position


class Advance(Struct, tag="advance", forbid_unknown_fields=True):
    """In a room of agents only: play the next action after the given position, unless it was already played."""

    position: Position


class Coach(Struct, tag="coach", forbid_unknown_fields=True):
    """Recommend actions in the current position."""

    position: Position


class Analyze(Struct, tag="analyze", forbid_unknown_fields=True):
    """Analyze the game so far."""


class Rename(Struct, tag="rename", forbid_unknown_fields=True):
    """Change the player's name."""

    name: Name


class SetConsent(Struct, tag="set_consent", forbid_unknown_fields=True):
    """Allow or forbid that the game is kept for research."""

    consent: bool


class Substitute(Struct, tag="substitute", forbid_unknown_fields=True):
    """Propose, or agree, that an agent plays for an absent player."""

    player: Position
    agent: Text


class TakeOver(Struct, tag="take_over", forbid_unknown_fields=True):
    """Create a room that continues from a position, in which the sender plays the given Emperors and `agent` the others.

    Without `agent`, the current agents keep their Emperors and the default agent replaces other players.
    """

    position: Position
    emperors: Annotated[tuple[Emperor, ...], Meta(min_length=1, max_length=len(EMPERORS))]
    agent: Text | None = None


class PlayAgain(Struct, tag="play_again", forbid_unknown_fields=True):
    """Create a room with the same players and rules after the end of the game, with the same or with other dice."""

    same_dice: bool = False


Message = PlayAgain | Play | Undo | GetPosition | Advance | Coach | Analyze | Rename | SetConsent | Substitute | TakeOver
_MESSAGE_DECODER: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


def decode(decoder: "msgspec.json.Decoder[T]", data: str | bytes) -> T:
    """Decode data sent by a page.

    Raises:
        TetrarchiaError: If it is not JSON or does not fit the decoder's type.
    """
    try:
        return decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise TetrarchiaError(f"invalid message: {truncate_repr(str(error))}") from None


class TokenBucket:
    """A limit on a rate: `burst` at once, then `per_s` per second."""

    def __init__(self, burst: float, per_s: float) -> None:
        self._burst, self._per_s = burst, per_s
        self._allowance, self._last = burst, time.monotonic()

    @property
    def allowance(self) -> float:
        """How many more are allowed now."""
        return min(self._burst, self._allowance + self._per_s * (time.monotonic() - self._last))

    def take(self) -> bool:
        """Return whether one more is allowed, and count it; one that is refused is not counted."""
        allowance = self.allowance
        if allowance < 1:
            return False
        self._allowance, self._last = allowance - 1, time.monotonic()
        return True


class Connection:
    """A connected page.

    Attributes:
        player: Index of the player in the room; None for a spectator.
        link: The link of the page.
        can_invite: Whether the page shows the links of all players.
        address: Network address of the page.
        known_drawings: Numbers of the drawings already sent to the page.
    """

    def __init__(self, socket: WebSocket, player: int | None, link: str, can_invite: bool) -> None:
        self.player, self.link, self.can_invite = player, link, can_invite
        self.address = socket.client.host if socket.client else ""
        self.known_drawings: set[int] = set()
        self._socket = socket
        self._outgoing: deque[dict[str, Any]] = deque()
        self._wake_writer = asyncio.Event()
        self._send_timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()
        self._received = TokenBucket(BURST, RATE_PER_S)
        self._refused = 0

    async def run(self, handle: Callable[[Message], None]) -> None:
        """Pass each received message to `handle` and send what is queued, until either side closes the connection."""
        tasks = [asyncio.create_task(self._read(handle)), asyncio.create_task(self._write())]
        waited: list[asyncio.Future[Any]] = [*tasks, self._closing]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            if not task.cancelled() and (error := task.exception()):
                log.error("connection closed: internal error", exc_info=error)
                self.close(INTERNAL_ERROR, "internal error")
        if not self._closing.done():
            return  # the page left
        code, reason = self._closing.result()
        if code not in (REPLACED, INTERNAL_ERROR):
            log.warning("connection closed: %s", reason)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._socket.close(code, reason[:100])
        except (TimeoutError, RuntimeError, OSError):
            return  # the page does not respond

    async def _read(self, handle: Callable[[Message], None]) -> None:
        while True:
            received = await self._socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            if not self._received.take():
                self.close(POLICY_VIOLATION, f"more than {RATE_PER_S:g} messages per second")
                return
            data = received.get("text") or received.get("bytes") or ""
            try:
                if len(data) > MAX_MESSAGE_BYTES:
                    raise TetrarchiaError(f"a message must have at most {MAX_MESSAGE_BYTES} bytes; got {len(data)}")
                message = decode(_MESSAGE_DECODER, data)
            except TetrarchiaError as error:
                self.refuse(error)
            else:
                handle(message)

    async def _write(self) -> None:
        while True:
            if not self._outgoing:
                self._wake_writer.clear()
            await self._wake_writer.wait()
            if self._send_timer is not None:
                self._send_timer.cancel()
                self._send_timer = None
            messages = [self._outgoing.popleft() for _ in range(min(len(self._outgoing), MAX_MESSAGES_PER_FRAME))]
            text = msgspec.json.encode(messages).decode()
            try:
                async with asyncio.timeout(SEND_TIMEOUT_S):  # not wait_for, which can lose a cancellation in Python 3.11
                    await self._socket.send_text(text)
            except TimeoutError:
                self.close(TRY_LATER, f"did not receive a frame within {SEND_TIMEOUT_S:g} seconds")
                return
            except (WebSocketDisconnect, RuntimeError, OSError):
                return

    def send(self, message: dict[str, Any], *, can_wait: bool = False) -> None:
        """Queue a message; close the connection if the page no longer reads.

        Args:
            message: The message.
            can_wait: Whether it may be sent together with later messages, after at most MAX_SEND_DELAY_S.
        """
        if len(self._outgoing) >= MAX_QUEUED_MESSAGES:
            self.close(TRY_LATER, "does not read its messages")
            return
        self._outgoing.append(message)
        if not can_wait:
            self._wake_writer.set()
        elif self._send_timer is None:
            self._send_timer = asyncio.get_running_loop().call_later(MAX_SEND_DELAY_S, self._wake_writer.set)

    def send_error(self, message: str, code: str = "refused") -> None:
        """Queue an error message for the player; the codes are listed in `views`."""
        self.send({"type": "error", "message": sanitize_line(message, 300), "code": code})

    def refuse(self, error: TetrarchiaError) -> None:
        """Queue the reason why a message was refused; close the connection after too many."""
        if isinstance(error, NotSavedError):
            self.send_error(str(error), "not_saved")
            return
        self._refused += 1
        self.send_error(str(error))
        if self._refused >= MAX_REFUSED_MESSAGES:
            self.close(POLICY_VIOLATION, f"{self._refused} invalid messages, the last: {sanitize_line(str(error), 200)}")

    def close(self, code: int, reason: str) -> None:
        """Close the connection with a WebSocket close code; the reason is logged."""
        if not self._closing.done():
            self._closing.set_result((code, reason))
