"""The speed of other games' environments, measured as ours are, where they are installed."""

import random
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tetrarchia_app.benchmarks.rates import Effort, Row, aec, choose, rate

PETTINGZOO = ("tictactoe_v3", "connect_four_v3", "hanabi_v5")
OPEN_SPIEL = ("hanabi", "backgammon")
COMPARED = (  # ours, the peer's, and the ratio that we aim at
    ("batch with observation and mask, base game", "OpenSpiel hanabi", 15),
    ("AEC, raw_env", "PettingZoo hanabi_v5", 10),
    ("AEC, env", "PettingZoo hanabi_v5", 3),
)


def measure_peers(effort: Effort | None = None) -> Iterator[Row]:
    """A row for each environment that can be made here."""
    effort = effort or Effort()
    for name in PETTINGZOO:
        env = _pettingzoo(name)
        if env is not None:
            yield Row(f"PettingZoo {name}", rate(aec(env), effort), "steps/s")
    if find_spec("pyspiel"):
        for name in OPEN_SPIEL:
            yield Row(f"OpenSpiel {name}", rate(open_spiel(name), effort), "steps/s")


def ratios(rows: list[Row]) -> Iterator[Row]:
    """How many times as fast ours are, for the pairs that were measured."""
    values = {row.what: row.value for row in rows if row.unit == "steps/s"}
    for ours, peer, aim in COMPARED:
        if ours in values and peer in values:
            yield Row(f"{ours} / {peer} (aim: {aim})", values[ours] / values[peer], "times")


def _pettingzoo(name: str) -> Any:
    """The environment, or None if what it needs is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # newer versions have a registry instead
            return import_module(f"pettingzoo.classic.{name}").env()
    except ImportError:
        return None


def open_spiel(name: str) -> Callable[[], int]:
    """One random game; observation tensor and mask of legal actions are asked for at each decision."""
    pyspiel = import_module("pyspiel")
    game = pyspiel.load_game(name)
    rng = random.Random(1)

    def play() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, chances)[0])
                continue
            state.observation_tensor()
            state.apply_action(choose(rng, state.legal_actions_mask()))
            steps += 1
        return steps

    return play
