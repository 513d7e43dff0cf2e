"""Golden play-throughs: any change of the rules, the dice or the notation shows as a line that differs."""

import re

import pytest

from helpers.configurations import ONE_BY_ONE
from helpers.play_through import GOLDEN, golden_text

SHOWN = {  # events that each file must contain
    "imperivm": [": imperivm", ": boost", ": block", ": order "],
    "patres_patriae": [": take", ": give"],
    "the_great": [r"glory\.\w+: 0 -> 1", r"glory\.\w+: 1 -> 0"],
    "dux": ["dux attack", "dux subdue", r"dux: [A-Z ]+ -> gone"],
    "pirates": ["attack PIRATES", "pirates: [A-Z]+ -> gone", "pirates: gone -> [A-Z]+"],
    "goths": ["'goths'", ": attack "],
    "carausian_revolt": [": attack BRITANNIA"],
}


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_play_through_equals_its_golden_file(name: str) -> None:
    kept = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for number, (line, expected) in enumerate(zip(golden_text(name).splitlines(), kept, strict=True), 1):
        assert line == expected, f"line {number} of {name}.txt"


@pytest.mark.parametrize("name", SHOWN)
def test_golden_file_contains_its_events(name: str) -> None:
    text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert [pattern for pattern in SHOWN[name] if not re.search(pattern, text)] == []
