"""Damage the files of a run and resume it. `python fuzz_run_folders.py FOLDER SEED CASES` prints how many were refused and resumed."""

import faulthandler
import io
import os
import random
import re
import resource
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_train import run
from tetrarchia_train.config import TrainConfig, read_preset

SECONDS = 60.0  # CPU time per case, so that other processes do not matter
MEMORY = 12 << 30
NUMBERS = [-1, 0, 1, 2, 3, 255, 2**31, 2**62, -(2**63)]
# No huge but valid options: such a run would take years.
WORDS = ["0", "-1", "1e400", ".nan", "null", "[]", "{}", "[[[[[]]]]]", "true", "'x'", "2", "64", "300", "&a", "&a [*a]", "- 1"]
WORDS += ["!!python/none", "2026-13-45", "1:99"]
Mutation = Callable[[bytes, random.Random], bytes]


def flip(content: bytes, rng: random.Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 4, 64])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    """Truncate the content."""
    return content[: rng.randrange(len(content))]


def insert(content: bytes, rng: random.Random) -> bytes:
    """Insert some bytes."""
    place = rng.randrange(len(content))
    return content[:place] + rng.randbytes(rng.choice([1, 8, 500])) + content[place:]


def renumber(content: bytes, rng: random.Random) -> bytes:
    """Replace a value in a text file."""
    values = list(re.finditer(rb"(?<=: )[^\n,}]+", content)) or list(re.finditer(rb".+", content))
    chosen = rng.choice(values)
    return content[: chosen.start()] + rng.choice(WORDS).encode() + content[chosen.end() :]


def rewrite(content: bytes, rng: random.Random) -> bytes:
    """Replace some of the arrays in an .npz file."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name].copy() for name in file}
    name = rng.choice(list(arrays))
    arrays[name] = rearranged(arrays[name], rng)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def rearranged(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return the array with random, fewer or converted elements, or with some integers changed."""
    match rng.randrange(6):
        case 0:
            return np.frombuffer(rng.randbytes(array.nbytes), dtype=array.dtype).reshape(array.shape)
        case 1:
            return array[: rng.randrange(len(array) + 1)]
        case 2:
            return (array.view(np.uint8) if array.dtype.names else array).astype(rng.choice([np.float64, np.int8, np.uint16]))
    if array.size and array.nbytes % 8 == 0 and array.flags.c_contiguous:
        numbers = array.reshape(-1).view(np.int64)
        for _ in range(rng.choice([1, 3])):
            numbers[rng.randrange(len(numbers))] = rng.choice(NUMBERS)
    return array


GENERAL: list[Mutation] = [flip, cut, insert]
FILES: dict[str, list[Mutation]] = {
    "options.yaml": [renumber, renumber, renumber, *GENERAL],
    "progress.jsonl": [renumber, *GENERAL],
    "resume/counters.json": [renumber, renumber, *GENERAL],
    "resume/weights.safetensors": GENERAL,
    "resume/optimizer.safetensors": GENERAL,
    "resume/arrays-0.npz": [rewrite, rewrite, rewrite, *GENERAL],
    "demonstrations.npz": [rewrite, rewrite, rewrite, *GENERAL],
}


def config() -> TrainConfig:
    return read_preset("tiny").with_overrides({"expert": "greedy", "num_demonstrations": 100, "total_timesteps": 128, "n_eval_episodes": 1})


def case(good: Path, rng: random.Random) -> bool:
    """Damage one or two files of a run; return whether it resumed."""
    folder = Path("runs/case")
    shutil.rmtree(folder, ignore_errors=True)
    names = rng.sample(list(FILES), rng.choice([1, 1, 1, 2]))
    shutil.copytree(good, folder)
    for name in names:
        (folder / name).write_bytes(rng.choice(FILES[name])((folder / name).read_bytes(), rng))
    if "demonstrations.npz" in names:  # read only by a run without later stages
        for stage in ("resume", "bc", "latest", "final"):
            shutil.rmtree(folder / stage, ignore_errors=True)
    try:
        run.resume("case", {"total_timesteps": "256", "eval_freq": "128", "processes": "1"} if rng.random() < 0.5 else {})
    except TetrarchiaError as error:
        sentence = str(error)
    else:
        return True
    assert sentence, names
    assert "\n" not in sentence, (names, sentence)
    return False


def main(folder: str, seed: str, cases: str) -> None:
    """Run all cases."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    os.chdir(folder)
    run.train(config(), "good")
    went_on = 0
    for number in range(int(cases)):
        rng, began = random.Random(f"{seed} {number}"), time.process_time()
        try:
            went_on += case(Path("runs/good"), rng)
        except BaseException:
            print(f"case {number}", file=sys.stderr)
            raise
        assert time.process_time() - began < SECONDS, number
    print(int(cases) - went_on, went_on)


if __name__ == "__main__":
    main(*sys.argv[1:])
