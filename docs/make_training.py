"""Write docs/training.md and its pictures from the checkpoints' cards and curves and the kept trials: `python docs/make_training.py`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tetrarchia_agents.cards import CHECKPOINTS, own_checkpoints, read_card
from tetrarchia_eval.plots import curves, save
from tetrarchia_eval.statistics import Estimate, wilson
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.publish import CURVE, TRIALS

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "training.md", HERE / "pictures" / "training"
NOTE = "note.txt"  # beside a trial of other code: what was different
TRIED = ("clip", "entropy", "epochs", "gae_lambda", "games", "learning_rate", "minibatch", "rerolls", "rollout", "sharpen", "shaping")
Point = dict[str, Any]


def page() -> str:
    """The whole page."""
    return TEXT.format(checkpoints="\n".join(_checkpoint_rows()), curves="\n".join(_pictures()), trials="\n".join(_trial_rows()))


def _checkpoint_rows() -> Iterator[str]:
    """A line for each checkpoint that PPO has trained."""
    for name in _trained():
        made, network = read_card(CHECKPOINTS / name)["made"], read_card(CHECKPOINTS / name)["network"]
        last = _points(CHECKPOINTS / name / CURVE)[-1]
        row = f"{_beginning(made)} | {made['steps'] / 1e6:.1f} M | {made['seconds'] / 60:.0f} min | {_rates(last, made)}"
        yield f"| `{name}` | {_shape(network, network['kind'])} | {row} |"


def _beginning(made: dict[str, Any]) -> str:
    """What PPO began with."""
    warm = made["warm_start"]
    if warm is None:
        return "random weights"
    if "teacher" not in warm:
        return f"`{made['options']['start']}`"
    return (f"`{warm['start']}`, then " if warm.get("start") else "") + f"a copy of {warm['teacher']}"


def _shape(sizes: dict[str, Any], kind: str) -> str:
    """A network in a few numbers: width x layers, trunk."""
    layers = {"graph": "{width} x {layers}, ", "goals": "{width} x ({layers} + {after}), ", "mlp": ""}[kind]
    return f"{kind}, {layers}{{hidden}}".format(**sizes)


def _rates(point: Point, made: Point) -> str:
    """Win rates of one point of a curve, with their intervals."""
    games = made["options"]["evaluate_games"]
    rates = {place: _rate(point, place, games) for place in point["won"]}
    return ", ".join(f"{place} {_told(rate)}" for place, rate in rates.items())


def _rate(point: Point, place: str, games: int) -> Estimate:
    return wilson(round(point["won"][place] * games), games)


def _told(rate: Estimate) -> str:
    return f"{100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _pictures() -> Iterator[str]:
    """A picture for each trained checkpoint."""
    for name in _trained():
        yield f"![How {name} learned](pictures/training/{name}.svg)"


def draw() -> None:
    """Write the pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in _trained():
        made = read_card(CHECKPOINTS / name)["made"]
        games, points = made["options"]["evaluate_games"], _points(CHECKPOINTS / name / CURVE)
        lines = {
            place: [(point["steps"] / 1e6, wilson(round(point["won"][place] * games), games)) for point in points]
            for place in made["options"]["evaluate_levels"]
        }
        save(
            curves(f"How {name} learned: {games} games at each level", lines, "decisions learned from, in millions"),
            PICTURES / f"{name}.svg",
        )


def _trial_rows() -> Iterator[str]:
    """A line for each trial: what was different, and where it stood at the end."""
    for folder in sorted(path for path in TRIALS.iterdir() if path.is_dir()):
        data = yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8"))
        last = _points(folder / "progress.jsonl")[-1]
        row = f"{last['steps'] / 1e6:.1f} M | {last['seconds'] / 60:.1f} min | {_rates(last, {'options': data})}"
        yield f"| {_shape(data, data['network'])} | {_what(folder, data)} | {row} |"


def _what(folder: Path, data: dict[str, Any]) -> str:
    """What was different: as its note says, or by its options."""
    note, usual = folder / NOTE, TrainConfig().as_data()
    if note.is_file():
        return note.read_text(encoding="utf-8").strip()
    changed = [f"`{name}` {data[name]} instead of {usual[name]}" for name in TRIED if data[name] != usual[name]]
    return "; ".join(changed) or "nothing: to compare with"


def _trained() -> Sequence[str]:
    return [name for name in own_checkpoints() if (CHECKPOINTS / name / CURVE).is_file()]


def _points(path: Path) -> list[Point]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


TEXT = """\
<!-- Written by docs/make_training.py from the checkpoints' cards and curves and the trials in docs/trials: do not edit this page. -->
# Training

`ppo` is one network for all four Emperors and all levels. It sees the game as the acting Emperor does and plays without any search.
This page tells how to train another, how these were made, and what was tried. How strong they are against others, on seeds that
nothing was trained or chosen on, is in [results](results.md).

## Train
<!-- not run: trains for hours -->
```sh
tetrarchia train --preset ppo --name mine          # lessons, copying, PPO: into runs/mine
tetrarchia train --name mine --resume              # go on after Ctrl-C, exactly; with --total-timesteps or --max-minutes: further than it was meant to go
tensorboard --logdir runs                          # win rates by difficulty, causes of loss, entropy, KL, steps a second, and more
tetrarchia watch --agents ppo:runs/mine/latest     # look at it while it learns
python -m tetrarchia_train.publish mine my-name               # keep it in checkpoints/ with its curve; then it plays as ppo:my-name
```

`tetrarchia train --help` lists every option. A preset is a YAML file with the options of a good run; the kept ones are in
[train/presets](../train/presets/ppo.yaml): `ppo`, `ppo-full` (variants, modules and scenarios too), `small`, and `tiny` for tests.
The same command with `--threads 1` gives the same run.

In a run's folder: `options.yaml`; `lessons.npz`; `copy/`, `latest/` and `final/`, which are checkpoints; `progress.jsonl`, the win
rates on held-out seeds; `tensorboard/`; and `resume/`, all that is needed to go on.

## What a run does
1. **Lessons.** The [planner](agents.md) plays games at all levels, sometimes disturbed by a random action, and every decision is kept.
2. **Copying.** A network learns to do what the planner did. One with random weights would play like `random`, which wins nothing.
3. **The value alone**, with everything else held still, so that the copied policy is not spoiled.
4. **PPO**, sb3-contrib's `MaskablePPO`, on games at all 81 levels of the rulebook.

**The network** ([agents/network.py](../agents/network.py)) has the same small layers for each space of the board, which hear each
other along the links, and a trunk that reads all spaces and serves policy and value. In the network `goals` the trunk then tells every
space what is wanted there, and more layers pass that on along the links, so that the first step of a way is liked for where it leads.
In `graph` there is only a pointer back to the spaces for actions that name one; `mlp` knows nothing of the board.

**Processes** ([train/team.py](../train/team.py)): with `--processes 2` two processes play games of their own and learn one network;
every update follows the mean of their clipped gradients. `tetrarchia bench` measures the speed of training.

**The reward** ([train/potential.py](../train/potential.py)) is for winning alone, the more the sooner, less so towards the end of a run.
It is shaped by a potential: the chance to win as the planner judges positions, times what a win would pay now. All that a game gets
from the potential adds up to what it began with, so it cannot change which policy is best.

**Luck is taken out** ([train/luck.py](../train/luck.py)): where dice decide a step, it is played some more times in copies with
other dice, and the reward is corrected by the difference between what came and what comes in the mean. The correction is 0 in the
mean; what is learned stays the same, with less noise.

## What came of it
Measured during training, on held-out seeds of its own; the last point of each curve, 95 % intervals.

| checkpoint | network | began with | decisions | PPO took | games won |
|---|---|---|---:|---:|---|
{checkpoints}

{curves}

## What was tried
Short runs on one thread, each from a copy of the same lessons of the planner, one copy for each network: what was different, and what
it had come to at its end. At 0.0 M decisions stands what copying alone has given. The machine did other work beside some of them: the
minutes say little.

| network | what was different | decisions | took | games won |
|---|---|---:|---:|---|
{trials}
"""

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
