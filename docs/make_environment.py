"""Write docs/environment.md from the docstrings of the front door and the code's own tables: `python docs/make_environment.py`."""

import re
from collections.abc import Iterator
from dataclasses import fields
from itertools import groupby
from pathlib import Path

import tetrarchia_env
from tetrarchia_env import tetrarchia_v0
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.constants import ACTIONS, BASE_ACTIONS
from tetrarchia_env.envs.illegal_actions import ILLEGAL
from tetrarchia_env.envs.rewards import REWARDS
from tetrarchia_env.envs.spaces import MASKS, RENDER_MODES
from tetrarchia_env.notation import ACTION_TEXTS
from tetrarchia_env.notation.replays import ENVIRONMENT, FORMAT
from tetrarchia_env.options import DIGITS, NORMAL_LEVEL, Options

PAGE = Path(__file__).parent / "environment.md"
APIS = ("env", "raw_env", "parallel_env", "vector_env", "sb3_vec_env")
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
FRONT_DOOR_TEXT = """
## The front door

`import tetrarchia_env` is all that most programs need:

| name | what it is |
|---|---|
"""
GAME_TEXT = f"""
One game as an object plays, copies and draws itself (in a notebook, `game` as the last line of a cell shows the board):

```python
from tetrarchia_agents import rollout
from tetrarchia_env import Game

game = Game(level="4200", seed=7)
game.play("fleet INTERNVM")
print(game.agent, game.legal_actions)
before = game.copy()  # undo by keeping a copy
print(game.play("fleet AEGAEVM"))  # what happened, in words
kept = game.snapshot()  # plain JSON data: the whole game
assert Game.restore(kept).snapshot() == kept
game.replay().save("game.json")  # tetrarchia replay game.json
print(sum(result.won for result in rollout("greedy", 20, level="4200")), "of 20 games won")
```

## Environment APIs

The same rules, arguments and numbers behind each:

| made by | what it is |
|---|---|
| `gymnasium.make("{tetrarchia_v0.GYMNASIUM_ID}")` | One player controls all four Emperors. |
"""
APIS_TEXT = f"""
PettingZoo, an agent for each Emperor:

```python
import tetrarchia_env

env = tetrarchia_env.env(level="4200")
env.reset(seed=7)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
print(tetrarchia_env.outcome_name(info["outcome"]), info["score"], info["turn"])
```

Gymnasium, one game or many at once:

```python
import gymnasium

env = gymnasium.make("{tetrarchia_v0.GYMNASIUM_ID}", level="4200")
observation, info = env.reset(seed=7)
observation, reward, terminated, truncated, info = env.step(env.action_space.sample(observation["action_mask"]))

envs = tetrarchia_env.vector_env(num_envs=512, level=["4200", "4211"], reward="shaped")
observations, infos = envs.reset(seed=7)
actions = observations["action_mask"].argmax(axis=1)  # the first legal one
observations, rewards, terminated, truncated, infos = envs.step(actions)
```

Stable-Baselines3: [examples/maskable_ppo.py](../examples/maskable_ppo.py). `env.unwrapped` of a single game also has `legal_actions`,
`action_text`, `action_id`, `snapshot`, `restore`, `clone` and `reseed` (other dice: a planner's copy must not show those to come).
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
REWARDS_TEXT = """
A reward of your own is told which games begin, and is asked after each step, before a finished game is followed by the next:

```python
class SpeedReward:
    def begin(self, games, rows=slice(None)):  # rows of games that have just begun
        pass

    def __call__(self, games):  # a number for each game
        return (games["outcome"] == 1) * 0.99 ** games["turn"]


envs = tetrarchia_env.vector_env(512, reward=SpeedReward())
```

[examples/custom_reward.py](../examples/custom_reward.py) shapes with a potential of its own.
"""
ARGUMENTS_TEXT = """
## Arguments

The same for every API, all optional; `Game` and `rollout` take those of `Options`, the first six. A wrong one is a `ValueError` that
says what was given and what is allowed.

| argument | default | meaning |
|---|---|---|
"""
LEVEL_TEXT = """
A level is four digits (R2.1):

| digit | means | from | to |
|---|---|---|---|
"""
VECTOR_TEXT = f"""
Many games at once also take:

| argument | meaning |
|---|---|
| `num_envs` | how many games are played side by side |
| `actions` | `"all"`: {ACTIONS} ids; `"base"`: the first {BASE_ACTIONS}, where no variant or module needs more |
| `rules` | a list of sets of arguments that the games are shared out to, in blocks of equal size |
| `initial_states`, `initial_state_share` | snapshots that a share of the games begin from, with new dice |
| `autoreset_mode` | of `vector_env`: `"NextStep"`, `"SameStep"`, `"Disabled"` |
| `copy` | `True`; with `False` an observation is only good until the step after the next |
"""
FORMATS_TEXT = f"""
Replays and result files say which environment they are of (`{ENVIRONMENT}`) and of which format (replays: {FORMAT}); others are
refused in one sentence. [The changelog](../CHANGELOG.md) tells what changed from package to package.
"""


def page() -> str:
    """The whole page."""
    intro, *chapters = (tetrarchia_v0.__doc__ or "").split("\n### ")
    said = dict(chapter.split("\n", 1) for chapter in chapters)
    parts = [
        HEAD + _linked(intro.removeprefix("# Tetrarchia\n")),
        FRONT_DOOR_TEXT + _lines(_names_of_front_door()) + GAME_TEXT + _lines(_apis()) + APIS_TEXT,
        EMPERORS_TEXT + _lines(_emperors()),
        _chapter("Observation", said["Observation"]),
        _chapter("Actions", said["Actions"]) + "\n| id | rule | text |\n|---|---|---|\n" + _lines(_actions()) + SPACES_TEXT,
        _chapter("Infos", said["Infos"]) + _chapter("Many games", said["Many games"]),
        _chapter("Rewards", said["Rewards"]) + REWARDS_TEXT,
        ARGUMENTS_TEXT + _lines(_arguments()) + LEVEL_TEXT + _lines(_digits()) + VECTOR_TEXT,
        _chapter("Versions", said["Version History"]) + FORMATS_TEXT,
    ]
    return "".join(parts)


def _names_of_front_door() -> Iterator[str]:
    for name in tetrarchia_env.__all__:
        if name not in APIS:
            yield f"| `{name}` | {_first_line(name)} |"
    yield f"| {', '.join(f'`{name}`' for name in APIS)} | The game as an environment: see below. |"


def _apis() -> Iterator[str]:
    for name in APIS:
        yield f"| `tetrarchia_env.{name}` | {_first_line(name)} |"


def _first_line(name: str) -> str:
    return (getattr(tetrarchia_env, name).__doc__ or "").partition("\n")[0]


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


def _arguments() -> Iterator[str]:
    meanings = dict(re.findall(r"^ *(\w+): (.*)$", Options.__doc__ or "", re.MULTILINE))
    for field in fields(Options):
        default = NORMAL_LEVEL if field.name == "level" else field.default
        yield f"| `{field.name}` | `{default!r}` | {meanings[field.name]} |"
    yield f"| `reward` | `'outcome'` | {_names(REWARDS)}, or an object: see above |"
    yield "| `gamma` | `1.0` | the learner's discount a step, for `shaped` |"
    yield f"| `render_mode` | `None` | {_names(RENDER_MODES)}: see [watching](watching.md) |"
    yield f"| `mask` | `'observation'` | where the action mask is: {_names(MASKS)} |"
    yield f"| `illegal` | `'ignore'` | {_names(ILLEGAL)}: see above; not in PettingZoo's APIs, and `'raise'` in `sb3_vec_env` |"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _digits() -> Iterator[str]:
    for number, (meaning, allowed) in enumerate(DIGITS, start=1):
        yield f"| {number} | {meaning} | {allowed[0]} | {allowed[-1]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
