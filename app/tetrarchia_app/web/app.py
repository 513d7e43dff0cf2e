"""The server's addresses: the lobby, a page behind each link, the files both are made of, and the talk with a page.

A person's link is all he needs to come in, so none of them is ever sent to another server or kept in a log.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from tetrarchia_app.web import documents
from tetrarchia_app.web.connection import CLOSED, Connection
from tetrarchia_app.web.house import House, game_of
from tetrarchia_app.web.protocol import LARGEST_SETUP, read_setup
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import replay_data
from tetrarchia_env.schema import sanitize_line

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
SWEEP = 30.0  # seconds between two looks for rooms that nobody needs any more
HOME = ("localhost", "127.0.0.1", "[::1]")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entrance:
    """Where the lobby is: at home without a key, elsewhere behind one; and the names that this server may be called by."""

    key: str = ""
    hosts: tuple[str, ...] | None = HOME  # None: any, because the server does not know what others call it

    @property
    def lobby(self) -> str:
        """Its address."""
        return f"/{self.key}/" if self.key else "/"


def make_app(house: House, lobby_data: dict[str, Any], entrance: Entrance) -> ASGIApp:
    """The whole server as an ASGI application."""
    routes = [
        Route(entrance.lobby, partial(_page, documents.lobby(lobby_data))),
        Route(f"{entrance.lobby}rooms", partial(_make_room, house), methods=["POST"]),
        Route("/static/{name}", _static),
        Route("/seat/{link}", partial(_seat, house, lobby_data)),
        Route("/seat/{link}/replay.json", partial(_replay, house)),
        Route("/seat/{link}/snapshot.json", partial(_snapshot, house)),
        WebSocketRoute("/seat/{link}/talk", partial(_talk, house)),
    ]
    return Guard(Starlette(routes=routes, lifespan=partial(_lifespan, house)), entrance)


@asynccontextmanager
async def _lifespan(house: House, _: Starlette) -> AsyncIterator[None]:
    sweeper = asyncio.create_task(_sweep(house))
    house.resume()
    yield
    sweeper.cancel()
    house.close()


async def _sweep(house: House) -> None:
    while True:
        await asyncio.sleep(SWEEP)
        house.sweep()


class Guard:
    """Before anything else: the host must be ours, and who changes something must come from our own page."""

    def __init__(self, app: ASGIApp, entrance: Entrance) -> None:
        self._app = app
        self._hosts = entrance.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it pass, or answer at once."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        reason = self._reason_against(HTTPConnection(scope))
        if reason and scope["type"] == "websocket":
            log.warning("a connection was refused: %s", reason)
            await WebSocket(scope, receive, send).close(CLOSED)
        elif reason:
            log.warning("a request was refused: %s", reason)
            await Response(reason, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, partial(_with_headers, send))

    def _reason_against(self, asked: HTTPConnection) -> str:
        host, origin = asked.headers.get("host", ""), asked.headers.get("origin", "")
        if self._hosts is not None and host.rpartition(":")[0] not in self._hosts and host not in self._hosts:
            return f"this server is not called {sanitize_line(host, 80)!r}"
        changes = asked.scope["type"] == "websocket" or asked.scope.get("method") not in ("GET", "HEAD")
        if changes and origin.partition("://")[2] != host:
            return f"it came from another page, {sanitize_line(origin, 80)!r}"
        return ""


async def _with_headers(send: Callable[[Message], Awaitable[None]], message: Message) -> None:
    if message["type"] == "http.response.start":
        message["headers"] = [*message.get("headers", []), *((name.encode(), text.encode()) for name, text in HEADERS.items())]
    await send(message)


async def _page(content: str, _: Request) -> Response:
    return Response(content, media_type="text/html")


async def _static(request: Request) -> Response:
    found = documents.static_file(request.path_params["name"])
    return Response("there is no such file", 404) if found is None else Response(found[0], media_type=found[1])


async def _make_room(house: House, request: Request) -> Response:
    try:
        setup = read_setup(await _body(request))
        room = house.make(await asyncio.to_thread(game_of, setup), setup)  # a long replay takes a second
    except ValueError as error:
        return JSONResponse({"sentence": sanitize_line(str(error))}, 400)
    house.rooms[room.name].go_on()
    first = room.players[0]
    return JSONResponse({"address": f"/seat/{first.link if 'person 1' in setup.emperors else room.watch}"})


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_SETUP:
            raise TetrarchiaError(f"this is larger than {LARGEST_SETUP // 1_000_000} MB")
    return bytes(content)


async def _seat(house: House, lobby_data: dict[str, Any], request: Request) -> Response:
    if house.behind(request.path_params["link"]) is None:
        return Response(documents.nothing_there(), 404, media_type="text/html")
    return Response(documents.room(lobby_data), media_type="text/html")


async def _replay(house: House, request: Request) -> Response:
    door = house.behind(request.path_params["link"])
    if door is None or door[0].room.game.seed is None:
        return Response("there is no replay here", 404)
    return _download(json.dumps(replay_data(door[0].room.game.replay()), indent=1) + "\n", "tetrarchia.json")


async def _snapshot(house: House, request: Request) -> Response:
    door, number = house.behind(request.path_params["link"]), request.query_params.get("number", "")
    if door is None or not number.isdecimal() or int(number) > door[0].room.number:
        return Response("there is no such position here", 404)
    position = door[0].room.game.frame(int(number)).snapshot
    return _download(msgspec.json.encode(position).decode(), f"tetrarchia-{number}.json")


def _download(content: str, name: str) -> Response:
    return Response(content, media_type="application/json", headers={"content-disposition": f'attachment; filename="{name}"'})


async def _talk(house: House, socket: WebSocket) -> None:
    door = house.behind(socket.path_params["link"])
    if door is None:
        await socket.close(CLOSED, "there is no room behind this link")
        return
    live, player = door
    await socket.accept()
    page = Connection(socket, player)
    live.join(page)
    try:
        await page.run(partial(live.obey, page))
    finally:
        live.leave(page)
