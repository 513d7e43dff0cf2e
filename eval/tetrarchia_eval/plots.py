"""Pictures of results, as PNG or SVG: heat maps of levels, bars with intervals, matrices of cross-play, learning curves.

The same numbers give the same bytes. Maps are in viridis, bars in Okabe and Ito's colours, and every value is also
written: nothing is said by colour alone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write, check_writable
from tetrarchia_eval.analysis import Matrix
from tetrarchia_eval.statistics import Estimate
from tetrarchia_eval.sweep import Grid

Figure = Any  # matplotlib's
Axes = Any

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
INK, FAINT, EMPTY = "#222222", "#8a8a8a", "#e4e4e4"
MAP = "viridis"
WIDTH = 8.0  # inches: 1200 pixels
LEGEND = 64  # characters that find room in a line of the legend
TITLE = 60  # characters of a line of the title
STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 12,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.edgecolor": FAINT,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "tetrarchia",
    "text.parse_math": False,  # a dollar in an agent's name is a dollar
}
# Without the date and the library's version in the file.
METADATA: dict[str, dict[str, None]] = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
DOTS = 150  # an inch, of a PNG


def save(picture: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture, as its file's ending says."""
    check_picture(path)
    ending = Path(path).suffix
    with atomic_write(path) as draft, _style():
        picture.savefig(draft, format=ending[1:], dpi=DOTS, metadata=METADATA[ending])


def check_picture(path: str | os.PathLike[str]) -> None:
    """ValueError if a picture cannot be made or written there."""
    ending = Path(path).suffix
    if ending not in METADATA:
        raise TetrarchiaError(f"a picture is written as {' or '.join(METADATA)}, not {ending or os.fspath(path)!r}")
    check_writable(Path(path))
    library("matplotlib")


def heat_map(title: str, grid: Grid) -> Figure:
    """The win rates of 81 or 256 levels, each written into its cell in percent."""
    tokens, fleets, revolts, armies = grid.choices
    with _style():
        picture, axes = _figure(title, 0.96 * WIDTH)
        _cells(axes, grid.values, [[_percent(value) for value in row] for row in grid.values], size=12 if len(tokens) == 3 else 9.5)
        _nested(axes.xaxis, revolts, armies, ("extra Revolts", "initial armies"), away=0.085)
        _nested(axes.yaxis, tokens, fleets, ("tokens per Emperor", "fleets"), away=0.095)
        _lines(axes, len(fleets), len(armies), 4)
        _scale(picture, axes)
    return picture


def matrix_plot(title: str, matrix: Matrix, row_label: str, column_label: str) -> Figure:
    """Win rates of rows with columns, each with its interval."""
    values = np.array([[_value(matrix.cells.get((row, column))) for column in matrix.columns] for row in matrix.rows])
    texts = [[_with_interval(matrix.cells.get((row, column))) for column in matrix.columns] for row in matrix.rows]
    with _style():
        picture, axes = _figure(title, 1.6 + 0.85 * len(matrix.rows))
        _cells(axes, values, texts, size=11, aspect="auto")
        axes.set_xticks(range(len(matrix.columns)), matrix.columns)
        axes.set_yticks(range(len(matrix.rows)), matrix.rows)
        axes.set_xlabel(column_label)
        axes.set_ylabel(row_label)
        _scale(picture, axes)
    return picture


def bars(title: str, rates: Mapping[str, Mapping[str, Estimate]], label: str = "") -> Figure:
    """Win rates of agents: a group of bars for each place (level, scenario, ...), a bar with its interval for each agent."""
    places = list(dict.fromkeys(place for agent in rates for place in rates[agent]))
    rows = _rows(rates, places)
    with _style():
        columns = _columns(list(rates))
        picture, axes = _figure(title, 1.4 + 0.24 * -(-len(rates) // columns) + 0.32 * max(y for _, _, y in rows))
        for number, agent in enumerate(rates):
            _agent_bars(axes, agent, number, [(rates[agent][place], y) for name, place, y in rows if name == agent])
        axes.set_yticks(
            [float(np.mean([y for _, place, y in rows if place == group])) for group in places],
            [place.replace("_", " ") for place in places],
        )
        _finish_bars(axes, label, columns)
    return picture


def curves(title: str, lines: Mapping[str, Sequence[tuple[float, Estimate]]], label: str) -> Figure:
    """Win rates on their way: a line for each name, its interval behind it, the last value beside it."""
    with _style():
        picture, axes = _figure(title, 0.56 * WIDTH)
        for number, (name, points) in enumerate(lines.items()):
            colour, places = COLOURS[number % len(COLOURS)], [place for place, _ in points]
            axes.plot(places, [100 * rate.value for _, rate in points], color=colour, label=name, marker="o", markersize=3)
            lows, highs = [100 * rate.low for _, rate in points], [100 * rate.high for _, rate in points]
            axes.fill_between(places, lows, highs, color=colour, alpha=0.2, linewidth=0)
            axes.annotate(f"{100 * points[-1][1].value:.0f}", (places[-1], 100 * points[-1][1].value), (6, 0), textcoords="offset points")
        _finish_curves(axes, label, _columns(list(lines)))
    return picture


def _finish_curves(axes: Axes, label: str, columns: int) -> None:
    axes.set_ylim(0, 100)
    axes.set_xlim(left=0)
    axes.margins(x=0.06)
    axes.set_xlabel(label)
    axes.set_ylabel("games won, in % (bands: 95 % intervals)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=EMPTY)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, frameon=False)


def _columns(names: Sequence[str]) -> int:
    """Of the legend: as many as find room for the longest name."""
    return max(1, min(len(names), LEGEND // (max(map(len, names)) + 4)))


def _rows(rates: Mapping[str, Mapping[str, Estimate]], places: Sequence[str]) -> list[tuple[str, str, float]]:
    """Agent, place and height of each bar; the groups stand apart."""
    rows, y = [], 0.0
    for place in places:
        for agent in rates:
            if place in rates[agent]:
                rows.append((agent, place, y))
                y += 1
        y += 0.7
    return rows


def _agent_bars(axes: Axes, agent: str, number: int, found: Sequence[tuple[Estimate, float]]) -> None:
    heights = [y for _, y in found]
    errors = [[100 * (rate.value - rate.low) for rate, _ in found], [100 * (rate.high - rate.value) for rate, _ in found]]
    axes.barh(
        heights,
        [100 * rate.value for rate, _ in found],
        height=0.86,
        color=COLOURS[number % len(COLOURS)],
        hatch="//" if number >= len(COLOURS) else None,
        xerr=np.maximum(errors, 0),
        error_kw={"ecolor": INK, "elinewidth": 1.3, "capsize": 3},
        label=agent,
    )
    for rate, y in found:
        axes.annotate(f"{100 * rate.value:.1f}", (100 * rate.high, y), (6, 0), textcoords="offset points", va="center", fontsize=11)


def _finish_bars(axes: Axes, label: str, columns: int) -> None:
    axes.invert_yaxis()
    axes.margins(y=0.02)
    axes.set_xlim(0, 108)  # room for the number beside a bar of 100 %
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("games won, in % (lines: 95 % intervals)")
    axes.set_ylabel(label)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="x", color=EMPTY)
    axes.set_axisbelow(True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=columns, frameon=False, handlelength=1.2, columnspacing=1.4)


def library(name: str) -> Any:
    """The library, or one sentence that says how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise TetrarchiaError('pictures of results need matplotlib: pip install "tetrarchia[plots]"') from None


@contextmanager
def _style() -> Iterator[None]:
    """Our settings, whatever the user's are; his come back afterwards."""
    matplotlib = library("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def _figure(title: str, height: float) -> tuple[Figure, Axes]:
    picture = library("matplotlib.figure").Figure(figsize=(WIDTH, height), layout="constrained")
    lines = [fill(line, TITLE) for line in title.splitlines()]
    picture.suptitle("\n".join(lines), fontsize=14, fontweight="bold")
    return picture, picture.add_subplot()


def _cells(axes: Axes, values: Any, texts: Sequence[Sequence[str]], size: float, aspect: str = "equal") -> None:
    """Shares of 1 as colours, each with its text; the text is light on dark and dark on light."""
    colours = library("matplotlib").colormaps[MAP].with_extremes(bad=EMPTY)
    axes.imshow(values, cmap=colours, vmin=0, vmax=1, aspect=aspect)
    for (row, column), value in np.ndenumerate(values):
        brightness = np.dot(colours(value)[:3], (0.299, 0.587, 0.114))
        letters = "white" if brightness < 0.47 else "black"
        text = axes.text(column, row, texts[row][column], ha="center", va="center", color=letters, fontsize=size)
        text.set_in_layout(False)  # it lies within its cell, and measuring hundreds of them takes time
    _lines(axes, 1, 1, 0.8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _lines(axes: Axes, rows: int, columns: int, width: float) -> None:
    """After so many rows and so many columns."""
    bottom, right = axes.images[0].get_array().shape
    for at in range(rows, bottom, rows):
        axes.axhline(at - 0.5, color="white", linewidth=width)
    for at in range(columns, right, columns):
        axes.axvline(at - 0.5, color="white", linewidth=width)


def _nested(axis: Any, outer: str, inner: str, labels: tuple[str, str], away: float) -> None:
    """The inner digit at each row or column, the outer one once for its group."""
    axis.set_ticks(range(len(outer) * len(inner)), list(inner) * len(outer))
    axis.set_label_text(labels[1])
    axes, upright = axis.axes, axis.axis_name == "y"
    beside = axes.secondary_yaxis(-away) if upright else axes.secondary_xaxis(-away)
    second = beside.yaxis if upright else beside.xaxis
    second.set_ticks([len(inner) * (number + 0.5) - 0.5 for number in range(len(outer))], list(outer), fontweight="bold")
    second.set_label_text(labels[0], fontweight="bold")
    beside.tick_params(length=0)
    beside.spines[:].set_visible(False)


def _scale(picture: Figure, axes: Axes) -> None:
    scale = picture.colorbar(axes.images[0], ax=axes, fraction=0.045, pad=0.02, ticks=(0, 0.25, 0.5, 0.75, 1))
    scale.ax.set_yticklabels(["0", "25", "50", "75", "100"])
    scale.set_label("games won, in %")
    scale.outline.set_visible(False)


def _value(rate: Estimate | None) -> float:
    return np.nan if rate is None else rate.value


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.0f}"


def _with_interval(rate: Estimate | None) -> str:
    return "" if rate is None else f"{100 * rate.value:.1f}\n({100 * rate.low:.1f} to {100 * rate.high:.1f})"
