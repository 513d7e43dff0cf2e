"""Benchmark of the web server: response times with many rooms at once, and memory over many games.

The server runs in a separate process. Each client plays Diocletian at random with three agents as teammates and measures two times:

- *own action*: from sending an action to receiving its effects;
- *whole round*: from sending the last action of a turn to receiving the next own decision, after the turns of the three teammates.

There are two loads. *Independent players*: each client waits a random time before each action, as if it were thinking, so that the time of
an own action is that of a player who clicks while the other rooms are busy. *Starting together*, the worst case: all clients begin at the
same moment and wait less than a second before an action.
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
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

import msgspec

from tetrarchia_app.benchmarks.rates import Row

NUM_ROOMS = 500  # for the response times
MEAN_THINK_S, CROWD_S = 5.0, 60.0  # of independent players: exponential time before an action, and duration of the load
MAX_PAUSE_S, BURST_ACTIONS = 1.0, 20  # of players who start together: longest time before an action, and actions per room
CONNECT_TIMEOUT_S = 120.0  # while hundreds of others connect
NUM_GAMES, CONCURRENT_GAMES = 2_000, 40  # for the memory
MIN_PAUSE_S = 0.1  # the server accepts 20 messages per second from a client


class Choice(msgspec.Struct):
    """A legal action."""

    action: str


class ServerMessage(msgspec.Struct):
    """The fields of a server's message that a client reads; see `tetrarchia_app.web.views`."""

    type: str
    position: int = -1
    emperor: str | None = None
    choices: list[Choice] | None = None


FRAME_DECODER = msgspec.json.Decoder(list[ServerMessage])


@dataclass
class Client:
    """A random player without a browser, and the response times it measured in seconds."""

    origin: str
    agent: str
    rng: random.Random
    pause_s: Callable[[random.Random], float]  # before an action
    responses: list[float] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)

    async def play(self, max_actions: int, start_together: asyncio.Barrier | None = None, max_s: float = float("inf")) -> None:
        """Play a game to its end, up to this number of own actions or for this time; wait until the other clients are connected."""
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
            end = time.perf_counter() + max_s
            for _ in range(max_actions):
                pause_s = self.pause_s(self.rng)
                if not decision.choices or time.perf_counter() + pause_s > end:
                    break
                await asyncio.sleep(pause_s)
                position, action, start = decision.position, self.rng.choice(decision.choices).action, time.perf_counter()
                await socket.send(json.dumps({"type": "play", "position": position, "action": action}))
                while (await anext(messages)).type != "action":
                    pass
                self.responses.append(time.perf_counter() - start)
                decision = await next_decision(messages, position)
                if decision.position > position + 1:
                    self.rounds.append(time.perf_counter() - start)

    def _create_room(self) -> str:
        setup = {"emperors": ["player 1", self.agent, self.agent, self.agent], "seed": self.rng.getrandbits(32)}
        request = urllib.request.Request(f"{self.origin}/rooms", json.dumps(setup).encode(), {"Origin": self.origin})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
        with opener.open(request) as answer:
            return str(json.load(answer)["url"])


async def receive(socket: Any) -> AsyncIterator[ServerMessage]:
    """Yield the messages of the server."""
    async for frame in socket:
        for message in FRAME_DECODER.decode(frame):
            yield message


async def next_decision(messages: AsyncIterator[ServerMessage], after: int) -> ServerMessage:
    """Wait for the client's next decision after this position, or for the end of the game."""
    async for message in messages:
        if message.type == "decision" and message.position > after and (message.choices or message.emperor is None):
            return message
    raise RuntimeError("the server closed the connection")


@dataclass(frozen=True)
class Load:
    """How the clients act: the time before each action, and when a client stops."""

    name: str
    pause_s: Callable[[random.Random], float]
    max_actions: int
    max_s: float


def measure_web(
    rooms: int = NUM_ROOMS,
    games: int = NUM_GAMES,
    agent: str = "ppo",
    crowd_s: float = CROWD_S,
    mean_think_s: float = MEAN_THINK_S,
    burst_actions: int = BURST_ACTIONS,
) -> Iterator[Row]:
    """Measure response times with this number of rooms at once under both loads, then the memory over this number of games."""
    crowd = Load("independent players", lambda rng: rng.expovariate(1 / mean_think_s), 10_000, crowd_s)
    burst = Load("starting together", lambda rng: MAX_PAUSE_S * rng.random(), burst_actions, float("inf"))
    with running_server() as (origin, pid):
        yield from measure_load(origin, pid, crowd, rooms, agent)
    with running_server() as (origin, pid):  # another one, as the number of rooms is limited
        yield from measure_load(origin, pid, burst, rooms, agent)
        for tenth in range(1, 11):
            asyncio.run(play_games(origin, range(games * (tenth - 1) // 10, games * tenth // 10)))
            if (megabytes := resident_megabytes(pid)) is not None:
                yield Row(f"web, memory after {games * tenth // 10} games", megabytes, "MB")


def measure_load(origin: str, pid: int, load: Load, rooms: int, agent: str) -> Iterator[Row]:
    """Measure the response times of a server under a load, and how busy the thread was that serves all rooms."""
    warm_up = Load("", lambda rng: MIN_PAUSE_S, 10, float("inf"))
    asyncio.run(play_rooms(origin, pid, warm_up, 1, agent))
    clients, busy = asyncio.run(play_rooms(origin, pid, load, rooms, agent))
    label = f"web, {rooms} rooms with {agent}, {load.name}"
    for name, seconds in {
        "own action": [one for client in clients for one in client.responses],
        "whole round": [one for client in clients for one in client.rounds],
    }.items():
        percentiles = quantiles(seconds, n=100)
        yield Row(f"{label}: {name}, median", 1000 * percentiles[49], "ms")
        yield Row(f"{label}: {name}, 99th percentile", 1000 * percentiles[98], "ms")
    if busy is not None:
        yield Row(f"{label}: server thread busy", 100 * busy, "%")


async def play_rooms(origin: str, pid: int, load: Load, rooms: int, agent: str) -> tuple[list[Client], float | None]:
    """Play in all rooms at once; return the clients and the share of the time in which the server's main thread was busy."""
    clients = [Client(origin, agent, random.Random(seed), load.pause_s) for seed in range(rooms)]
    start_together = asyncio.Barrier(rooms + 1)
    tasks = [asyncio.create_task(client.play(load.max_actions, start_together, load.max_s)) for client in clients]
    await start_together.wait()
    start, start_cpu = time.perf_counter(), main_thread_seconds(pid)
    await asyncio.gather(*tasks)
    end_cpu = main_thread_seconds(pid)
    return clients, None if start_cpu is None or end_cpu is None else (end_cpu - start_cpu) / (time.perf_counter() - start)


async def play_games(origin: str, seeds: range) -> None:
    """Play whole games with random teammates, some of them at a time."""
    limit = asyncio.Semaphore(CONCURRENT_GAMES)

    async def play(seed: int) -> None:
        async with limit:
            await Client(origin, "random", random.Random(seed), lambda rng: MIN_PAUSE_S * rng.random()).play(10_000)

    await asyncio.gather(*(play(seed) for seed in seeds))


def resident_megabytes(pid: int) -> float | None:
    """Return the resident memory of a process; Linux only."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1000 if found else None


def main_thread_seconds(pid: int) -> float | None:
    """Return the processor time of a process's main thread; Linux only."""
    stat = Path(f"/proc/{pid}/task/{pid}/stat")
    if not stat.exists():
        return None
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


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
