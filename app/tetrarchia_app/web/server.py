"""HTTP server of the game: access rules, URLs, pages and static files; and how it is started.

A player's link is all that is needed to play, so links are never sent to other servers (referrer policy) or written to the log.
"""

import asyncio
import gc
import ipaddress
import json
import logging
import re
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from string import Template
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from tetrarchia_app.web.connection import MAX_MESSAGE_BYTES, POLICY_VIOLATION, Connection
from tetrarchia_app.web.journal import new_link
from tetrarchia_app.web.network_limits import (
    ACCEPTS_PER_STEP,
    ConnectionLimiter,
    LimitedHTTPProtocol,
    LimitedWebSocketProtocol,
    ListeningSocket,
    log_accept_errors_rarely,
    max_connections,
)
from tetrarchia_app.web.room_manager import HUMANS, RoomManager, read_setup, start_game
from tetrarchia_app.web.rules import places, rules_panel
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import replay_data
from tetrarchia_env.render import page, theme
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import static_map
from tetrarchia_env.render.svg import BERTH
from tetrarchia_env.schema import sanitize_line

MAX_SETUP_BYTES = 2_000_000  # a request to create a room may contain a replay
CLEANUP_INTERVAL_S = 30.0
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".ttf": "font/ttf"}
FONT_WEIGHTS = {"TetrarchiaSans-Regular.ttf": "normal", "TetrarchiaSans-Bold.ttf": "bold"}
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AccessPolicy:
    """Who may reach the lobby.

    Attributes:
        lobby_key: Unguessable part of the lobby's URL; empty on a server that only this machine can reach.
        hosts: Host names under which the server answers; None for any.
    """

    lobby_key: str = ""
    hosts: tuple[str, ...] | None = LOOPBACK_HOSTS

    @property
    def lobby_path(self) -> str:
        return f"/{self.lobby_key}/" if self.lobby_key else "/"

    @classmethod
    def for_host(cls, host: str) -> "AccessPolicy":
        """Return the policy of a server that listens on this address."""
        if is_loopback(host):
            return cls()
        if host in ("0.0.0.0", "::"):
            return cls(new_link(), None)
        return cls(new_link(), (*LOOPBACK_HOSTS, f"[{host}]" if ":" in host else host))


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a host name
        return False


# Startup


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        TetrarchiaError: If the address is not available.
    """
    try:
        family, _, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        bound = ListeningSocket(family, socket.SOCK_STREAM, protocol)  # without the protocol, asyncio would not set TCP_NODELAY
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()  # requests wait until the server is ready
    except OSError as error:
        raise TetrarchiaError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from None
    return bound


def run(
    manager: RoomManager,
    lobby_data: dict[str, Any],
    bound: socket.socket,
    policy: AccessPolicy,
    *,
    path: str = "",
    open_browser: bool = True,
) -> None:
    """Serve until Ctrl-C.

    Args:
        manager: The rooms.
        lobby_data: What can be chosen in the lobby.
        bound: The socket, from `bind_socket`.
        policy: Who may reach the lobby.
        path: Path of the page that is announced and opened; the lobby by default.
        open_browser: Whether to open this page in the browser.
    """
    host, port = bound.getsockname()[:2]
    name = f"[{host}]" if ":" in host else "localhost" if host == "127.0.0.1" else host
    url = f"http://{name}:{port}{path or policy.lobby_path}"
    print(f"Serving TETRARCHIA at {url} (press Ctrl-C to stop)", flush=True)
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [url]).start()
    server = uvicorn.Server(uvicorn_config(create_app(manager, lobby_data, policy)))
    gc.freeze()  # a collection of everything imported would pause all rooms for a tenth of a second
    server.run(sockets=[bound])


def uvicorn_config(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration. Frames are not compressed: they have a few thousand bytes, and most never leave this machine."""
    limiter = ConnectionLimiter(max_connections())
    http: Any = partial(LimitedHTTPProtocol, limiter)
    websocket: Any = partial(LimitedWebSocketProtocol, limiter)
    return uvicorn.Config(
        app, http=http, ws=websocket, backlog=ACCEPTS_PER_STEP, log_level="warning", access_log=False, ws_max_size=4 * MAX_MESSAGE_BYTES,
        timeout_graceful_shutdown=2, server_header=False, ws_per_message_deflate=False,
    )  # fmt: skip


def create_app(manager: RoomManager, lobby_data: dict[str, Any], policy: AccessPolicy) -> ASGIApp:
    """Return the ASGI application."""
    lobby, room, not_found = lobby_page(lobby_data), room_page(lobby_data, policy), _template("not_found.html").template
    routes = [
        Route(policy.lobby_path, partial(_get_lobby, lobby)),
        Route(f"{policy.lobby_path}rooms", partial(_post_room, manager), methods=["POST"]),
        Route("/static/{name}", _get_static),
        Route("/seat/{link}", partial(_get_seat, manager, room, not_found)),
        Route("/seat/{link}/replay.json", partial(_get_replay, manager)),
        Route("/seat/{link}/snapshot.json", partial(_get_snapshot, manager)),
        WebSocketRoute("/seat/{link}/socket", partial(_connect, manager)),
    ]
    return AccessGuard(Starlette(routes=routes, lifespan=partial(_lifespan, manager)), policy)


@asynccontextmanager
async def _lifespan(manager: RoomManager, _: Starlette) -> AsyncIterator[None]:
    async def clean_up() -> None:
        while True:
            await asyncio.sleep(CLEANUP_INTERVAL_S)
            manager.remove_expired()

    log_accept_errors_rarely(asyncio.get_running_loop())
    task = asyncio.create_task(clean_up())
    manager.resume()
    yield
    task.cancel()
    manager.close()


class AccessGuard:
    """ASGI middleware that checks the host and the origin of a request and adds the security headers to responses."""

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._hosts = policy.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request or connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *((name.encode(), text.encode()) for name, text in HEADERS.items())]
            await send(message)

        reason = self._refusal(HTTPConnection(scope))
        if not reason:
            await self._app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            log.warning("connection refused: %s", reason)
            await WebSocket(scope, receive, send).close(POLICY_VIOLATION)
        else:
            log.warning("request refused: %s", reason)
            await Response(reason, 403)(scope, receive, send_with_headers)

    def _refusal(self, request: HTTPConnection) -> str:
        """Return why a request is refused, or an empty string.

        The host is checked against DNS rebinding; the origin, because another site's page must not change anything here.
        """
        host, origin = request.headers.get("host", ""), request.headers.get("origin", "")
        if self._hosts is not None and host.rpartition(":")[0] not in self._hosts and host not in self._hosts:
            return f"unknown host {sanitize_line(host, 80)!r}"
        is_safe_method = request.scope["type"] == "http" and request.scope["method"] in ("GET", "HEAD")
        if not is_safe_method and origin.partition("://")[2] != host:
            return f"foreign origin {sanitize_line(origin, 80)!r}"
        return ""


# Requests


async def _get_lobby(content: str, _: Request) -> Response:
    return Response(content, media_type="text/html")


async def _post_room(manager: RoomManager, request: Request) -> Response:
    """Create a room; respond with the URL of the creator's page, or an error message."""
    try:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) > MAX_SETUP_BYTES:
                raise TetrarchiaError(f"the request must have at most {MAX_SETUP_BYTES // 1_000_000} MB")
        setup = read_setup(bytes(data))
        game = await asyncio.to_thread(start_game, setup, manager.services.local)
        room = manager.create_room(game, setup.emperors, setup.name, setup.consent)
    except TetrarchiaError as error:
        return JSONResponse({"error": sanitize_line(str(error))}, 400)
    room.request_agent()
    return JSONResponse(
        {"url": f"/seat/{room.players[0].link if HUMANS[0] in setup.emperors else room.creator_link or room.spectator_link}"}
    )


async def _get_static(request: Request) -> Response:
    content, media_type = static_files().get(request.path_params["name"], (None, None))
    return Response("no such file", 404) if content is None else Response(content, media_type=media_type)


async def _get_seat(manager: RoomManager, content: str, not_found: str, request: Request) -> Response:
    exists = manager.resolve_link(request.path_params["link"]) is not None
    return Response(content if exists else not_found, 200 if exists else 404, media_type="text/html")


async def _get_replay(manager: RoomManager, request: Request) -> Response:
    found = manager.resolve_link(request.path_params["link"])
    if found is None or found[0].game.seed is None or found[0].has_secrets:
        return Response("no such replay", 404)
    return _download(json.dumps(replay_data(found[0].game.replay()), indent=1) + "\n", "tetrarchia.json")


async def _get_snapshot(manager: RoomManager, request: Request) -> Response:
    found, position = manager.resolve_link(request.path_params["link"]), request.query_params.get("position", "")
    if found is None or not re.fullmatch("[0-9]{1,7}", position) or int(position) > found[0].position or found[0].has_secrets:
        return Response("no such position", 404)
    snapshot = found[0].game.frame(int(position)).snapshot
    return _download(msgspec.json.encode(snapshot).decode(), f"tetrarchia-{int(position)}.json")


def _download(content: str, name: str) -> Response:
    return Response(content, media_type="application/json", headers={"content-disposition": f'attachment; filename="{name}"'})


async def _connect(manager: RoomManager, socket: WebSocket) -> None:
    """Connect a page to its room; from here on its messages go to `Room.handle`."""
    found = manager.resolve_link(socket.path_params["link"])
    if found is None:
        await socket.close(POLICY_VIOLATION, "no such room")
        return
    room, player = found
    await socket.accept()
    link = socket.path_params["link"]
    connection = Connection(socket, player, link, room.can_invite(link))
    room.join(connection)
    try:
        await connection.run(partial(room.handle, connection))
    finally:
        room.leave(connection)


# Pages and static files


def lobby_page(lobby_data: dict[str, Any]) -> str:
    """Return the page on which a game is set up."""
    return _template("lobby.html").substitute(data=_script_json(lobby_data))


def room_page(lobby_data: dict[str, Any], policy: AccessPolicy) -> str:
    """Return the page on which a game is played, the same for every room: the game itself arrives over the WebSocket.

    Args:
        lobby_data: What can be chosen in the lobby.
        policy: Who may reach the lobby: a seat does not reveal its address if that has a key.
    """
    zones = [(x, y + BERTH) for x, y in BOARD.zone_xy.tolist()]
    data = {
        "agents": lobby_data["agents"], "coach": lobby_data["coach"], "study": lobby_data["study"],
        "spaces": dict(zip(BOARD.names, BOARD.xy.tolist(), strict=True)) | dict(zip(BOARD.zones, zones, strict=True)),
        "places": places(), "lobby": None if policy.lobby_key else policy.lobby_path,
        "emperors": EMPERORS, "letters": {name: look.letter for name, look in theme.EMPEROR_LOOKS.items()},
    }  # fmt: skip
    return _template("room.html").substitute(
        data=_script_json(data), buttons=page.buttons(), width=theme.MAP_WIDTH, height=theme.HEIGHT, look=page.LOOK,
        ground=static_map() + legend(), symbols=page.symbols(), rules=rules_panel(),
    )  # fmt: skip


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and media type of every file under /static, by name."""
    render = files("tetrarchia_env.render")
    sources = [one for one in files("tetrarchia_app.web").joinpath("static").iterdir() if not one.name.endswith(".html")]
    sources += [render.joinpath("page.css"), *(render.joinpath("fonts", name) for name in FONT_WEIGHTS)]
    found = {source.name: (source.read_bytes(), MEDIA_TYPES[source.name[source.name.rindex(".") :]]) for source in sources}
    fonts = [
        f'@font-face {{ font-family: "Tetrarchia Sans"; font-weight: {weight}; src: url(/static/{name}); }}'
        for name, weight in FONT_WEIGHTS.items()
    ]
    return found | {"theme.css": ("\n".join([*fonts, page.colours()]).encode(), MEDIA_TYPES[".css"])}


def _template(name: str) -> Template:
    return Template(files("tetrarchia_app.web").joinpath("static", name).read_text(encoding="utf-8"))


def _script_json(data: object) -> str:
    """Return JSON without `<`, so that nothing in it can end the script element that contains it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
