"""Plots of results as PNG or SVG: heat maps of levels, bars and dots with intervals, matrices of cross-play, learning curves.

The same numbers give the same bytes. Maps use viridis, bars the colors of Okabe and Ito, and every value is also
written as text.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import import_optional
from tetrarchia_env.files import atomic_write, check_writable
from tetrarchia_eval.analysis import LevelGrid, Matrix
from tetrarchia_eval.statistics import Estimate

Figure = Any  # matplotlib's
Axes = Any

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
INK, FAINT, EMPTY = "#222222", "#8a8a8a", "#e4e4e4"
COLOR_MAP = "viridis"
WIDTH_IN = 8.0
PNG_DPI = 150
MAX_COLUMNS_WITH_INTERVALS = 5  # of a matrix
LEGEND_CHARACTERS = 64  # per line
TITLE_CHARACTERS = 60  # per line
DODGE = 0.06  # between the dots of two agents, in places
LABEL_GAP = 5.0  # between two labels at the end of lines, in percentage points
STYLE = {
    "font.family": "DejaVu Sans",  # part of matplotlib: the same on every machine
    "font.size": 12,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.edgecolor": FAINT,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.hashsalt": "tetrarchia",
    "text.parse_math": False,  # names of agents may contain a dollar sign
}
# Without the date and the library's version in the file.
METADATA: dict[str, dict[str, None]] = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}


def save(plot: Figure, path: str | os.PathLike[str]) -> None:
    """Write a plot in the format of the file's suffix, .png or .svg.

    Raises:
        TetrarchiaError: If the suffix is another one or the file cannot be written.
    """
    check_plot(path)
    suffix = Path(path).suffix
    with atomic_write(path) as draft, _style():
        plot.savefig(draft, format=suffix[1:], dpi=PNG_DPI, metadata=METADATA[suffix])


def check_plot(path: str | os.PathLike[str]) -> None:
    """Raise TetrarchiaError if a plot cannot be made or written there."""
    if Path(path).suffix not in METADATA:
        raise TetrarchiaError(f"plot must end in {' or '.join(METADATA)}; got {os.fspath(path)!r}")
    check_writable(Path(path))
    _library("matplotlib")


def heat_map(title: str, grid: LevelGrid) -> Figure:
    """Draw the win rates of 81 or 256 levels, each written into its cell in percent."""
    (tokens, fleets), (revolts, armies) = (
        [list(dict.fromkeys(name[place] for name in names)) for place in (0, 1)] for names in (grid.rows, grid.columns)
    )
    texts = [["" if np.isnan(value) else f"{100 * value:.0f}" for value in row] for row in grid.values]
    with _style():
        plot, axes = _figure(title, 0.96 * WIDTH_IN)
        _cells(axes, grid.values, texts, size=12 if len(tokens) == 3 else 9.5)
        _nested(axes.xaxis, revolts, armies, ("extra Revolts", "initial armies"), away=0.085)
        _nested(axes.yaxis, tokens, fleets, ("tokens per Emperor", "fleets"), away=0.095)
        _lines(axes, len(fleets), len(armies), 4)
        _scale(plot, axes)
    return plot


def matrix_plot(title: str, matrix: Matrix, row_label: str, column_label: str) -> Figure:
    """Draw win rates by row and column, each with its interval if there is space for it."""
    is_wide = len(matrix.columns) > MAX_COLUMNS_WITH_INTERVALS
    rates = [[matrix.cells.get((row, column)) for column in matrix.columns] for row in matrix.rows]
    values = np.array([[np.nan if rate is None else rate.value for rate in row] for row in rates])

    def text(rate: Estimate | None) -> str:
        if rate is None:
            return ""
        return f"{100 * rate.value:.1f}" + ("" if is_wide else f"\n({100 * rate.low:.1f} to {100 * rate.high:.1f})")

    with _style():
        plot, axes = _figure(title, (2.6 if is_wide else 1.6) + (0.5 if is_wide else 0.85) * len(matrix.rows))
        _cells(axes, values, [list(map(text, row)) for row in rates], size=11, aspect="auto")
        axes.set_xticks(range(len(matrix.columns)), matrix.columns, rotation=30 if is_wide else 0, ha="right" if is_wide else "center")
        axes.set_yticks(range(len(matrix.rows)), matrix.rows)
        axes.set_xlabel(column_label)
        axes.set_ylabel(row_label)
        _scale(plot, axes)
    return plot


def bars(title: str, rates: Mapping[str, Mapping[str, Estimate]], label: str = "") -> Figure:
    """Draw win rates of agents: a group of bars per place (level, scenario or rules), one bar with its interval per agent."""
    places = list(dict.fromkeys(place for found in rates.values() for place in found))
    heights: dict[tuple[str, str], float] = {}  # by agent and place
    y = 0.0
    for place in places:
        for agent in rates:
            if place in rates[agent]:
                heights[agent, place] = y
                y += 1
        y += 0.7  # between groups
    with _style():
        columns = _legend_columns(list(rates))
        plot, axes = _figure(title, 1.4 + 0.24 * -(-len(rates) // columns) + 0.32 * max(heights.values()))
        for number, (agent, found) in enumerate(rates.items()):
            axes.barh(
                [heights[agent, place] for place in found],
                [100 * rate.value for rate in found.values()],
                height=0.86,
                color=COLORS[number % len(COLORS)],
                hatch="//" if number >= len(COLORS) else None,
                xerr=_errors(found),
                error_kw={"ecolor": INK, "elinewidth": 1.3, "capsize": 3},
                label=agent,
            )
            for place, rate in found.items():
                point = (100 * rate.high, heights[agent, place])
                axes.annotate(f"{100 * rate.value:.1f}", point, (6, 0), textcoords="offset points", va="center", fontsize=11)
        centers = [float(np.mean([height for (_, group), height in heights.items() if group == place])) for place in places]
        axes.set_yticks(centers, [place.replace("_", " ") for place in places])
        axes.invert_yaxis()
        axes.margins(y=0.02)
        axes.set_xlim(0, 108)  # with space for the number next to a bar of 100 %
        axes.set_xticks(range(0, 101, 20))
        axes.set_xlabel("games won, in % (lines: 95 % intervals)")
        axes.set_ylabel(label)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.grid(axis="x", color=EMPTY)
        axes.set_axisbelow(True)
        axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=columns, frameon=False, handlelength=1.2, columnspacing=1.4)
    return plot


def dots(title: str, rates: Mapping[str, Mapping[str, Estimate]], label: str = "") -> Figure:
    """Draw win rates of agents by place: a dot with its interval per agent and place, and the agent's name next to its last dot."""
    places = list(dict.fromkeys(place for found in rates.values() for place in found))
    with _style():
        plot, axes = _figure(title, 0.72 * WIDTH_IN)
        ends = []  # rate, name and place of each agent's last dot
        for number, (agent, found) in enumerate(rates.items()):
            color = COLORS[number % len(COLORS)]
            shift = DODGE * (number - (len(rates) - 1) / 2)  # so that intervals do not hide each other
            x, values = [places.index(place) + shift for place in found], [100 * rate.value for rate in found.values()]
            axes.plot(x, values, color=color, linewidth=1, alpha=0.45)
            axes.errorbar(x, values, _errors(found), fmt="o", color=color, markersize=6, elinewidth=1.6, capsize=3)
            ends.append((values[-1], agent, x[-1]))
        height = -np.inf  # of the last label
        for value, agent, x_end in sorted(ends):
            height = max(value, height + LABEL_GAP)
            axes.annotate(f"{agent}  {value:.1f}", (x_end, height), (12, 0), textcoords="offset points", va="center")
        axes.set_xticks(range(len(places)), [place.replace("_", " ") for place in places])
        axes.set_xlim(-0.4, len(places) - 0.6)
        axes.set_ylim(-3, 103)
        axes.set_xlabel(label)
        axes.set_ylabel("games won, in % (lines: 95 % intervals)")
        axes.tick_params(axis="x", length=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color=EMPTY)
        axes.set_axisbelow(True)
    return plot


def curves(
    title: str,
    lines: Mapping[str, Sequence[tuple[float, Estimate]]],
    label: str,
    runs: Mapping[str, Sequence[Sequence[tuple[float, float]]]] | None = None,
) -> Figure:
    """Draw learning curves: a line per name with its interval, and the last value next to it.

    Args:
        title: The title.
        lines: Places and estimates by name.
        label: Label of the places.
        runs: By name, the curves of single runs, drawn as thin lines; the bands are then intervals over runs.
    """
    with _style():
        plot, axes = _figure(title, 0.56 * WIDTH_IN)
        ends: list[tuple[float, float]] = []
        for number, (name, points) in enumerate(lines.items()):
            color, places = COLORS[number % len(COLORS)], [place for place, _ in points]
            for run in (runs or {}).get(name, ()):
                axes.plot([place for place, _ in run], [100 * value for _, value in run], color=color, linewidth=0.7, alpha=0.55)
            axes.plot(places, [100 * rate.value for _, rate in points], color=color, label=name, marker="o", markersize=3)
            lows, highs = [100 * rate.low for _, rate in points], [100 * rate.high for _, rate in points]
            axes.fill_between(places, lows, highs, color=color, alpha=0.2, linewidth=0)
            ends.append((100 * points[-1][1].value, places[-1]))
        height = -np.inf  # of the last label
        for value, x_end in sorted(ends):
            height = max(value, height + LABEL_GAP)
            axes.annotate(f"{value:.0f}", (x_end, height), (6, 0), textcoords="offset points", va="center")
        axes.set_ylim(0, 100)
        axes.set_xlim(left=0)
        axes.margins(x=0.06)
        axes.set_xlabel(label)
        axes.set_ylabel("games won, in % (bands: 95 % intervals)" if runs is None else "games won, in %\n(bands: 95 % intervals over runs)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=EMPTY)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=_legend_columns(list(lines)), frameon=False)
    return plot


def profiles(title: str, lines: Mapping[str, Sequence[tuple[float, Estimate]]]) -> Figure:
    """Draw performance profiles: for each group the fraction of runs and levels above each threshold, with its band."""
    with _style():
        plot, axes = _figure(title, 0.56 * WIDTH_IN)
        for number, (name, points) in enumerate(lines.items()):
            color, places = COLORS[number % len(COLORS)], [100 * place for place, _ in points]
            axes.step(places, [100 * rate.value for _, rate in points], color=color, label=name, where="post")
            lows, highs = [100 * rate.low for _, rate in points], [100 * rate.high for _, rate in points]
            axes.fill_between(places, lows, highs, color=color, alpha=0.2, linewidth=0, step="post")
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 102)
        axes.set_xlabel("threshold: games won, in %")
        axes.set_ylabel("runs and levels above the threshold,\nin % (bands: 95 % intervals over runs)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color=EMPTY)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=_legend_columns(list(lines)), frameon=False)
    return plot


def _errors(rates: Mapping[str, Estimate]) -> Any:
    """Return the lengths of the error bars, below and above the values, in percentage points."""
    lengths = [[100 * (rate.value - rate.low) for rate in rates.values()], [100 * (rate.high - rate.value) for rate in rates.values()]]
    return np.maximum(lengths, 0)


def _legend_columns(names: Sequence[str]) -> int:
    return max(1, min(len(names), LEGEND_CHARACTERS // (max(map(len, names)) + 4)))


def _library(name: str) -> Any:
    return import_optional(name, "plots", "a plot")


@contextmanager
def _style() -> Iterator[None]:
    """Use our settings instead of the user's."""
    matplotlib = _library("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def _figure(title: str, height: float) -> tuple[Figure, Axes]:
    plot = _library("matplotlib.figure").Figure(figsize=(WIDTH_IN, height), layout="constrained")
    lines = [fill(line, TITLE_CHARACTERS) for line in title.splitlines()]
    plot.suptitle("\n".join(lines), fontsize=14, fontweight="bold")
    return plot, plot.add_subplot()


def _cells(axes: Axes, values: Any, texts: Sequence[Sequence[str]], size: float, aspect: str = "equal") -> None:
    """Draw fractions as colors, each with a text that is light on dark and dark on light."""
    colors = _library("matplotlib").colormaps[COLOR_MAP].with_extremes(bad=EMPTY)
    axes.imshow(values, cmap=colors, vmin=0, vmax=1, aspect=aspect)
    for (row, column), value in np.ndenumerate(values):
        brightness = np.dot(colors(value)[:3], (0.299, 0.587, 0.114))
        letters = "white" if brightness < 0.47 else "black"
        text = axes.text(column, row, texts[row][column], ha="center", va="center", color=letters, fontsize=size)
        text.set_in_layout(False)  # it fits its cell, and measuring hundreds of texts is slow
    _lines(axes, 1, 1, 0.8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _lines(axes: Axes, rows: int, columns: int, width: float) -> None:
    """Draw white lines after every `rows` rows and `columns` columns."""
    bottom, right = axes.images[0].get_array().shape
    for at in range(rows, bottom, rows):
        axes.axhline(at - 0.5, color="white", linewidth=width)
    for at in range(columns, right, columns):
        axes.axvline(at - 0.5, color="white", linewidth=width)


def _nested(axis: Any, outer: Sequence[str], inner: Sequence[str], labels: tuple[str, str], away: float) -> None:
    """Label each row or column with the inner digit, and each group with the outer one."""
    axis.set_ticks(range(len(outer) * len(inner)), list(inner) * len(outer))
    axis.set_label_text(labels[1])
    axes, upright = axis.axes, axis.axis_name == "y"
    outer_axes = axes.secondary_yaxis(-away) if upright else axes.secondary_xaxis(-away)
    second = outer_axes.yaxis if upright else outer_axes.xaxis
    second.set_ticks([len(inner) * (number + 0.5) - 0.5 for number in range(len(outer))], list(outer), fontweight="bold")
    second.set_label_text(labels[0], fontweight="bold")
    outer_axes.tick_params(length=0)
    outer_axes.spines[:].set_visible(False)


def _scale(plot: Figure, axes: Axes) -> None:
    scale = plot.colorbar(axes.images[0], ax=axes, fraction=0.045, pad=0.02, ticks=(0, 0.25, 0.5, 0.75, 1))
    scale.ax.set_yticklabels(["0", "25", "50", "75", "100"])
    scale.set_label("games won, in %")
    scale.outline.set_visible(False)
