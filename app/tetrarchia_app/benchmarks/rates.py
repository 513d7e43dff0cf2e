"""Speed of the engine, of each environment API and of training, start-up and compile times, and the speed of other games' environments."""

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium
import numba
import numpy as np
import pettingzoo

from tetrarchia_agents import make_agent
from tetrarchia_agents.compiling import compile_ahead
from tetrarchia_env import __version__, batch, tetrarchia_v0
from tetrarchia_env.constants import MODULES, VARIANTS
from tetrarchia_env.game import Game
from tetrarchia_env.options import Options
from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_eval.arena import match_spec, play_match

CONFIGURATIONS: dict[str, dict[str, Any]] = {"base game": {}, "everything on": {"variants": VARIANTS, "modules": MODULES}}
LOCAL_CONFIGURATIONS: dict[str, dict[str, Any]] = {  # R14
    "view radius 2": {"view_radius": 2},
    "view radius 2 with last seen": {"view_radius": 2, "last_seen": True},
    "view radius 2 with last seen and 4 tokens": {"view_radius": 2, "last_seen": True, "message_tokens": 4},
}
NUM_ENVS = 512
PACKAGE_FOLDERS = ("", "agents", "train", "eval", "app")  # of a checkout
PETTINGZOO_GAMES = ("tictactoe_v3", "connect_four_v3", "hanabi_v5")
OPEN_SPIEL_GAMES = ("hanabi", "backgammon")
BATCH, SB3 = "batch with observation and mask", "Stable-Baselines3 VecEnv"  # rows
COMPARISONS = (  # our row, the row that it is compared with, and the ratio that is the goal
    (f"{BATCH}, base game", "OpenSpiel hanabi", 15),
    ("AEC, raw_env", "PettingZoo hanabi_v5", 10),
    ("AEC, env", "PettingZoo hanabi_v5", 3),
    *((f"{BATCH}, {name}", f"{BATCH}, base game", 0.6) for name in LOCAL_CONFIGURATIONS),
    *((f"{SB3}, {name}", SB3, 0.6) for name in LOCAL_CONFIGURATIONS),
)
START_UP = """
import time
start = time.perf_counter()
from tetrarchia_env.batch import new_games, step
from tetrarchia_env.options import Options
games, masks = new_games(Options(), 0)
first_reset = time.perf_counter() - start
step(games, masks.argmax(axis=1), masks)
first_step = time.perf_counter() - start
import numpy as np
from tetrarchia_agents import TeamPolicy, make_agents
team = TeamPolicy(make_agents("planner"), env_ids=1)
team.begin(np.array([0]), 1)
team.act(games, masks, np.array([0]))
print(first_reset, first_step, time.perf_counter() - start)
"""
COMPILE_AHEAD = """
import time
start = time.perf_counter()
from tetrarchia_agents.compiling import compile_ahead
compile_ahead(search=True)
print(time.perf_counter() - start)
"""
PlaySteps = Callable[[], int]  # plays some steps and returns how many


@dataclass(frozen=True)
class Row:
    """One measured value."""

    what: str
    value: float
    unit: str


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        seconds: Duration of one round.
        rounds: Number of rounds, of which the median is reported.
        games: Number of games of a playout.
        presets: Training presets to measure; `ppo:mlp` shows what the graph layers of `ppo` cost.
    """

    seconds: float = 1.0
    rounds: int = 5
    games: int = 20_000
    presets: tuple[str, ...] = ("ppo", "ppo-more", "ppo:mlp", "small")


def measure(effort: Effort | None = None) -> Iterator[Row]:
    """Measure everything of this project, on one core except for the arena and training."""
    effort = effort or Effort()
    compile_ahead(search=True)
    for name, arguments in CONFIGURATIONS.items():
        yield from measure_playouts(name, Options(**arguments), effort)
    for name, arguments in (CONFIGURATIONS | LOCAL_CONFIGURATIONS).items():
        yield Row(f"{BATCH}, {name}", rate(vector(**arguments), effort), "steps/s")
    if find_spec("stable_baselines3"):
        yield Row(SB3, rate(sb3(), effort), "steps/s")
        for name, arguments in LOCAL_CONFIGURATIONS.items():
            yield Row(f"{SB3}, {name}", rate(sb3(**arguments), effort), "steps/s")
    if find_spec("torch"):
        yield Row(
            "batch with ppo partners, one seat, base game", rate(vector(seat="galerius", partners=make_agent("ppo")), effort), "steps/s"
        )
    yield Row("Gymnasium", rate(gymnasium_env(), effort), "steps/s")
    yield Row("AEC, raw_env", rate(aec(tetrarchia_v0.raw_env()), effort), "steps/s")
    yield Row("AEC, env", rate(aec(tetrarchia_v0.env()), effort), "steps/s")
    yield Row("parallel, parallel_env", rate(parallel(tetrarchia_v0.parallel_env()), effort), "steps/s")
    if find_spec("resvg_py"):
        yield Row("pictures, 900 px", rate(pictures(), effort), "frames/s")
    for agent, games in {"random": effort.games // 2, "planner": effort.games // 20}.items():
        yield Row(f"{games:,} games of {agent} at 4200, both cores", match_seconds(agent, games), "s")
    if find_spec("sb3_contrib"):
        yield from measure_training(effort.presets)
    yield from measure_start_up()
    with tempfile.TemporaryDirectory() as cache:
        [seconds] = run_script(COMPILE_AHEAD, cache)
    yield Row("rules and search compiled ahead by a command, in two processes", seconds, "s")


def measure_playouts(name: str, options: Options, effort: Effort) -> Iterator[Row]:
    """Measure random play to the end of the game, with the mask of each step."""
    steps_per_second, games_per_second = [], []
    for number in range(effort.rounds + 1):
        games, masks = batch.new_games(options, np.arange(number * effort.games, (number + 1) * effort.games))
        rngs = batch.rng_states(np.arange(effort.games, dtype=np.uint64))
        start = time.perf_counter()
        steps = batch.playout(games, masks, rngs, steps=1_000_000)
        seconds = time.perf_counter() - start
        if number:  # the first round warms up
            steps_per_second.append(steps / seconds)
            games_per_second.append(effort.games / seconds)
    yield Row(f"playouts, {name}", median(steps_per_second), "steps/s")
    yield Row(f"playouts, {name}", median(games_per_second), "games/s")


def rate(play: PlaySteps, effort: Effort) -> float:
    """Return the steps per second of the median round."""
    play()
    rates = []
    for _ in range(effort.rounds):
        start, steps = time.perf_counter(), 0
        while time.perf_counter() - start < effort.seconds:
            steps += play()
        rates.append(steps / (time.perf_counter() - start))
    return median(rates)


def vector(**arguments: Any) -> PlaySteps:
    """Play at random in the vector API, without copying observations."""
    env = tetrarchia_v0.vector_env(NUM_ENVS, copy=False, autoreset_mode="SameStep", **arguments)
    obs, _ = env.reset(seed=1)
    rngs = batch.rng_states(np.arange(NUM_ENVS, dtype=np.uint64))

    def play() -> int:
        nonlocal obs
        obs, *_ = env.step(batch.random_actions(obs["action_mask"], rngs))
        return NUM_ENVS

    return play


def sb3(**arguments: Any) -> PlaySteps:
    """Play at random in Stable-Baselines3's API, requesting masks as MaskablePPO does."""
    env = tetrarchia_v0.sb3_vec_env(NUM_ENVS, seed=1, copy=False, **arguments)
    env.reset()
    rngs = batch.rng_states(np.arange(NUM_ENVS, dtype=np.uint64))

    def play() -> int:
        masks = env.env_method("action_masks").view(np.int8)
        env.step(batch.random_actions(masks, rngs))
        return NUM_ENVS

    return play


def gymnasium_env() -> PlaySteps:
    """Play one random game in the Gymnasium API."""
    env = gymnasium.make("Tetrarchia-v0").unwrapped
    rng = random.Random(1)

    def play() -> int:
        obs, _ = env.reset(seed=rng.getrandbits(32))
        steps, over = 0, False
        while not over:
            obs, _, terminated, truncated, _ = env.step(random_action(rng, obs["action_mask"]))
            steps, over = steps + 1, terminated or truncated
        return steps

    return play


def aec(env: Any) -> PlaySteps:
    """Play one random game in a PettingZoo AEC environment with masks, ours or another."""
    rng = random.Random(1)

    def play() -> int:
        env.reset(seed=rng.getrandbits(31))
        steps = 0
        for _ in env.agent_iter():
            obs, _, terminated, truncated, info = env.last()
            mask = obs["action_mask"] if "action_mask" in obs else info["action_mask"]
            env.step(None if terminated or truncated else random_action(rng, mask))
            steps += 1
        return steps

    return play


def parallel(env: Any) -> PlaySteps:
    """Play one random game in our PettingZoo parallel environment; a step is one decision of the acting agent."""
    rng = random.Random(1)

    def play() -> int:
        observations, _ = env.reset(seed=rng.getrandbits(31))
        steps = 0
        while env.agents:
            observations, *_ = env.step({agent: random_action(rng, obs["action_mask"]) for agent, obs in observations.items()})
            steps += 1
        return steps

    return play


def pictures() -> PlaySteps:
    """Draw every position of a random game; a new game each time, because the drawing caches parts of the last pictures."""
    rng = random.Random(1)

    def play() -> int:
        frames = list(Game.from_options(Options(), rng.getrandbits(32), lambda game: random_action(rng, game.masks[0])).frames())
        for frame in frames:
            draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice)
        return len(frames)

    return play


def random_action(rng: random.Random, mask: Any) -> int:
    """Return a random legal action."""
    legal = np.flatnonzero(mask)
    return int(legal[rng.randrange(len(legal))])


def match_seconds(agent: str, games: int) -> float:
    """Return how long the arena takes for these games, including the start of its processes."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        play_match(match_spec(agent, games, levels=["4200"]), os.path.join(folder, "match.jsonl"), workers=2)
        return time.perf_counter() - start


def measure_training(presets: tuple[str, ...]) -> Iterator[Row]:
    """Measure PPO and its parts in another process, because it sets torch's threads."""
    done = subprocess.run([sys.executable, "-m", "tetrarchia_train.speed", *presets], capture_output=True, text=True, check=True)
    for found in (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")):
        if "fps" in found:
            cores = "both cores" if found["processes"] > 1 else "one core"
            yield Row(f"training, preset {found['preset']}, {cores}", found["fps"], "steps/s")
        for part, microseconds in found.get("microseconds", {}).items():
            yield Row(f"training, preset {found['preset']}, one core: {part}", microseconds, "us/step")


def measure_start_up(checkout: Path | None = None) -> Iterator[Row]:
    """Measure a new process with an empty compiler cache and with a filled one.

    Args:
        checkout: Measure the code of this checkout of the project instead of the installed one.
    """
    suffix = f" ({checkout.name})" if checkout else ""
    with tempfile.TemporaryDirectory() as cache:
        _, step, decision = run_script(START_UP, cache, checkout)
        warm, _, warm_decision = run_script(START_UP, cache, checkout)
    yield Row(f"import, compile from cold, reset and step{suffix}", step, "s")
    yield Row(f"then compile the search, and the planner's first decision{suffix}", decision - step, "s")
    yield Row(f"import to first reset, compiled before{suffix}", warm, "s")
    yield Row(f"then first step and the planner's first decision, compiled before{suffix}", warm_decision - warm, "s")


def run_script(script: str, cache: str, checkout: Path | None = None) -> list[float]:
    """Return the numbers that a script prints in a new process with this folder as the compiler cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    if checkout:
        environment["PYTHONPATH"] = os.pathsep.join(str(checkout / folder) for folder in PACKAGE_FOLDERS)
    run = subprocess.run([sys.executable, "-P", "-c", script], env=environment, capture_output=True, text=True, check=True)
    return [float(word) for word in run.stdout.split()]


def measure_peers(effort: Effort | None = None) -> Iterator[Row]:
    """Measure the environments of other games, those that are installed, in the same way as ours."""
    effort = effort or Effort()
    for name in PETTINGZOO_GAMES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # newer versions have a registry instead
                env = import_module(f"pettingzoo.classic.{name}").env()
        except ImportError:
            continue
        yield Row(f"PettingZoo {name}", rate(aec(env), effort), "steps/s")
    if find_spec("pyspiel"):
        for name in OPEN_SPIEL_GAMES:
            yield Row(f"OpenSpiel {name}", rate(open_spiel(name), effort), "steps/s")


def open_spiel(name: str) -> PlaySteps:
    """Play one random game of OpenSpiel, requesting the observation tensor and the mask at each decision."""
    game = import_module("pyspiel").load_game(name)
    rng = random.Random(1)

    def play() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, chances)[0])
                continue
            state.observation_tensor()
            state.apply_action(random_action(rng, state.legal_actions_mask()))
            steps += 1
        return steps

    return play


def ratios(rows: list[Row]) -> Iterator[Row]:
    """Return how many times as fast one row is as another, for the pairs of `COMPARISONS` that were measured."""
    values = {row.what: row.value for row in rows if row.unit == "steps/s"}
    for ours, peer, goal in COMPARISONS:
        if ours in values and peer in values:
            yield Row(f"{ours} / {peer} (goal: {goal})", values[ours] / values[peer], "times")


def report(rows: list[Row]) -> str:
    """Return the rows as JSON, with the date, the machine and the versions."""
    libraries = {"numba": numba, "numpy": np, "gymnasium": gymnasium, "pettingzoo": pettingzoo}
    machine = {"processor": processor(), "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    versions = {"tetrarchia": __version__} | {name: library.__version__ for name, library in libraries.items()}
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"date": date, "machine": machine, "versions": versions, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"


def processor() -> str:
    """Return the model of the processor on Linux, elsewhere its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
