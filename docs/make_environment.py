"""Write docs/environment.md from the docstring of tetrarchia_v0 and the code's own tables: `python docs/make_environment.py`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from itertools import groupby
from pathlib import Path

from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine import rewards
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.notation import ACTION_TEXTS
from tetrarchia_env.notation.replays import ENVIRONMENT, FORMAT
from tetrarchia_env.options import DIGITS, NORMAL_LEVEL, Options
from tetrarchia_env.spaces import RENDER_MODES

PAGE = Path(__file__).parent / "environment.md"
FACES: tuple[Callable[..., object], ...] = (
    tetrarchia_v0.env,
    tetrarchia_v0.raw_env,
    tetrarchia_v0.parallel_env,
    tetrarchia_v0.vector_env,
    tetrarchia_v0.sb3_vec_env,
)
FEW = 4  # texts that are written out
# The rule of each kind of action, by how its text begins; the longest beginning counts.
RULES = {
    "end": "R4.8", "secure": "R4.5", "subdue": "R4.6", "calm": "R4.6", "sail": "R4.4", "fleet": "R2.6", "enter": "R3.2", "move": "R4.1",
    "attack": "R4.7", "attack PIRATES": "R11.2", "imperivm": "R10.1", "boost": "R10.1", "block": "R10.1", "accept": "R10.1",
    "take": "R10.4", "give": "R10.4", "dux": "R11.1", "dux attack PIRATES": "R11.2", "order": "R10.1",
}  # fmt: skip

HEAD = """\
<!-- Written by docs/make_environment.py from tetrarchia_env/tetrarchia_v0.py and the code's tables: change those, not this page. -->
# The environment
"""
FACES_TEXT = f"""
## Faces

The same rules, arguments and numbers behind each:

```python
import gymnasium
from tetrarchia_env import tetrarchia_v0

aec = tetrarchia_v0.env(level="4200")
single = gymnasium.make("{tetrarchia_v0.GYMNASIUM_ID}", level="4200")
vector = tetrarchia_v0.vector_env(num_envs=512, level=["4200", "4211"], reward="shaped")
```

| made by | what it is |
|---|---|
| `gymnasium.make("{tetrarchia_v0.GYMNASIUM_ID}")` | one player controls all four Emperors |
"""
EMPERORS_TEXT = """
## Agents

Always all four, in turn order. Rewards go to all four at once, and a finished game terminates all four together.

| number | agent | capital |
|---|---|---|
"""
SPACES_TEXT = f"""
Ids below {BASE_ACTIONS} are the whole base game. SPACE is any of the {len(BOARD.names)} spaces, by the ids of [the board](board.md);
`order diocletian` is never legal.
"""
ARGUMENTS_TEXT = """
## Arguments

The same for every face, all optional. A wrong one is a `ValueError` that says what was given and what is allowed.

| argument | default | meaning |
|---|---|---|
"""
LEVEL_TEXT = """
A level is four digits (R2.1):

| digit | means | from | to |
|---|---|---|---|
"""
VECTOR_TEXT = f"""
The vector faces also take:

| argument | meaning |
|---|---|
| `num_envs` | how many games are played side by side |
| `actions` | `"all"`: {ACTIONS} ids; `"base"`: the first {BASE_ACTIONS}, where no variant or module needs more |
| `starts`, `start_share` | snapshots that a share of the games begin from, with new dice |

## Games as data

`info` holds `outcome`, `score`, `turn` and the mask. Of one game you also have, from `env.unwrapped`:

```python
env = tetrarchia_v0.env()
env.reset(seed=7)
game = env.unwrapped
print([game.action_text(action) for action in game.legal_actions()])
kept = game.snapshot()  # plain JSON data: the whole game
copy = game.clone()
copy.reseed(1)  # other dice: a planner must not see those to come
game.restore(kept)
```
"""
FORMATS_TEXT = f"""
Replays and result files say which environment they are of (`{ENVIRONMENT}`) and of which format (replays: {FORMAT}); others are
refused in one sentence. [The changelog](../CHANGELOG.md) tells what changed from package to package.
"""


def page() -> str:
    """The whole page."""
    intro, *chapters = (tetrarchia_v0.__doc__ or "").split("\n### ")
    said = dict(chapter.split("\n", 1) for chapter in chapters)
    faces = (f"| `tetrarchia_v0.{face.__name__}` | {face.__doc__} |" for face in FACES)
    parts = [
        HEAD + _linked(intro.removeprefix("# Tetrarchia\n")),
        FACES_TEXT + _lines(faces) + EMPERORS_TEXT + _lines(_emperors()),
        _chapter("Observation", said["Observation"]),
        _chapter("Actions", said["Actions"]) + "\n| id | rule | text |\n|---|---|---|\n" + _lines(_actions()) + SPACES_TEXT,
        _chapter("Rewards", said["Rewards"]) + "\n| potential of `shaped` | value |\n|---|---|\n" + _lines(_potential()),
        ARGUMENTS_TEXT + _lines(_arguments()) + LEVEL_TEXT + _lines(_digits()) + VECTOR_TEXT,
        _chapter("Versions", said["Version History"]) + FORMATS_TEXT,
    ]
    return "".join(parts)


def _chapter(title: str, text: str) -> str:
    """What the docstring says of it, with links to the pages it names."""
    return f"\n## {title}\n{_linked(text).rstrip()}\n"


def _linked(text: str) -> str:
    return re.sub(r"docs/(\w+)\.md", r"[\1.md](\1.md)", text)


def _lines(rows: Iterator[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


def _emperors() -> Iterator[str]:
    for number, name in enumerate(EMPERORS):
        yield f"| {number} | `{name}` | {BOARD.names[BOARD.capitals[number]]} |"


def _actions() -> Iterator[str]:
    """A row for each run of ids whose texts differ only in a space or a sea zone."""
    for _, run in groupby(enumerate(ACTION_TEXTS), key=lambda pair: _pattern(pair[1])):
        ids, texts = zip(*run, strict=True)
        written = ", ".join(f"`{text}`" for text in texts) if len(texts) <= FEW else f"`{_pattern(texts[0])}`"
        yield f"| {ids[0] if len(ids) == 1 else f'{ids[0]} to {ids[-1]}'} | {_rule(texts[0])} | {written} |"


def _pattern(text: str) -> str:
    for kind, names in {"SPACE": BOARD.names, "ZONE": BOARD.zones}.items():
        if any(text.endswith(f" {name}") for name in names):
            name = max((name for name in names if text.endswith(f" {name}")), key=len)
            return f"{text.removesuffix(name).split()[0]} {kind}" if kind == "ZONE" else text.removesuffix(name) + kind
    return text


def _rule(text: str) -> str:
    return RULES[max((start for start in RULES if text.startswith(start)), key=len)]


def _potential() -> Iterator[str]:
    yield f"| a secured border | {rewards.A_BORDER} |"
    yield f"| a Revolt | {rewards.A_REVOLT} |"
    yield f"| an Unrest | {rewards.AN_UNREST} |"
    yield f"| an army | {rewards.AN_ARMY} times 1 - steps to ROMA / {rewards.FARTHEST} |"


def _arguments() -> Iterator[str]:
    meanings = dict(re.findall(r"^ *(\w+): (.*)$", Options.__doc__ or "", re.MULTILINE))
    for field in fields(Options):
        default = NORMAL_LEVEL if field.name == "level" else field.default
        yield f"| `{field.name}` | `{default!r}` | {meanings[field.name]} |"
    yield f"| `reward` | `'outcome'` | {_names(rewards.REWARDS)}: see above |"
    yield f"| `render_mode` | `None` | {_names(RENDER_MODES)}: see [watching](watching.md) |"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _digits() -> Iterator[str]:
    for number, (meaning, allowed) in enumerate(DIGITS, start=1):
        yield f"| {number} | {meaning} | {allowed[0]} | {allowed[-1]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
