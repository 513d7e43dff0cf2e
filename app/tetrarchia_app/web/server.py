"""Run the server: a socket, the application on it, and the browser in front of it."""

import gc
import ipaddress
import socket
import threading
import webbrowser
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from tetrarchia_app.web.app import HOME, Entrance, make_app
from tetrarchia_app.web.house import House
from tetrarchia_app.web.protocol import LARGEST
from tetrarchia_app.web.room import new_link
from tetrarchia_env.errors import TetrarchiaError

CONNECTIONS = 4_000  # at once


def entrance_at(host: str) -> Entrance:
    """At home everybody is at home; elsewhere the lobby is behind a link that nobody guesses."""
    if is_home(host):
        return Entrance()
    anywhere = host in ("0.0.0.0", "::")
    return Entrance(key=new_link(), hosts=None if anywhere else (*HOME, f"[{host}]" if ":" in host else host))


def is_home(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket at this address; ValueError in one sentence if there can be none."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        made = socket.socket(family, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(1024)  # who comes before the server is ready waits
    except OSError as error:
        raise TetrarchiaError(f"cannot serve at {host}, port {port}: {error.strerror or error}") from None
    return made


def run(house: House, lobby_data: dict[str, Any], place: socket.socket, entrance: Entrance, *, first: str = "", opens: bool = True) -> None:
    """Serve until Ctrl-C; `first` is the page that is opened, the lobby if none is given."""
    host, port = place.getsockname()[:2]
    name = f"[{host}]" if ":" in host else "localhost" if host == "127.0.0.1" else host
    address = f"http://{name}:{port}{first or entrance.lobby}"
    print(f"TETRARCHIA is served at {address} (Ctrl-C stops)", flush=True)
    if opens:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    serving = uvicorn.Server(configured(make_app(house, lobby_data, entrance)))
    gc.freeze()  # what was loaded stays: to look through it for waste again and again would stop everybody for a tenth of a second
    serving.run(sockets=[place])


def configured(app: ASGIApp) -> uvicorn.Config:
    """How it is served; frames are not compressed: they have a few thousand bytes, and most never leave this machine."""
    return uvicorn.Config(
        app, log_level="warning", access_log=False, ws_max_size=4 * LARGEST, limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=2, server_header=False, ws_per_message_deflate=False,
    )  # fmt: skip
