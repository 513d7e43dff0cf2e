"""Write the figures of docs/scaling.md and its picture from benchmarks/scaling.json: `python docs/make_scaling.py`.

`tetrarchia bench --scaling` and `python -m tetrarchia_train.scaling` write that file; what a section of it says goes between the marks of
its name.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from tetrarchia_eval.arena import GOAL
from tetrarchia_eval.marked_page import filled
from tetrarchia_eval.plots import save, scaling_curves
from tetrarchia_eval.scaling_model import Driver, bend, games_a_chunk, rate, seconds

HERE = Path(__file__).parent
PAGE, PICTURE = HERE / "scaling.md", HERE / "pictures" / "scaling" / "evaluation.svg"
MEASURED = HERE.parent / "benchmarks" / "scaling.json"
CORES = (1, 10, 100, 1_000)
MILLION = 1_000_000
Figures = dict[str, Any]


def page() -> str:
    """The page with the figures of the kept file."""
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    return filled(PAGE, __file__, {name: SECTIONS[name](figures) for name, figures in measured.items()})


def evaluation(figures: Figures) -> str:
    """Rates, what travels, costs, the model and what was simulated."""
    driver = driver_of(figures)
    parts = [_made(figures), _rates(figures), _travels(figures), _costs(figures), _checks(figures, driver), _outlook(figures, driver)]
    return "\n\n".join(parts)


def driver_of(figures: Figures) -> Driver:
    """From two simulations whose chunks have few games and many."""
    few, many = figures["costs"]
    game = (many["driver_seconds"] - few["driver_seconds"]) / (many["games"] - few["games"])
    return Driver(few["driver_seconds"] - few["games"] * game, game)


def _made(figures: Figures) -> str:
    machine = figures["machine"]
    return f"Measured on {figures['date'][:10]}: {machine['cores']} cores of {machine['processor']}, Python {machine['python']}."


def _table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rates(figures: Figures) -> str:
    sides = figures["side_by_side"]
    speeds = {(side["kind"], side["workers"]): median(side["rates"]) for side in sides}
    rows = ([side["kind"], str(side["workers"]), f"{median(side['rates']):.1f}", f"{side['start_seconds']:.1f}"] for side in sides)
    text = _table(["workers", "number", "games a second", "seconds to the first games"], rows)
    share = speeds["Ray", 2] / speeds["process pool", 2]
    return (
        f"{text}\n\nTwo workers of a local Ray are {share:.2f} times as fast as two processes ({figures['agent']} at {figures['level']})."
    )


def _travels(figures: Figures) -> str:
    few, many = figures["costs"]
    game = (many["bytes_a_chunk"] - few["bytes_a_chunk"]) / (many["games"] - few["games"])
    chunk = few["bytes_a_chunk"] - few["games"] * game
    return (
        f"Over the network go {chunk / 1000:.1f} kB a chunk, both ways and with all that Ray says beside, and {game:.0f} bytes a game: "
        f"{(chunk + 150 * game) / 1000:.0f} kB for a chunk of 150 games."
    )


def _costs(figures: Figures) -> str:
    rows = (
        [agent, f"{1000 * pace:.2f}", f"{games_a_chunk(pace):,}", f"{MILLION * pace / 3600:.2f}"]
        for agent, pace in figures["paces"].items()
    )
    return _table(["agent", "ms a game on one core", "games a chunk", "core hours for a million games"], rows)


def _checks(figures: Figures, driver: Driver) -> str:
    rows = []
    for one in figures["simulated"]:
        told = rate(one["cores"], one["chunk_seconds"] / one["games"], one["games"], driver, one["delay"])
        shape = [str(one["cores"]), f"{one['chunk_seconds']:g}", f"{one['delay']:g}"]
        rows.append([*shape, f"{told:,.0f}", f"{one['rate']:,.0f}", f"{one['rate'] / told:.2f}"])
    head = ["simulated cores", "seconds a chunk", "delay", "model, games/s", "simulated, games/s", "ratio"]
    costs = (
        f"The driver spends {1000 * driver.chunk:.1f} ms on a chunk and {1e6 * driver.game:.1f} µs on each of its games, "
        f"{1e6 * figures['append_seconds']:.1f} µs of these for the file."
    )
    return f"{costs}\n\n{_table(head, iter(rows))}"


def _outlook(figures: Figures, driver: Driver) -> str:
    rows = []
    for agent, pace in figures["paces"].items():
        times = [f"{seconds(MILLION, cores, pace, driver) / 60:,.1f}" for cores in CORES]
        rows.append([agent, *times, f"{bend(pace, driver):,.0f}"])
    head = ["agent", *(f"{cores:,} {'core' if cores == 1 else 'cores'}" for cores in CORES), "the curve bends at"]
    return f"Minutes for a million games at one level, and the cores from which on the driver is the limit:\n\n{_table(head, iter(rows))}"


def draw(figures: Figures) -> Any:
    """Games a second over cores; a simulated chunk that is shorter than the arena's stands for as many cores more."""
    driver, cores = driver_of(figures), [10 ** (step / 10) for step in range(41)]
    paces = dict(figures["paces"], simulated=GOAL / figures["simulated"][0]["games"])
    lines = {
        f"{name}, {1000 * pace:.3g} ms a game": [(x, rate(x, pace, games_a_chunk(pace), driver)) for x in cores]
        for name, pace in paces.items()
    }
    points = [(one["cores"] * GOAL / one["chunk_seconds"], one["rate"]) for one in figures["simulated"] if not one["delay"]]
    return scaling_curves("Evaluation on many cores", lines, {"simulated cluster": points}, ("cores", "games a second"))


def training(figures: Figures) -> str:
    """Rates here, the two ways to send gradients, the model and its check."""
    return "\n\n".join([_training_rates(figures), _all_reduces(figures), _training_outlook(figures)])


def _training_rates(figures: Figures) -> str:
    one, two = figures["rates"]["1"], figures["rates"]["2"]
    fused, ddp = (1000 * figures["updates"][how] for how in ("fused", "ddp"))
    return (
        f"One process of the preset `{figures['preset']}` with one thread plays and learns {one:,.0f} decisions a second, "
        f"two {two:,.0f}: {two / one:.2f} times as many. "
        f"An update of two processes takes {fused:.1f} ms with the fused buffer and {ddp:.1f} ms with `DistributedDataParallel`."
    )


def _all_reduces(figures: Figures) -> str:
    rows = (
        [str(one["processes"]), f"{1000 * one['measured']:.2f}", f"{1000 * one['model']:.2f}", f"{one['measured'] / one['model']:.2f}"]
        for one in figures["all_reduce"]
    )
    ring = figures["ring"]
    told = (
        f"Between processes of this machine a message takes {1e6 * ring['message']:.0f} µs; {ring['bandwidth'] / 1e9:.1f} GB/s go through."
    )
    return f"{told}\n\n{_table(['processes', 'all-reduce of the gradient, ms', 'model, ms', 'ratio'], rows)}"


def _training_outlook(figures: Figures) -> str:
    one = figures["model"]["1"]
    rows = ([number, f"{rate:,.0f}", f"{rate / one / int(number):.0%}"] for number, rate in figures["model"].items())
    text = _table(["processes", "decisions a second by the model", "of perfect scaling"], rows)
    return f"On a cluster with 0.1 ms a message and 10 Gbit/s:\n\n{text}"


SECTIONS: dict[str, Callable[[Figures], str]] = {"evaluation": evaluation, "training": training}

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    save(draw(json.loads(MEASURED.read_text(encoding="utf-8"))["evaluation"]), PICTURE)
