"""How fast the game is, from the bare rules to each API of the environment; start-up and compile times."""

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numba
import numpy as np
import pettingzoo

from tetrarchia_env import __version__, batch, tetrarchia_v0
from tetrarchia_env.constants import MODULES, VARIANTS
from tetrarchia_env.options import Options
from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.show import frames_of_play
from tetrarchia_eval.arena import match_spec, play_match

EVERYTHING: dict[str, Any] = {"variants": VARIANTS, "modules": MODULES}
ENVS = 512
PACKAGES = ("agents", "train", "eval")  # folders of a checkout that packages lie in, beside its root
START = """
import time
begun = time.perf_counter()
from tetrarchia_env.batch import new_games, step
from tetrarchia_env.options import Options
games, masks = new_games(Options(), 0)
first_reset = time.perf_counter() - begun
step(games, masks.argmax(axis=1), masks)
first_step = time.perf_counter() - begun
import numpy as np
from tetrarchia_agents import TeamPolicy, make_agents
team = TeamPolicy(make_agents("planner"), env_ids=1)
team.begin(np.array([0]), 1)
team.act(games, masks, np.array([0]))
print(first_reset, first_step, time.perf_counter() - begun)
"""
AHEAD = """
import time
begun = time.perf_counter()
from tetrarchia_agents.compiling import compile_ahead
compile_ahead(search=True)
print(time.perf_counter() - begun)
"""


@dataclass(frozen=True)
class Row:
    """One figure."""

    what: str
    value: float
    unit: str


@dataclass(frozen=True)
class Effort:
    """How much to measure: seconds a round, rounds of which the median counts, games of a playout, what to train."""

    seconds: float = 1.0
    rounds: int = 5
    games: int = 20_000
    presets: tuple[str, ...] = ("ppo", "ppo-more", "ppo:mlp", "small")  # what the layers over the board cost is seen beside an mlp


def measure(effort: Effort | None = None) -> Iterator[Row]:
    """One row after the other, on one core but for the arena and training."""
    effort = effort or Effort()
    for name, arguments in {"base game": {}, "everything on": EVERYTHING}.items():
        yield from playouts(name, Options(**arguments), effort)
    for name, arguments in {"base game": {}, "everything on": EVERYTHING}.items():
        yield Row(f"batch with observation and mask, {name}", rate(vector(**arguments), effort), "steps/s")
    if find_spec("stable_baselines3"):
        yield Row("Stable-Baselines3 VecEnv", rate(vec_env(), effort), "steps/s")
    yield Row("Gymnasium", rate(single(), effort), "steps/s")
    yield Row("AEC, raw_env", rate(aec(tetrarchia_v0.raw_env()), effort), "steps/s")
    yield Row("AEC, env", rate(aec(tetrarchia_v0.env()), effort), "steps/s")
    if find_spec("resvg_py"):
        yield Row("pictures, 900 px", rate(pictures(), effort), "frames/s")
    for agent, games in {"random": effort.games // 2, "planner": effort.games // 20}.items():
        yield Row(f"{games:,} games of {agent} at 4200, both cores", match(agent, games), "s")
    if find_spec("sb3_contrib"):
        yield from training(effort.presets)
    yield from start_up()
    yield from compiled_ahead()


def playouts(name: str, options: Options, effort: Effort) -> Iterator[Row]:
    """Random legal play to the end with full masks: steps and games a second."""
    rates = [_playout(options, effort.games, first) for first in range(effort.rounds + 1)][1:]  # the first warms up
    yield Row(f"playouts, {name}", median(steps for steps, _ in rates), "steps/s")
    yield Row(f"playouts, {name}", median(games for _, games in rates), "games/s")


def _playout(options: Options, number: int, first: int) -> tuple[float, float]:
    games, masks = batch.new_games(options, np.arange(first * number, (first + 1) * number))
    rngs = batch.rng_states(np.arange(number, dtype=np.uint64))
    begun = time.perf_counter()
    steps = batch.playout(games, masks, rngs, steps=1_000_000)
    seconds = time.perf_counter() - begun
    return steps / seconds, number / seconds


def rate(play: Callable[[], int], effort: Effort) -> float:
    """Steps a second of a function that plays some and says how many; the median round."""
    play()
    return median(_rate(play, effort.seconds) for _ in range(effort.rounds))


def _rate(play: Callable[[], int], seconds: float) -> float:
    begun = time.perf_counter()
    steps = 0
    while time.perf_counter() - begun < seconds:
        steps += play()
    return steps / (time.perf_counter() - begun)


def vector(**arguments: Any) -> Callable[[], int]:
    """Random play in the vector API, the observation not copied."""
    env = tetrarchia_v0.vector_env(ENVS, copy=False, autoreset_mode="SameStep", **arguments)
    obs, _ = env.reset(seed=1)
    rngs = batch.rng_states(np.arange(ENVS, dtype=np.uint64))

    def play() -> int:
        nonlocal obs
        obs, *_ = env.step(batch.random_actions(obs["action_mask"], rngs))
        return ENVS

    return play


def vec_env() -> Callable[[], int]:
    """The same in Stable-Baselines3's API, masks asked for as MaskablePPO does."""
    env = tetrarchia_v0.sb3_vec_env(ENVS, seed=1, copy=False)
    env.reset()
    rngs = batch.rng_states(np.arange(ENVS, dtype=np.uint64))

    def play() -> int:
        masks = env.env_method("action_masks").view(np.int8)
        env.step(batch.random_actions(masks, rngs))
        return ENVS

    return play


def single() -> Callable[[], int]:
    """One random game in the Gymnasium API."""
    env = gymnasium.make(tetrarchia_v0.GYMNASIUM_ID).unwrapped
    rng = random.Random(1)

    def play() -> int:
        obs, _ = env.reset(seed=rng.getrandbits(32))
        steps, over = 0, False
        while not over:
            obs, _, terminated, truncated, _ = env.step(choose(rng, obs["action_mask"]))
            steps, over = steps + 1, terminated or truncated
        return steps

    return play


def aec(env: Any) -> Callable[[], int]:
    """One random game in a PettingZoo AEC environment with masks, ours or another."""
    rng = random.Random(1)

    def play() -> int:
        env.reset(seed=rng.getrandbits(31))
        steps = 0
        for _ in env.agent_iter():
            obs, _, terminated, truncated, info = env.last()
            mask = obs["action_mask"] if "action_mask" in obs else info["action_mask"]
            env.step(None if terminated or truncated else choose(rng, mask))
            steps += 1
        return steps

    return play


def pictures() -> Callable[[], int]:
    """Every position of random games, each game a new one: what is kept of a picture helps only the next ones."""
    rng = random.Random(1)

    def play() -> int:
        frames = list(frames_of_play(Options(), rng.getrandbits(32), lambda _, mask: choose(rng, mask)))
        for frame in frames:
            draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice)
        return len(frames)

    return play


def match(agent: str, games: int) -> float:
    """Seconds that the arena takes for so many games, its processes started and nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        play_match(match_spec(agent, games, levels=["4200"]), os.path.join(folder, "match.jsonl"), workers=2)
        return time.perf_counter() - begun


def training(presets: tuple[str, ...]) -> Iterator[Row]:
    """PPO from end to end and by its parts, in a process of its own: it sets torch's threads."""
    done = subprocess.run([sys.executable, "-m", "tetrarchia_train.speed", *presets], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines()[-len(presets) :]:
        found = json.loads(line)
        yield Row(f"training, preset {found['preset']}, both cores", found["fps"], "steps/s")
        for part, microseconds in found["microseconds"].items():
            yield Row(f"training, preset {found['preset']}, one core: {part}", microseconds, "us/step")


def choose(rng: random.Random, mask: Any) -> int:
    """One of the legal actions."""
    legal = np.flatnonzero(mask)
    return int(legal[rng.randrange(len(legal))])


def start_up(checkout: Path | None = None) -> Iterator[Row]:
    """Seconds in a new process: compiling everything, and finding it compiled; by the code of another checkout if one is given."""
    code = f" ({checkout.name})" if checkout else ""
    with tempfile.TemporaryDirectory() as cache:
        _, step, decision = seconds_of(START, cache, checkout)
        warm, _, warm_decision = seconds_of(START, cache, checkout)
    yield Row(f"import, compile from cold, reset and step{code}", step, "s")
    yield Row(f"then compile the search, and the planner's first decision{code}", decision - step, "s")
    yield Row(f"import to first reset, compiled before{code}", warm, "s")
    yield Row(f"then first step and the planner's first decision, compiled before{code}", warm_decision - warm, "s")


def compiled_ahead() -> Iterator[Row]:
    """Seconds that a command takes to compile everything."""
    with tempfile.TemporaryDirectory() as cache:
        [ahead] = seconds_of(AHEAD, cache)
    yield Row("rules and search compiled ahead by a command, in two processes", ahead, "s")


def seconds_of(script: str, cache: str, checkout: Path | None = None) -> list[float]:
    """What a script prints in a new process with this folder for the compiler's cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    if checkout:
        environment["PYTHONPATH"] = os.pathsep.join(str(folder) for folder in (checkout, *(checkout / name for name in PACKAGES)))
    run = subprocess.run([sys.executable, "-P", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def report(rows: list[Row]) -> str:
    """The rows as JSON, with what they belong to."""
    return json.dumps({**surroundings(), "rows": [asdict(row) for row in rows]}, indent=1) + "\n"


def surroundings() -> dict[str, Any]:
    """The machine, the versions and the date that figures belong to."""
    libraries = {"numba": numba, "numpy": np, "gymnasium": gymnasium, "pettingzoo": pettingzoo}
    machine = {"processor": processor(), "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    versions = {"tetrarchia": __version__} | {name: library.__version__ for name, library in libraries.items()}
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine, "versions": versions}


def processor() -> str:
    """Its model where the system tells, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
