"""Damaged inputs for compiled code: snapshots, arrays, and the bytes of environments."""

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fuzz.damaged_files import RULES
from helpers.mutations import NASTY, mutated
from helpers.random_games import EVERYTHING
from tetrarchia_env import batch, tetrarchia_v0
from tetrarchia_env.notation import restore, snapshot

STEPS = 50


@cache
def positions() -> list[dict[str, Any]]:
    """Return snapshots of random games, many of them in the boost and block phases."""
    games, found = [], []
    for number, rules in enumerate(RULES):
        rows, masks = batch.new_games(rules, range(16))
        rngs = batch.rng_states(np.arange(16, dtype=np.uint64) + np.uint64(100 * number + 1))
        for _ in range(12):
            batch.playout(rows, masks, rngs, 9)
            games += [rows[i].copy() for i in range(16)]
    for game in games:
        found.append(snapshot(game))
    asked = [position for position in found if position["phase"] in ("boost", "block")]
    return [*found, *asked * 10]


def play_on(games: batch.Games, chance: random.Random, steps: int = STEPS) -> None:
    masks = batch.legal_masks(games)
    for _ in range(chance.randint(0, steps)):
        batch.observe(games)
        if not masks.any(axis=1).all():
            return
        batch.step(games, np.array([chance.choice(np.flatnonzero(row).tolist()) for row in masks]), masks)


def snapshots(chance: random.Random) -> None:
    position = dict(chance.choice(positions()))
    if chance.random() < 0.5:  # combine entries of two valid snapshots
        other = chance.choice(positions())
        position |= {name: other[name] for name in chance.sample(sorted(other), chance.randint(1, 3))}
    if chance.random() < 0.7:
        position = mutated(position, chance, most=chance.choice([1, 1, 4]))
    play_on(restore(position), chance)


def any_array(chance: random.Random, number: int) -> Any:
    """Return an array with valid or invalid type, shape, length, order and values."""
    shape = chance.choice([(number,)] * 6 + [(number - 1,), (number + 1,), (0,), (1,), (), (number, 1), (1, number), (4096,)])
    values = np.random.default_rng(chance.randrange(2**32)).integers(*chance.choice([(0, 455), (0, 12), (-5, 5), (-(2**62), 2**62)]), shape)
    kinds = [np.int64] * 6 + [np.int8, np.int32, np.uint64, np.float64, np.float16, np.bool_, object, "U5", "M8[s]", np.complex128, ">i8"]
    with np.errstate(all="ignore"):
        array = values.astype(chance.choice(kinds))
    forms: list[Callable[[], Any]] = [
        lambda: array, lambda: array, lambda: array, lambda: array.tolist(), lambda: np.repeat(array, 2)[::2], lambda: np.flip(array),
        lambda: memoryview(bytes(8 * number)), lambda: np.ma.array(array), lambda: chance.choice(NASTY), lambda: [[1], [1, 2]],
        lambda: np.broadcast_to(np.int64(8), (number,)), lambda: iter([8] * number), lambda: {8: 8},
    ]  # fmt: skip
    return chance.choice(forms)()


@cache
def environments() -> list[tuple[int, Callable[[Any], Any], Callable[[], Any]]]:
    vector, sb3 = tetrarchia_v0.vector_env(5, max_turns=3), tetrarchia_v0.sb3_vec_env(7, max_turns=3)
    vector.reset(seed=1)
    sb3.reset()
    legal = [lambda: vector.batched.masks, lambda: sb3.batched.masks]
    return [(5, vector.step, legal[0]), (7, sb3.step, legal[1])]


def actions(chance: random.Random) -> None:
    number, step, masks = chance.choice(environments())
    if chance.random() < 0.3:
        step(masks().argmax(axis=1))
        return
    if chance.random() < 0.5:
        step(any_array(chance, number))
        return
    games, rows = _any_games(chance)
    number = len(rows)
    {
        0: lambda: batch.step(games, any_array(chance, number), rows),
        1: lambda: batch.step(games, batch.random_actions(rows, _rngs(chance, len(rows))), rows),
        2: lambda: batch.observe(games, any_array(chance, number)),
        3: lambda: batch.playout(games, rows, _rngs(chance, number), chance.choice([0, 1, 30, -1, 2.5, 10**30])),
        4: lambda: batch.play_to_end(games, rows, lambda g, m, r: any_array(chance, len(g))),
        5: lambda: batch.reset(games, RULES[1], any_array(chance, number), rows),
    }[chance.randrange(6)]()


def _any_games(chance: random.Random) -> tuple[Any, Any]:
    """Return games with masks that are correct, of other games, all ones, or of a wrong type or shape."""
    games = np.concatenate([restore(chance.choice(positions())) for _ in range(chance.randint(1, 4))])
    masks = batch.legal_masks(games)
    kind = chance.randrange(8)
    if kind == 0:
        masks = np.roll(masks, 1, axis=0)
    elif kind == 1:
        masks = np.ones_like(masks)
    elif kind == 2:
        masks = chance.choice([masks[:-1], masks[:, :109], masks.astype(bool), masks.astype(float), masks.copy() * 0])
    elif kind == 3:
        games = chance.choice([games.view(np.uint8), games["turn"], games.reshape(1, -1), list(games), None, games[:0]])
    elif kind == 4:
        games.setflags(write=False)
    return games, masks


def _rngs(chance: random.Random, number: int) -> Any:
    right = np.arange(1, number + 1, dtype=np.uint64)
    return chance.choice([right, right, right, right[:-1], right.astype(np.int64), right.astype(float), None, right * 0])


def states(chance: random.Random) -> None:
    """Damage some bytes of a vector environment's state, restore it and step."""
    env = _vector(chance.choice(["NextStep", "SameStep"]))
    env.reset(seed=chance.randrange(1000))
    for _ in range(chance.randint(0, 10)):
        env.step(_legal(env.batched.masks, chance))
    state = env.batched.state()
    name = chance.choice(sorted(state))
    state[name] = _damaged_rows(state[name], chance)
    env.batched.set_state(state)
    for _ in range(STEPS if chance.random() < 0.5 else 3):
        env.step(_legal(env.batched.masks, chance))


@cache
def _vector(autoreset_mode: str) -> Any:
    return tetrarchia_v0.vector_env(3, autoreset_mode=autoreset_mode, **EVERYTHING.arguments())


def _legal(masks: Any, chance: random.Random) -> Any:
    return np.array([chance.choice(np.flatnonzero(row).tolist() or [0]) for row in masks])  # a finished game accepts any action


def _damaged_rows(rows: Any, chance: random.Random) -> Any:
    damaged = rows.copy()
    kind = chance.randrange(5)
    if kind == 0:
        return chance.choice([rows[:-1], rows[:, :-1], rows.astype(np.int64), rows.tobytes(), None, rows.reshape(-1)])
    words = damaged.view(np.int64) if damaged.shape[1] % 8 == 0 else damaged
    for _ in range(chance.randint(1, 3)):
        row, column = chance.randrange(words.shape[0]), chance.randrange(words.shape[1])
        if kind == 1:
            words[row, column] ^= 1 << chance.randrange(8 * words.itemsize - 1)
        else:
            words[row, column] = chance.choice([0, 1, 2, 3, 4, 5, 6, 7, 20, 47, 48, 49, 50, 100])
    return damaged
