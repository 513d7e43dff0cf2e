"""Write docs/training.md and its pictures from the checkpoints' cards and curves and the kept trials: `python docs/make_training.py`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from agents.cards import CHECKPOINTS, own_checkpoints, read_card
from eval.plots import curves, save
from eval.statistics import Estimate, wilson
from train.options import TrainOptions, options_of, read_preset
from train.publish import CURVE, TRIALS

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "training.md", HERE / "pictures" / "training"
NOTE = "note.txt"  # beside a trial of other code: what was different
UNTOLD = (
    "start",
    "threads",
    "steps",
    "minutes",
    "seed",
    "evaluate_every",
    "evaluate_games",
    "save_every",
    "lessons",
    "copy_epochs",
)  # not what was tried
Point = dict[str, Any]


def page() -> str:
    """The whole page."""
    return TEXT.format(checkpoints="\n".join(_checkpoint_rows()), curves="\n".join(_pictures()), trials="\n".join(_trial_rows()))


def _checkpoint_rows() -> Iterator[str]:
    """A line for each checkpoint that PPO has trained."""
    for name in _trained():
        made, network = read_card(CHECKPOINTS / name)["made"], read_card(CHECKPOINTS / name)["network"]
        last = _points(CHECKPOINTS / name / CURVE)[-1]
        start, teacher = made["options"]["start"], made["options"]["teacher"]
        begun = f"`{start}`" if start else "random weights" if teacher == "none" else f"a copy of {teacher}"
        shape = f"{network['kind']}, {network['width']} x {network['layers']}, {network['hidden']}" if network["kind"] == "graph" else "mlp"
        yield f"| `{name}` | {shape} | {begun} | {made['steps'] / 1e6:.1f} M | {made['seconds'] / 60:.0f} min | {_rates(last, made)} |"


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
    usual = read_preset("ppo")
    for folder in sorted(path for path in TRIALS.iterdir() if path.is_dir()):
        data = yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8"))
        data.pop("command", None)
        last = _points(folder / "progress.jsonl")[-1]
        note = folder / NOTE
        told = (
            note.read_text(encoding="utf-8").strip()
            if note.is_file()
            else _differences(options_of(yaml.safe_dump(data), folder.name), usual)
        )
        yield f"| {told} | {last['steps'] / 1e6:.1f} M | {last['seconds'] / 60:.1f} min | {_rates(last, {'options': data})} |"


def _what(folder: Path, data: dict[str, Any], usual: TrainOptions) -> str:
    note = folder / NOTE
    if note.is_file():
        return note.read_text(encoding="utf-8").strip()
    return _differences(options_of(yaml.safe_dump(data), folder.name), usual)


def _differences(options: TrainOptions, usual: TrainOptions) -> str:
    """The options that are not those of the preset."""
    mine, theirs = options.as_data(), usual.as_data()
    changed = [f"`{name}` {mine[name]} instead of {theirs[name]}" for name in mine if mine[name] != theirs[name] and name not in UNTOLD]
    return "; ".join(changed) or "the preset `ppo`"


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
tetrarchia train --name mine --resume              # go on after Ctrl-C, exactly; with --steps or --minutes: further than it was meant to go
tensorboard --logdir runs                          # win rates by difficulty, causes of loss, entropy, KL, steps a second, and more
tetrarchia watch --agents ppo:runs/mine/latest     # look at it while it learns
python -m train.publish mine my-name               # keep it in checkpoints/ with its curve; then it plays as ppo:my-name
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
other along the links; a trunk that reads all spaces; and pointers back to the spaces for actions that name one. The trunk serves
policy and value.

**The reward** ([train/potential.py](../train/potential.py)) is for winning alone, the more the sooner. It is shaped by a potential:
the chance to win as the planner judges positions, times what a win would pay now. All that a game gets from the potential adds up to
what it began with, so it cannot change which policy is best.

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
Short runs on one thread, all from the same copy of the planner (`checkpoints/copy`), or with another network from its own copy of the
same lessons: what was different, and what it had come to at its end. At 0.0 M decisions stands what copying alone has given.

| what was different | decisions | took | games won |
|---|---:|---:|---|
{trials}
"""

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
