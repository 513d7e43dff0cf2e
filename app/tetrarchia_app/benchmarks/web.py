"""Benchmark of the web server: response times with many rooms at once, and memory over many games.

The server runs in a separate process. Each client plays Diocletian at random with three agents as teammates: the server answers an action
with its effects, and the last action of a turn also with the turns of the three teammates: a whole round.
"""

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import msgspec

from tetrarchia_app.benchmarks.rates import Row

NUM_ROOMS, ACTIONS_PER_ROOM = 500, 20  # for the response times
CONNECT_TIMEOUT_S = 120.0  # while hundreds of others connect
NUM_GAMES, CONCURRENT_GAMES = 2_000, 40  # for the memory
MAX_PAUSE_S = 1.0  # of a client before an action; shorter than a human's
MIN_PAUSE_S = 0.1  # the server accepts 20 messages per second from a client


@dataclass
class Client:
    """A random player without a browser, and the response times it measured in seconds."""

    origin: str
    agent: str
    rng: random.Random
    pause_s: float
    responses: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)

    async def play(self, max_actions: int, start_together: asyncio.Barrier | None = None) -> None:
        """Play a game to its end, or up to this number of own actions; wait until the other clients are connected."""
        from websockets.asyncio.client import connect

        path = await asyncio.to_thread(self._create_room)
        origin: Any = self.origin
        socket_url = f"{self.origin.replace('http', 'ws', 1)}{path}/socket"
        async with connect(
            socket_url, origin=origin, proxy=None, max_queue=None, compression=None, open_timeout=CONNECT_TIMEOUT_S
        ) as socket:
            messages = receive(socket)
            decision = await next_decision(messages, -1)
            if start_together is not None:
                await start_together.wait()
            for _ in range(max_actions):
                if not decision["choices"]:
                    break
                await asyncio.sleep(self.pause_s * self.rng.random())
                position, action, start = decision["position"], self.rng.choice(decision["choices"])["action"], time.perf_counter()
                await socket.send(json.dumps({"type": "play", "position": position, "action": action}))
                while (await anext(messages))["type"] != "action":
                    pass
                self.responses.append(time.perf_counter() - start)
                decision = await next_decision(messages, position)
                if decision["position"] > position + 1:
                    self.rounds.append(time.perf_counter() - start)

    def _create_room(self) -> str:
        setup = {"emperors": ["player 1", self.agent, self.agent, self.agent], "seed": self.rng.getrandbits(32)}
        request = urllib.request.Request(f"{self.origin}/rooms", json.dumps(setup).encode(), {"Origin": self.origin})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
        with opener.open(request) as answer:
            return str(json.load(answer)["url"])


async def receive(socket: Any) -> AsyncIterator[dict[str, Any]]:
    """Yield the messages of the server."""
    async for frame in socket:
        for message in msgspec.json.decode(frame):
            yield message


async def next_decision(messages: AsyncIterator[dict[str, Any]], after: int) -> dict[str, Any]:
    """Wait for the client's next decision after this position, or for the end of the game."""
    async for message in messages:
        if message["type"] == "decision" and message["position"] > after and (message["choices"] or message["emperor"] is None):
            return message
    raise RuntimeError("the server closed the connection")


def measure_web(rooms: int = NUM_ROOMS, games: int = NUM_GAMES, actions: int = ACTIONS_PER_ROOM, agent: str = "ppo") -> Iterator[Row]:
    """Measure response times with this number of rooms at once, then the memory over this number of games."""
    with running_server() as (origin, pid):
        asyncio.run(play_rooms(origin, 1, 10, agent))  # warm up
        clients = asyncio.run(play_rooms(origin, rooms, actions, agent))
        for name, seconds in {
            "own action": [one for client in clients for one in client.responses],
            "whole round": [one for client in clients for one in client.rounds],
        }.items():
            percentiles = quantiles(seconds, n=100)
            yield Row(f"web, {rooms} rooms with {agent}: {name}, median", 1000 * percentiles[49], "ms")
            yield Row(f"web, {rooms} rooms with {agent}: {name}, 99th percentile", 1000 * percentiles[98], "ms")
        for tenth in range(1, 11):
            asyncio.run(play_games(origin, range(games * (tenth - 1) // 10, games * tenth // 10)))
            if (megabytes := resident_megabytes(pid)) is not None:
                yield Row(f"web, memory after {games * tenth // 10} games", megabytes, "MB")


async def play_rooms(origin: str, rooms: int, actions: int, agent: str) -> list[Client]:
    """Play in all rooms at once."""
    clients = [Client(origin, agent, random.Random(seed), MAX_PAUSE_S) for seed in range(rooms)]
    start_together = asyncio.Barrier(rooms)
    await asyncio.gather(*(client.play(actions, start_together) for client in clients))
    return clients


async def play_games(origin: str, seeds: range) -> None:
    """Play whole games with random teammates, some of them at a time."""
    limit = asyncio.Semaphore(CONCURRENT_GAMES)

    async def play(seed: int) -> None:
        async with limit:
            await Client(origin, "random", random.Random(seed), MIN_PAUSE_S).play(10_000)

    await asyncio.gather(*(play(seed) for seed in seeds))


def resident_megabytes(pid: int) -> float | None:
    """Return the resident memory of a process; Linux only."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1000 if found else None


@contextmanager
def running_server() -> Iterator[tuple[str, int]]:
    """Start a server that removes finished rooms at once; yield its address and process id."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tetrarchia_app", "serve", "--no-open", "--port", "0", "--state", folder, "--keep", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            try:
                found = re.search(r"http://localhost:\d+", process.stdout.readline() if process.stdout else "")
                if found is None:
                    raise RuntimeError("the server did not start")
                yield found[0], process.pid
            finally:
                process.terminate()
