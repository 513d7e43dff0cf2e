"""Write docs/training.md and its pictures from the checkpoints' cards and curves and the kept trials: `python docs/make_training.py`."""

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tetrarchia_agents.cards import CHECKPOINTS, own_checkpoints, read_card
from tetrarchia_eval.plots import curves, save
from tetrarchia_eval.statistics import Estimate, wilson
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.publish import CURVE, TRIALS, read_curve

HERE = Path(__file__).parent
PAGE, PICTURES = HERE / "training.md", HERE / "pictures" / "training"
NOTE = "note.txt"  # beside a trial of other code: what was different
BENCHMARKS, MEASURED = HERE.parent / "benchmarks" / "latest.json", ("ppo", "ppo-more")
LEARNER = HERE.parent / "train" / "tetrarchia_train" / "learner.py"
TRIED = (  # options that trials differ in
    "chance_samples",
    "clip_range",
    "ent_coef",
    "gae_lambda",
    "learning_rate",
    "minibatch_size",
    "n_epochs",
    "n_steps",
    "num_envs",
    "shaping_coef",
)
Point = dict[str, Any]


def page() -> str:
    """The whole page."""
    return TEXT.format(
        iteration="\n\n\n".join(_source(name) for name in ("train_iteration", "collect_rollouts")),
        checkpoints="\n".join(_checkpoint_rows()),
        curves="\n".join(_pictures()),
        trials="\n".join(_trial_rows()),
        ablation="\n".join(_ablation_rows()),
        speed="\n".join(_speed_rows()),
    )


def _source(function: str) -> str:
    """A function of the learner, as it stands in its file."""
    text = LEARNER.read_text(encoding="utf-8")
    found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    return str(ast.get_source_segment(text, found))


def _checkpoint_rows() -> Iterator[str]:
    """A line for each checkpoint that PPO has trained."""
    for name in _trained():
        made, network = read_card(CHECKPOINTS / name)["made"], read_card(CHECKPOINTS / name)["network"]
        last = read_curve(CHECKPOINTS / name / CURVE)[-1]
        row = f"{_beginning(made)} | {made['timesteps'] / 1e6:.1f} M | {made['seconds'] / 60:.0f} min | {_rates(last, made)}"
        yield f"| `{name}` | {_shape(network, network['kind'])} | {row} |"


def _beginning(made: dict[str, Any]) -> str:
    """What PPO began with."""
    warm = made["warm_start"]
    if warm is None:
        return "random weights"
    if _goes_on_from(made):
        return f"`{_goes_on_from(made)}`"
    return (f"`{warm['init_checkpoint']}`, then " if warm.get("init_checkpoint") else "") + f"{warm['expert']} cloned"


def _shape(sizes: dict[str, Any], kind: str) -> str:
    """A network in a few numbers: features of a space x layers, trunk."""
    layers = {"gnn": "{node_dim} x {encoder_layers}, ", "gnn-decoder": "{node_dim} x ({encoder_layers} + {decoder_layers}), ", "mlp": ""}[
        kind
    ]
    return f"{kind}, {layers}{{hidden_dim}}".format(**sizes)


def _rates(point: Point, made: Point) -> str:
    """Win rates of one point of a curve, with their intervals."""
    games = made["options"]["n_eval_episodes"]
    rates = {place: _rate(point, place, games) for place in point["win_rates"]}
    return ", ".join(f"{place} {_told(rate)}" for place, rate in rates.items())


def _rate(point: Point, place: str, games: int) -> Estimate:
    return wilson(round(point["win_rates"][place] * games), games)


def _told(rate: Estimate) -> str:
    return f"{100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _pictures() -> Iterator[str]:
    """A picture for each trained checkpoint."""
    for name in _trained():
        yield f"![How {name} learned](pictures/training/{name}.svg)"


def draw() -> None:
    """Write the pictures: win rates against minutes, which is what training costs."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in _trained():
        stages = list(_stages(name))
        levels = read_card(CHECKPOINTS / name)["made"]["options"]["eval_levels"]
        lines = {level: [(minutes, _rate(point, level, games)) for minutes, point, games in stages] for level in levels}
        counts = sorted({games for _, _, games in stages})
        games = " and ".join(f"{count:,}" for count in counts)
        save(curves(f"How {name} learned: {games} games at each level", lines, "minutes of PPO"), PICTURES / f"{name}.svg")


def _stages(name: str) -> Iterator[tuple[float, Point, int]]:
    """Minutes, a point and its games: of the run that a checkpoint goes on from, if it is kept, then of its own."""
    made = read_card(CHECKPOINTS / name)["made"]
    before = list(_stages(_goes_on_from(made))) if _goes_on_from(made) in _trained() else []
    yield from before
    first = before[-1][0] if before else 0.0
    for point in read_curve(CHECKPOINTS / name / CURVE):
        yield first + point["seconds"] / 60, point, made["options"]["n_eval_episodes"]


def _goes_on_from(made: dict[str, Any]) -> str:
    """The checkpoint whose training this one has continued, with nothing else in between."""
    return made["options"].get("init_checkpoint", "") if "expert" not in (made["warm_start"] or {"expert": ""}) else ""


def _trial_rows() -> Iterator[str]:
    """A line for each trial: what was different, and where it stood at the end."""
    for folder in sorted(path for path in TRIALS.iterdir() if path.is_dir()):
        data = yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8"))
        last = read_curve(folder / "progress.jsonl")[-1]
        row = f"{last['timesteps'] / 1e6:.1f} M | {last['seconds'] / 60:.1f} min | {_rates(last, {'options': data})}"
        yield f"| {_shape(data, data['network'])} | {_what(folder, data)} | {row} |"


def _what(folder: Path, data: dict[str, Any]) -> str:
    """What was different: as its note says, or by its options."""
    note, usual = folder / NOTE, TrainConfig().as_data()
    if note.is_file():
        return note.read_text(encoding="utf-8").strip()
    changed = [f"`{name}` {data[name]} instead of {usual[name]}" for name in TRIED if data[name] != usual[name]]
    return "; ".join(changed) or "nothing: to compare with"


def _ablation_rows() -> Iterator[str]:
    """The last points of the two arms, all seeds of each together."""
    arms = [_last_points(pattern) for pattern in ("control-variate-*", "no-control-variate-*")]
    for level in arms[0][0][0]["win_rates"]:
        yield f"| {level} | {' | '.join(_told(_pooled(arm, level)) for arm in arms)} |"


def _last_points(pattern: str) -> list[tuple[Point, int]]:
    """Of each trial, with its number of games."""
    folders = sorted(TRIALS.glob(pattern))
    options = [yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8")) for folder in folders]
    return [(read_curve(folder / "progress.jsonl")[-1], one["n_eval_episodes"]) for folder, one in zip(folders, options, strict=True)]


def _pooled(arm: Sequence[tuple[Point, int]], level: str) -> Estimate:
    won = sum(round(point["win_rates"][level] * games) for point, games in arm)
    return wilson(won, sum(games for _, games in arm))


def _speed_rows() -> Iterator[str]:
    """Microseconds of a step, a column for each preset, and steps a second."""
    rows = {row["what"]: row["value"] for row in json.loads(BENCHMARKS.read_text(encoding="utf-8"))["rows"]}
    begins = [f"training, preset {preset}, " for preset in MEASURED]
    for what in [what.removeprefix(begins[0]) for what in rows if what.startswith(begins[0])]:
        part = what.removeprefix("one core: ").replace("both cores", "steps a second, both cores")
        yield f"| {part} | {' | '.join(f'{rows[begin + what]:,.0f}' for begin in begins)} |"


def _trained() -> Sequence[str]:
    return [name for name in own_checkpoints() if (CHECKPOINTS / name / CURVE).is_file()]


TEXT = """\
<!-- Written by docs/make_training.py from the checkpoints' cards and curves and the trials in docs/trials: do not edit this page. -->
# Training

`ppo` is one network for all four Emperors and all levels (parameter sharing). It observes the game as the acting Emperor does and
plays without any search. This page tells how to train another, how these were made, and what was tried. How strong they are against
others, on seeds that nothing was trained or chosen on, is in [results](results.md).

## Train
<!-- not run: trains for hours -->
```sh
tetrarchia train --preset ppo --name mine          # demonstrations, behaviour cloning, PPO: into runs/mine
tetrarchia train --preset expert-iteration --name better  # learn from search, then PPO, round after round
tetrarchia train --name mine --resume              # go on after a stop, exactly; with --total-timesteps: further
tensorboard --logdir runs                          # rollout/win_rate, eval/win_rate/4200, train/approx_kl, time/fps, and more
tetrarchia watch --agents ppo:runs/mine/latest     # look at it while it learns
python -m tetrarchia_train.publish mine my-name    # keep it in checkpoints/ with its curve; then it plays as ppo:my-name
```

`tetrarchia train --help` lists every option; those of PPO have Stable-Baselines3's names. A preset is a YAML file with the options of
a good run; the kept ones are in [presets](../train/tetrarchia_train/presets/ppo.yaml): `ppo`, `ppo-full` (variants, modules and
scenarios too), `ppo-more` and `ppo-full-more` (how these two went on from `ppo-1` and `ppo-full-1`), `expert-iteration`, `small`, and
`tiny` for tests. The same command with `--threads 1` gives the same run.

In a run's folder: `options.yaml`; `demonstrations.npz`; `bc/`, `latest/` and `final/`, which are checkpoints; `progress.jsonl`, the win
rates on held-out seeds; `tensorboard/`; and `resume/`, all that is needed to go on: tensors, arrays and JSON, nothing that could run code.
Ctrl-C and SIGTERM (clusters send it) save after the iteration under way and end with exit code 130; a kill or a full disk costs what
came after the last save, and `--resume` goes on from any stage. One process writes into a run. What is in its weights or games cannot
change any more when it goes on; learning rates, entropy, discounts, steps, minutes, levels and how often it is measured can.

## What a run does
1. **Demonstrations** ([demonstrations.py](../train/tetrarchia_train/demonstrations.py)). The [planner](agents.md) is the expert: it
   plays games at all levels, some actions replaced by random ones (noise injection, Laskey et al. 2017), and every decision is kept.
2. **Behaviour cloning** ([behavior_cloning.py](../train/tetrarchia_train/behavior_cloning.py); Pomerleau 1989, Bain and Sammut 1995).
   A network learns to do what the planner did. One with random weights would play like `random`, which wins nothing.
3. **The critic is pretrained** with all other parameters frozen, so that a wrong value does not spoil the cloned policy.
4. **PPO** (Schulman et al. 2017) with GAE (Schulman et al. 2016) and invalid action masking (Huang and Ontanon 2022):
   sb3-contrib's `MaskablePPO`, on games at all 81 levels of the rulebook.

**The environment** is the public one, `tetrarchia_v0.sb3_vec_env(num_envs, rules=..., reward=...)`: several sets of rules side by side.

**The network** ([network.py](../agents/tetrarchia_agents/network.py)) is a graph neural network: the spaces of the board are nodes,
message passing runs along the links, and a trunk reads all nodes and serves policy and value. In `gnn-decoder` the trunk then sends a
context to every node, and more message passing spreads it, so that the first step of a way is liked for where it leads. In `gnn` there is
only a pointer back to the nodes for actions that name a space; `mlp` knows nothing of the board.

**Processes** ([distributed.py](../train/tetrarchia_train/distributed.py)): with `--processes 2` training is data-parallel; every update
follows the mean of the clipped gradients of both. Other launchers, machines and Ray: [Beyond one machine](scaling.md).
`tetrarchia bench` measures the speed of training.

**The reward** ([rewards.py](../tetrarchia_env/rewards.py)) is a terminal reward for winning alone, with a discount for each turn that it
took, less of it towards the end of a run. Potential-based shaping (Ng, Harada and Russell 1999) is added: the potential is the chance to
win by the planner's evaluation, times what a win would pay now. All that a game gets from the potential adds up to what it began
with, so it cannot change which policy is best. There is no discount for a step (`gamma` is 1): it would teach to end turns early.

**The control variate** ([variance_reduction.py](../train/tetrarchia_train/variance_reduction.py)) is on chance events, as in AIVAT
(Burch et al. 2018): where dice decide a step, it is played `chance_samples` more times in copies with other dice, and the reward is
corrected by the mean value of all these positions less the value of the one that came. The correction is 0 in the mean; what is learned
stays the same, with less variance.

## Expert iteration
With `--rounds` a run is several such runs, each in a folder `round-1`, `round-2` and so on
([expert_iteration.py](../train/tetrarchia_train/expert_iteration.py); Anthony, Tian and Barber 2017). The expert of a round is not the
planner but [`ppo:turns=N`](agents.md) with the network that the round begins with. Every position it comes to is an example
([search_targets.py](../train/tetrarchia_train/search_targets.py)), as in TD-Gammon (Tesauro 1995) and Athenan (Cohen-Solal 2020): the
policy learns how likely the turns that it proposed should be, by the softmax of their values (Abdolmaleki et al. 2018;
`target_temperature`), the value the search's mean over the dice, which varies far less than outcomes do. Then PPO goes on from there.
A round that does not win more held-out games, in the mean of all levels, is the last. `final/` is the best one, and `progress.jsonl` has
the curve of all rounds; its first line is what they began with, and each round's first point, at none of its own timesteps, what
learning from the search alone has given. A kill costs what came after the last save: `--resume` goes on in the round it was in.

## One iteration
These are the two functions of [learner.py](../train/tetrarchia_train/learner.py) that a run repeats until its steps are played.
<!-- not run: parts of learner.py -->
```python
{iteration}
```

1. **Schedules.** Learning rate, entropy coefficient and the turn discount are linear in the progress of the run. When the discount
   changes, the potentials of the games under way are computed anew.
2. **Rollout.** In each of `n_steps` steps the policy samples a legal action in every one of `num_envs` games. `env.step` plays them,
   rewards them and begins a new game where one ended. The control variate corrects the rewards of steps in which dice were rolled.
   Without it (`--chance-samples 0`) the buffer holds, number for number, what SB3's own `collect_rollouts` gives: a test compares them.
   Only a game truncated at its last turn is different: it pays what a lost one does, where SB3 would add the critic's value.
3. **Advantages** by GAE, from the critic's values.
4. **Update.** `model.train()` is SB3's: `n_epochs` times over the buffer in minibatches, with the clipped surrogate objective.
5. **Logs.** Win rate, episode length, outcomes and speed go to TensorBoard.

## What came of it
Measured during training, on held-out seeds of its own; the last point of each curve, 95 % intervals. The learning rate falls towards the
end of a run: `ppo-full` gained nothing in its first half, and all in its second. Other work ran beside these runs, and `ppo` stood
still for a quarter of an hour after its first 4 M timesteps.

| checkpoint | network | began with | timesteps | PPO took | win rates |
|---|---|---|---:|---:|---|
{checkpoints}

{curves}

## Where the time goes
Microseconds that a step takes in one process, by `tetrarchia bench`; `ppo` goes twice over each rollout, `ppo-more` once. An update is
forward and backward through the network: its matrix products are in bfloat16 (`precision`), and what was measured and does not help
more is less work in the messages (links are few, but the dense product is as fast), `torch.compile`, and leaving out forced decisions,
which are one in four hundred.

| part | `ppo` | `ppo-more` |
|---|---:|---:|
{speed}

## What was tried
Short runs on one thread, each after behaviour cloning of the same demonstrations of the planner, cloned once for each network: what was
different, and what it had come to at its end. At 0.0 M timesteps stands what behaviour cloning alone has given. The machine did other
work beside some of them: the minutes say little.

| network | what was different | timesteps | took | win rates |
|---|---|---:|---:|---|
{trials}

**Is the control variate worth it?** The shipped network from the checkpoint `bc`, the options of the preset `ppo` on one process, 1.2 M
timesteps, two seeds of each arm, 1,000 held-out games a level and seed. The intervals are of the games alone: how much training
runs differ, two seeds cannot tell.

| level | `chance_samples` 4 | `chance_samples` 0 |
|---|---:|---:|
{ablation}

At the two harder levels both seeds are better with it, for the same number of timesteps; it costs about a sixth of the speed. So it stays.
With the small network above it showed no gain.
"""

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
