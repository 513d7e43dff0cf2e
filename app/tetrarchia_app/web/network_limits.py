"""Limits on network connections, below HTTP: their number, in total and from one address, and the time that a request may take.

Without them, clients that connect and send nothing would exhaust the descriptors of the process, which also needs them to save games.
"""

import asyncio
import logging
import socket
import time
from collections import Counter
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

try:
    import resource
except ImportError:  # Windows, which has no such limit
    resource = None  # type: ignore[assignment]

MAX_CONNECTIONS = 4_000
MAX_DESCRIPTORS = 65_536  # to which the soft limit is raised if the hard limit allows it
ACCEPTS_PER_STEP = 32  # of the event loop; a connection that is refused keeps its descriptor for about four steps
RESERVED_DESCRIPTORS = 256  # for connections that are about to be refused, room files, the compiler's cache and libraries
MAX_WAITING_CONNECTIONS = 1_024  # in the queue of the operating system
HEADER_TIMEOUT_S = 10.0  # until the headers of a request are complete
REQUEST_TIMEOUT_S = 60.0  # until it is answered and the answer received
LOG_INTERVAL_S = 60.0
BUSY_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
log = logging.getLogger(__name__)


def max_connections() -> int:
    """Raise the limit on open descriptors if possible; return the number of connections that leaves enough descriptors for files."""
    if resource is None:
        return MAX_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
        except (ValueError, OSError):  # the system allows less than the hard limit says
            pass
    return MAX_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, max(soft - RESERVED_DESCRIPTORS, soft // 2))


class ListeningSocket(socket.socket):
    """Socket whose queue does not depend on how many connections asyncio accepts in one step: it uses one number for both."""

    def listen(self, _: int = MAX_WAITING_CONNECTIONS) -> None:
        super().listen(MAX_WAITING_CONNECTIONS)


class RareLog:
    """Logs a warning at most once per minute: an attack must not fill the log."""

    def __init__(self) -> None:
        self._last = -LOG_INTERVAL_S
        self._suppressed = 0

    def warn(self, message: str) -> None:
        """Log a message with the number of those left out since the last one."""
        self._suppressed += 1
        if time.monotonic() - self._last >= LOG_INTERVAL_S:
            log.warning("%s (%d times)", message, self._suppressed)
            self._last, self._suppressed = time.monotonic(), 0


class ConnectionLimiter:
    """The open connections, by address. One address may have half of them: behind a proxy, all have the same address."""

    def __init__(self, total: int) -> None:
        self._total, self._per_address = total, max(total // 2, 1)
        self._open: dict[asyncio.BaseTransport, str] = {}
        self._by_address: Counter[str] = Counter()
        self._refusals = RareLog()

    def admit(self, transport: asyncio.BaseTransport) -> bool:
        """Return whether a new connection is within the limits; if so, count it until `release`."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if peer else ""
        if len(self._open) >= self._total or self._by_address[address] >= self._per_address:
            self._refusals.warn(f"connection refused: there are {len(self._open)}, {self._by_address[address]} of them from its address")
            return False
        self._open[transport] = address
        self._by_address[address] += 1
        return True

    def release(self, transport: asyncio.BaseTransport | None) -> None:
        """Stop counting a connection that was closed."""
        address = self._open.pop(transport, None) if transport else None
        if address is not None:
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]


class LimitedHTTPProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """HTTP connection that counts towards the limits and is closed when a request takes too long."""

    def __init__(self, limiter: ConnectionLimiter, **uvicorn_arguments: Any) -> None:
        super().__init__(**uvicorn_arguments)
        self._limiter = limiter
        self._is_admitted = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._is_admitted = self._limiter.admit(transport)
        if self._is_admitted:
            super().connection_made(transport)
            self._set_timer(HEADER_TIMEOUT_S, self._on_header_timeout)
        else:
            transport.write(BUSY_RESPONSE)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timer(None)
        if self._is_admitted:
            self._limiter.release(self.transport)
            super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._set_timer(HEADER_TIMEOUT_S, self._on_header_timeout)  # of the next request

    def handle_websocket_upgrade(self, *request: Any) -> None:
        self._set_timer(None)  # a page may stay connected and silent
        super().handle_websocket_upgrade(*request)

    def _on_header_timeout(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:
            self._set_timer(REQUEST_TIMEOUT_S - HEADER_TIMEOUT_S, self.transport.abort)

    def _set_timer(self, seconds: float | None, callback: Any = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, callback)


class LimitedWebSocketProtocol(AutoWebSocketsProtocol):  # type: ignore[misc, valid-type]
    """WebSocket connection that was counted as an HTTP connection and is released when it is closed."""

    def __init__(self, limiter: ConnectionLimiter, **uvicorn_arguments: Any) -> None:
        super().__init__(**uvicorn_arguments)
        self._limiter = limiter

    def connection_lost(self, exc: Exception | None) -> None:
        self._limiter.release(self.transport)
        super().connection_lost(exc)


def log_accept_errors_rarely(loop: asyncio.AbstractEventLoop) -> None:
    """Log errors of `accept`, which asyncio reports for every connection that waits, at most once per minute and without a traceback."""
    errors = RareLog()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if "accept" in context["message"]:
            errors.warn(f"cannot accept a connection: {context.get('exception')}")
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
