"""The fuzzer itself, in short: the same seed is the same input, and good files pass."""

import json
import random
from pathlib import Path

from fuzz import families
from fuzz.damaged_files import result_lines
from helpers.mutations import mutated, mutated_bytes, mutated_text
from tetrarchia_eval.result_files import load_match


def test_damage_is_seeded() -> None:
    data, text = {"a": [1, 2, {"b": "x"}], "c": 3}, "a = [1, 2]\n"
    for seed in range(50):
        assert repr(mutated(data, random.Random(seed))) == repr(mutated(data, random.Random(seed)))
        assert mutated_text(text, random.Random(seed)) == mutated_text(text, random.Random(seed))
        assert mutated_bytes(b"abc", random.Random(seed)) == mutated_bytes(b"abc", random.Random(seed))
    assert data == {"a": [1, 2, {"b": "x"}], "c": 3}


def test_what_is_damaged_was_good_before(tmp_path: Path) -> None:
    (tmp_path / "match.jsonl").write_text("".join(json.dumps(line) + "\n" for line in result_lines()))
    assert len(load_match(tmp_path / "match.jsonl").games) == 4


def test_some_of_each_family() -> None:
    """Each works or is refused as it should be, which `try_one` checks; damage is refused at least now and then."""
    for name in ("snapshots", "replays", "results", "boards"):
        worked = [families.try_one(name, seed) for seed in range(1000, 1020)]
        assert False in worked
