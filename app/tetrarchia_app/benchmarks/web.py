"""How a server of rooms does: the time to an answer with many rooms at once, what it costs, and its memory over many games.

The server is a process of its own. A visitor plays Diocletian by random choices with three trained colleagues: every action is
answered by what it did, and the last of a turn also by the three turns of the colleagues.
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
from tetrarchia_env.errors import TetrarchiaError

ROOMS, GAMES, ACTIONS = 200, 2_000, 40  # at once; for the memory; of each visitor that are timed
AT_ONCE = 40  # games that are played side by side for the memory
PAUSE, HASTE = 1.0, 0.1  # seconds that a visitor thinks at most: shorter than any person; and as short as a page may (20 messages a second)
Messages = AsyncIterator[dict[str, Any]]


@dataclass
class Visitor:
    """A page without a browser that plays by chance, and how long each answer took."""

    origin: str
    agent: str
    rng: random.Random
    pause: float
    answers: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    played: int = 0  # actions, his own and those of his colleagues

    async def play(self, actions: int) -> None:
        """A game, or so many actions of it."""
        from websockets.asyncio.client import connect

        address = await asyncio.to_thread(self._make_room)
        talk = f"{self.origin.replace('http', 'ws', 1)}{address}/talk"
        origin: Any = self.origin
        async with connect(talk, origin=origin, proxy=None, max_queue=None, compression=None) as socket:
            messages = _messages(socket)
            decision = await self._decision(messages, -1)
            while decision["choices"] and actions > 0:
                await asyncio.sleep(self.pause * self.rng.random())
                decision, actions = await self._decide(socket, messages, decision), actions - 1

    async def _decide(self, socket: Any, messages: Messages, decision: dict[str, Any]) -> dict[str, Any]:
        chosen, begun = self.rng.choice(decision["choices"])["action"], time.perf_counter()
        await socket.send(json.dumps({"type": "play", "number": decision["number"], "action": chosen}))
        while (await anext(messages))["type"] != "move":
            pass
        self.answers.append(time.perf_counter() - begun)
        following = await self._decision(messages, decision["number"])
        self.played += following["number"] - decision["number"]
        if following["number"] > decision["number"] + 1:
            self.turns.append(time.perf_counter() - begun)
        return following

    async def _decision(self, messages: Messages, after: int) -> dict[str, Any]:
        """His own, or the end of the game."""
        async for message in messages:
            if message["type"] == "decision" and message["number"] > after and (message["choices"] or message["agent"] is None):
                return message
        raise TetrarchiaError("the server let a visitor go")

    def _make_room(self) -> str:
        setup = {"emperors": ["person 1", self.agent, self.agent, self.agent], "seed": self.rng.getrandbits(32)}
        request = urllib.request.Request(f"{self.origin}/rooms", json.dumps(setup).encode(), {"Origin": self.origin})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # never through a proxy
        with opener.open(request) as answer:
            return str(json.load(answer)["address"])


async def _messages(socket: Any) -> Messages:
    async for frame in socket:
        for message in msgspec.json.decode(frame):
            yield message


def measure_web(rooms: int = ROOMS, games: int = GAMES, actions: int = ACTIONS, agent: str = "ppo") -> Iterator[Row]:
    """Rows of the answers with so many rooms at once, and of the memory over so many games."""
    yield from _answers(rooms, actions, agent)
    yield from _memory(games)


def _answers(rooms: int, actions: int, agent: str) -> Iterator[Row]:
    """How long they took, and the processor time that the server spent; the latter does not depend on what else the machine does."""
    with serving() as (origin, process):
        asyncio.run(_visit(origin, 1, 10, agent))  # what is loaded with the first game is not counted
        before = processor_seconds(process)
        visitors = asyncio.run(_visit(origin, rooms, actions, agent))
        after = processor_seconds(process)
    named = {"answer to an action": [one for visitor in visitors for one in visitor.answers]}
    named |= {"answer with three colleagues' turns": [one for visitor in visitors for one in visitor.turns]}
    for name, seconds in named.items():
        cuts = quantiles(seconds, n=100)
        yield Row(f"web, {rooms} rooms with {agent}: {name}, median", 1000 * cuts[49], "ms")
        yield Row(f"web, {rooms} rooms with {agent}: {name}, 99th percentile", 1000 * cuts[98], "ms")
    if before is not None and after is not None:
        played = sum(visitor.played for visitor in visitors)
        yield Row(f"web, {rooms} rooms with {agent}: processor time for an action", 1000 * (after - before) / played, "ms")


def _memory(games: int) -> Iterator[Row]:
    """After each tenth of the games: in the first, all is loaded; Linux only."""
    with serving() as (origin, process):
        for tenth in range(1, 11):
            asyncio.run(_play_games(origin, range(games * (tenth - 1) // 10, games * tenth // 10)))
            if (size := resident(process)) is not None:
                yield Row(f"web, memory after {games * tenth // 10} games", size, "MB")


async def _visit(origin: str, rooms: int, actions: int, agent: str) -> list[Visitor]:
    visitors = [Visitor(origin, agent, random.Random(seed), PAUSE) for seed in range(rooms)]
    await asyncio.gather(*(visitor.play(actions) for visitor in visitors))
    return visitors


async def _play_games(origin: str, seeds: range) -> None:
    places = asyncio.Semaphore(AT_ONCE)

    async def play(seed: int) -> None:
        async with places:
            await Visitor(origin, "random", random.Random(seed), HASTE).play(10_000)

    await asyncio.gather(*(play(seed) for seed in seeds))


def resident(process: int) -> float | None:
    """Megabytes in use, as Linux tells."""
    status = Path(f"/proc/{process}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1000 if found else None


def processor_seconds(process: int) -> float | None:
    """Of all its threads so far, as Linux tells."""
    status = Path(f"/proc/{process}/stat")
    if not status.exists():
        return None
    user, system = status.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """A server in a process of its own, which forgets finished rooms at once: where it is, and the number of the process."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "tetrarchia_app", "serve", "--no-open", "--port", "0", "--state", folder, "--keep", "0"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
            try:
                found = re.search(r"http://localhost:\d+", process.stdout.readline() if process.stdout else "")
                if found is None:
                    raise TetrarchiaError("the server did not start")
                yield found[0], process.pid
            finally:
                process.terminate()
