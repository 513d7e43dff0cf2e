"""Write docs/training.md and its pictures from the checkpoints' cards and curves and the kept trials: `python docs/make_training.py`."""

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tetrarchia_agents.cards import CHECKPOINTS, read_card, shipped_checkpoints
from tetrarchia_eval.marked_page import filled
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
    parts = {
        "iteration": _iteration(),
        "checkpoints": _table(
            "checkpoint | network | began with | timesteps | PPO took | win rates", "---|---|---|---:|---:|---", _checkpoint_rows()
        ),
        "curves": "\n".join(_pictures()),
        "speed": _table(f"part | {' | '.join(f'`{preset}`' for preset in MEASURED)}", "---|---:|---:", _speed_rows()),
        "trials": _table("network | what was different | timesteps | took | win rates", "---|---|---:|---:|---", _trial_rows()),
        "ablation": _table("level | `chance_samples` 4 | `chance_samples` 0", "---|---:|---:", _ablation_rows()),
    }
    return filled(PAGE, __file__, parts)


def _table(head: str, columns: str, rows: Iterable[str]) -> str:
    return "\n".join(f"| {row} |" for row in (head, columns, *rows)).replace(f"| {columns} |", f"|{columns}|")


def _iteration() -> str:
    """The learner's two functions that a run repeats, as code that is not run."""
    code = "\n\n\n".join(_source(name) for name in ("train_iteration", "collect_rollouts"))
    return f"<!-- not run: parts of learner.py -->\n```python\n{code}\n```"


def _source(function: str) -> str:
    """A function of the learner, as it stands in its file."""
    text = LEARNER.read_text(encoding="utf-8")
    found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    return str(ast.get_source_segment(text, found))


def _checkpoint_rows() -> Iterator[str]:
    """A line for each checkpoint that PPO has trained."""
    for name in _trained():
        made, network = read_card(CHECKPOINTS / name)["training"], read_card(CHECKPOINTS / name)["network"]
        last = read_curve(CHECKPOINTS / name / CURVE)[-1]
        row = f"{_beginning(made)} | {made['timesteps'] / 1e6:.1f} M | {made['seconds'] / 60:.0f} min | {_rates(last, made)}"
        yield f"`{name}` | {_shape(network, network['kind'])} | {row}"


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
        levels = read_card(CHECKPOINTS / name)["training"]["options"]["eval_levels"]
        lines = {level: [(minutes, _rate(point, level, games)) for minutes, point, games in stages] for level in levels}
        counts = sorted({games for _, _, games in stages})
        games = " and ".join(f"{count:,}" for count in counts)
        save(curves(f"How {name} learned: {games} games at each level", lines, "minutes of PPO"), PICTURES / f"{name}.svg")


def _stages(name: str) -> Iterator[tuple[float, Point, int]]:
    """Minutes, a point and its games: of the run that a checkpoint goes on from, if it is kept, then of its own."""
    made = read_card(CHECKPOINTS / name)["training"]
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
        yield f"{_shape(data, data['network'])} | {_what(folder, data)} | {row}"


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
        yield f"{level} | {' | '.join(_told(_pooled(arm, level)) for arm in arms)}"


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
        yield f"{part} | {' | '.join(f'{rows[begin + what]:,.0f}' for begin in begins)}"


def _trained() -> Sequence[str]:
    return [name for name in shipped_checkpoints() if (CHECKPOINTS / name / CURVE).is_file()]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
