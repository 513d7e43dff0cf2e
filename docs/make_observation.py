"""Write docs/observation.md from the layout in tetrarchia_env/observation.py: `python docs/make_observation.py`."""

from collections.abc import Iterator
from pathlib import Path

from tetrarchia_env.board import SPACES
from tetrarchia_env.observation import BY_SPACE, OBSERVATION, OTHERS, SIZE

PAGE = Path(__file__).parent / "observation.md"
HEAD = f"""\
<!-- Written by docs/make_observation.py from tetrarchia_env/observation.py: change that file, not this page. -->
# The observation

One vector of {SIZE} float32 numbers from -1 to 1, the same layout for every configuration. It holds everything that the
rest of the game depends on except the dice, as one Emperor observes it: *own* is he, *second*, *third* and *fourth* are the
others in turn order after him.

To use the parts by name, view rows of observations as records:

```python
from tetrarchia_env import vector_env
from tetrarchia_env.observation import OBSERVATION

observations, infos = vector_env(8).reset(seed=0)
views = observations["observation"].view(OBSERVATION)[:, 0]
assert views["revolt"].shape == (8, 1, {SPACES})
```

The first {sum(rows for rows, _ in BY_SPACE.values())} rows have one number for each of the {SPACES} spaces, in the order of
[the board](board.md)'s ids: `observations[:, :{SPACES * sum(rows for rows, _ in BY_SPACE.values())}]` reshaped to (games, rows,
{SPACES}) is the input of a graph network, whose graph is `tetrarchia_env.BOARD.links`.

| index | part | shape | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    return HEAD + "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    first = 0
    for name, (rows, meaning) in (BY_SPACE | OTHERS).items():
        size = OBSERVATION[name].itemsize // 4
        shape = f"{rows} x {SPACES}" if name in BY_SPACE else str(rows)
        last = first + size - 1
        yield f"| {first} to {last} | `{name}` | {shape} | {meaning} |" if size > 1 else f"| {first} | `{name}` | 1 | {meaning} |"
        first += size


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
