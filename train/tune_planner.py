"""Tunes the weights by which the planner judges positions: `python -m train.tune_planner`.

Round by round the planner plays games with its present weights, a few actions at random for breadth; then the weights
are fitted so that the logistic function of the weighted counts tells, from any position on the way, whether the game was
won; a win is worth 2 % less for each turn that it is away, else the planner would see no reason to get on with it.
"""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from agents import Seats, seat
from agents.planner import PlannerAgent
from agents.search.evaluation import COUNTS, KEPT, counts_of, load_weights, weights_of
from eval.statistics import wilson
from tetrarchia_env import batch
from tetrarchia_env.engine.state import ARRIVAL, GAME, OVER, ROMAN, WON
from tetrarchia_env.files import write_whole
from tetrarchia_env.options import Options

LEVELS = ("4200", "4211", "4222", "5300", "4100", "3200", "4201", "4210")
DISCOUNT = 0.98  # of a win, for each turn
LONGEST = 150  # turns
CHUNK = 100  # games that a process plays side by side
HELD_OUT = 2**40  # seeds from here on are for measuring

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lesson:
    """Positions by their counts, and what came of each."""

    counts: Floats
    worth: Floats  # 0 if the game was not won

    @classmethod
    def joined(cls, lessons: list["Lesson"]) -> "Lesson":
        """All of them as one."""
        return cls(np.concatenate([one.counts for one in lessons]), np.concatenate([one.worth for one in lessons]))


def play_games(first_seed: int, *, weights: Floats, levels: tuple[str, ...], noise: float) -> tuple[Lesson, int]:
    """A chunk of games by a planner with these weights that does the share `noise` of its actions at random; also the games won."""
    seeds = range(first_seed, first_seed + CHUNK)
    games, masks = batch.new_games(Options(level=list(levels), max_turns=LONGEST), seeds)
    agent = PlannerAgent()
    object.__setattr__(agent, "weights", weights_of(weights))
    seats, generator = Seats(seat([agent]), CHUNK), np.random.default_rng(first_seed)
    seats.begin(np.arange(CHUNK), seeds)
    positions, lanes = [np.zeros(0, GAME)], [np.zeros(0, np.int64)]
    while len(running := np.flatnonzero(games["phase"] != OVER)):
        judged = running[np.isin(games["phase"][running], (ROMAN, ARRIVAL))]
        positions.append(games[judged])
        lanes.append(judged)
        actions = np.zeros(CHUNK, np.int64)
        actions[running] = seats.act(games[running], masks[running], running)
        strays = running[generator.random(len(running)) < noise]
        actions[strays] = batch.random_actions(masks[strays], generator.integers(1, 2**63, len(strays), dtype=np.uint64))
        batch.step(games, actions, masks)
    seen, lane = np.concatenate(positions), np.concatenate(lanes)
    won = games["outcome"] == WON
    return Lesson(counts_of(seen), won[lane] * DISCOUNT ** (games["turn"][lane] - seen["turn"])), int(won.sum())


def fit(lesson: Lesson, before: Floats, hold: float = 1e-3, steps: int = 40) -> Floats:
    """Logistic regression by Newton's method; `hold` ties the weights, in units of each count's spread, to those before."""
    spread = lesson.counts.std(axis=0) + 1e-3
    spread[0] = 1.0
    counts, weights = lesson.counts / spread, before * spread
    held = weights

    def loss(weights: Floats) -> float:
        logits = counts @ weights
        return float((np.logaddexp(0, logits) - lesson.worth * logits).mean() + hold / 2 * ((weights - held) ** 2).sum())

    for _ in range(steps):
        chances = 1 / (1 + np.exp(-np.clip(counts @ weights, -30, 30)))
        slope = counts.T @ (lesson.worth - chances) / len(chances) - hold * (weights - held)
        curve = (counts.T * (chances * (1 - chances))) @ counts / len(chances) + (hold + 1e-5) * np.eye(len(weights))
        step = np.linalg.solve(curve, slope)
        while (step**2).sum() > 1e-10 and loss(weights + step) > loss(weights):
            step = step / 2
        if (step**2).sum() <= 1e-10:
            break
        weights = weights + step
    return np.asarray(weights / spread)


def text_of(weights: Floats, command: str) -> str:
    """The weights as agents/search/weights.toml keeps them."""
    lines = ["# What the planner's counts are worth; agents/search/evaluation.py says what each counts.", f"# Made by: {command}"]
    return "\n".join(lines + [f"{name} = {weight:.4f}" for name, weight in zip(COUNTS, weights, strict=True)]) + "\n"


def tune(
    rounds: Annotated[int, typer.Option(help="How often to play and fit")] = 8,
    games: Annotated[int, typer.Option(help="Games a round")] = 800,
    noise: Annotated[float, typer.Option(help="Share of actions done at random")] = 0.02,
    measured: Annotated[int, typer.Option(help="Games at 4200 that each round's weights are measured on, without noise")] = 200,
    workers: Annotated[int, typer.Option(help="Processes")] = 2,
    out: Annotated[Path, typer.Option(help="Where the best weights go")] = KEPT,
) -> None:
    """Tune the planner's weights, from those it has; the best round's are kept. About two minutes a round on two cores."""
    weights, best, lessons = np.array(load_weights()[0].tolist()), 0.0, []
    command = f"python -m train.tune_planner --rounds {rounds} --games {games} --noise {noise} --measured {measured}"
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for number in range(rounds + 1):
            test = partial(play_games, weights=weights, levels=("4200",), noise=0.0)
            won = sum(won for _, won in pool.map(test, range(HELD_OUT, HELD_OUT + measured, CHUNK)))
            rate = wilson(won, measured)
            print(f"round {number}: wins {rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%}) of {measured} games at 4200", flush=True)
            if rate.value > best:
                best = rate.value
                write_whole(out, text_of(weights, command))
            seeds = range(number * games, (number + 1) * games, CHUNK)
            played = pool.map(partial(play_games, weights=weights, levels=LEVELS, noise=noise), seeds)
            lessons = [*lessons, Lesson.joined([lesson for lesson, _ in played])][-3:]
            weights = fit(Lesson.joined(lessons), weights)


if __name__ == "__main__":
    typer.run(tune)
