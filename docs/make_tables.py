"""Fill the generated tables of the hand-written pages in docs/: `python docs/make_tables.py [--check]`.

Tables are between `<!-- begin NAME -->` and `<!-- end NAME -->`. With `--check` nothing is written and the exit code
is 1 if a page is out of date.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
from msgspec.structs import asdict, astuple

from tetrarchia_agents import make_agent
from tetrarchia_agents.partners import load_partners
from tetrarchia_env import batch, variants
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS, PACKAGED, PICTURE, SPACES, BoardFile, read
from tetrarchia_env.constants import MODULES, VARIANTS
from tetrarchia_env.heuristic import FEATURES, load_weights
from tetrarchia_env.notation import ACTION_TEXTS
from tetrarchia_env.observation import BY_SPACE, OBSERVATION, OTHERS
from tetrarchia_env.options import Options
from tetrarchia_env.render.legend import legend
from tetrarchia_env.render.map import static_map
from tetrarchia_env.render.svg import cutting
from tetrarchia_eval.page import fill
from tetrarchia_eval.statistics import wilson

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results" / "main"
BENCHMARK = DOCS.parent / "benchmarks" / "latest.json"
CHECKPOINTS = DOCS.parent / "checkpoints"
PRESETS = {
    "`small`": "ppo-small",
    "`ppo`": "ppo-1",
    "`ppo-more`, from `ppo-1`": "ppo",
    "`ppo-full-more`, from `ppo-full-1`": "ppo-full",
    "`scratch-large`": "scratch-large",
}
PRESET_LEVELS = ("4200", "4211", "4222")
SOURCES = ("rulebook", "implied", "play report", "reconstructed")
MAX_TEXTS_PER_ROW = 4
BOARD_SVG_SCALE = 1.4
EPISODE_AGENTS = ("random", "greedy", "planner", "ppo")
LEGAL_ACTION_GAMES = 1000

# The rule of each kind of action by the beginning of its text; the longest match counts.
RULES = {
    "end": "R4.8", "secure": "R4.5", "subdue": "R4.6", "calm": "R4.6", "sail": "R4.4", "fleet": "R2.6", "enter": "R3.2", "move": "R4.1",
    "attack": "R4.7",
    **{text.partition(" {")[0]: rule.rule for rule in (*variants.VARIANTS, *variants.MODULES) for text in rule.actions.values()},
}  # fmt: skip


def main(arguments: Sequence[str], folder: Path = DOCS) -> int:
    """Write every page whose tables are out of date; with `--check` only report them."""
    stale = {}
    for name, text in pages(folder).items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale[path] = text
    if "--check" in arguments:
        print(f"out of date, run python docs/make_tables.py: {', '.join(path.name for path in stale)}" if stale else "up to date")
        return int(bool(stale))
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.name}")
    return 0


def pages(folder: Path = DOCS) -> dict[str, str]:
    """Return the complete text of each page and picture by file name."""
    board_file = read(PACKAGED)
    tables = {
        "environment.md": {"actions": action_table(), "episodes": episode_table(), "legal actions": legal_action_table()},
        "performance.md": performance_tables(),
        "training.md": {"presets": preset_table()},
        "observation.md": {"layout": layout_table()},
        "agents.md": {"features": feature_table(), "partners": partner_table()},
        "board.md": {
            "facts": facts_table(board_file),
            "spaces": spaces_table(board_file),
            "links": links_table(board_file),
            "capitals": capitals_table(board_file),
            "paths": paths_table(board_file),
        },
    }
    return {name: fill((folder / name).read_text(encoding="utf-8"), parts, name) for name, parts in tables.items()} | {
        "board.svg": board_picture()
    }


def markdown(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


# --- environment.md ---


def action_table() -> str:
    """Return the table of actions: one row for consecutive ids whose texts differ only in a space or a sea zone."""
    headings = re.findall(r"^## ((R\d+) .*)$", (DOCS / "rules.md").read_text(encoding="utf-8"), re.MULTILINE)
    anchors = {rule: re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title, rule in headings}

    def rows() -> Iterator[Sequence[object]]:
        for _, run in groupby(enumerate(ACTION_TEXTS), key=lambda pair: action_pattern(pair[1])):
            ids, texts = zip(*run, strict=True)
            written = ", ".join(f"`{text}`" for text in texts) if len(texts) <= MAX_TEXTS_PER_ROW else f"`{action_pattern(texts[0])}`"
            rule = RULES[max((start for start in RULES if texts[0].startswith(start)), key=len)]
            yield ids[0] if len(ids) == 1 else f"{ids[0]} to {ids[-1]}", written, f"[{rule}](rules.md#{anchors[rule.split('.')[0]]})"

    return markdown(("id", "text", "rule"), rows())


def action_pattern(text: str) -> str:
    """Replace the space or sea zones of an action's text by SPACE or ZONE."""
    for kind, names in {"SPACE": BOARD.names, "ZONE": BOARD.zones}.items():
        if matches := [name for name in names if text.endswith(f" {name}")]:
            start = text.removesuffix(max(matches, key=len))
            return f"{start.split()[0]} {kind}" if kind == "ZONE" else start + kind
    return text


def episode_table() -> str:
    """Return the table of turns, decisions and outcomes per game, from the kept result files."""

    def rows() -> Iterator[Sequence[object]]:
        for agent in EPISODE_AGENTS:
            lines = (RESULTS / f"{agent}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
            games = [game for game in map(json.loads, lines) if game["level"] == "4211"]
            turns = np.array([game["turns"] for game in games])
            decisions = np.array([sum(game["decisions"]) for game in games])
            outcomes = Counter(game["outcome"] for game in games)
            shares = (f"{100 * outcomes[name] / len(games):.1f} %" for name in ("won", "rome fell", "reserve empty", "truncated"))
            returns = (outcomes["won"] - outcomes["rome fell"] - outcomes["reserve empty"]) / len(games)
            yield (
                f"`{agent}`",
                f"{len(games):,}",
                *(f"{np.mean(x):.0f} ({np.median(x):.0f})" for x in (turns, decisions)),
                *shares,
                f"{returns:+.2f}",
            )

    columns = ("agent", "games", "turns", "decisions", "won", "rome fell", "reserve empty", "truncated", "mean return")
    return markdown(columns, rows())


def legal_action_table() -> str:
    """Return the table of legal actions per decision in games of `greedy`."""

    def rows() -> Iterator[Sequence[object]]:
        every = Options(variants=VARIANTS, modules=MODULES)
        for label, options in (("base game, level 4211", Options()), ("all variants and modules, level 4211", every)):
            counts = legal_action_counts(options)
            yield label, f"{len(counts):,}", f"{counts.mean():.1f}", f"{np.median(counts):.0f}", counts.max()

    return markdown(("rules", "decisions", "mean", "median", "maximum"), rows())


def legal_action_counts(options: Options) -> np.ndarray:
    """Play games of `greedy` and return the number of legal actions at each decision."""
    games, masks = batch.new_games(options, range(LEGAL_ACTION_GAMES))
    agent, counts = make_agent("greedy"), []

    def act(running: batch.Games, legal: batch.Masks, rows: batch.Rows) -> np.ndarray:
        counts.append(legal.sum(axis=1))
        return agent.act(running, legal, rows)

    batch.play_to_end(games, masks, act)
    return np.concatenate(counts)


# --- training.md ---


def preset_table() -> str:
    """Return the table of training times and win rates of the checkpoint that each preset produced."""

    def rows() -> Iterator[Sequence[object]]:
        for preset, checkpoint in PRESETS.items():
            card = json.loads((CHECKPOINTS / checkpoint / "card.json").read_text(encoding="utf-8"))
            training = card["training"]
            warm_start = training["warm_start"] or {}
            minutes = (training["seconds"] + (warm_start["seconds"] if "expert" in warm_start else 0)) / 60
            games = [json.loads(line) for line in (RESULTS / f"{checkpoint}.jsonl").read_text(encoding="utf-8").splitlines()[1:]]
            rates = []
            for level in PRESET_LEVELS:
                won = [game["outcome"] == "won" for game in games if game["level"] == level]
                rate = wilson(sum(won), len(won))
                rates.append(f"{100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})")
            yield preset, f"`{checkpoint}`", f"{training['timesteps'] / 1e6:.1f} M", f"{minutes:.0f} min", *rates

    return markdown(("preset", "checkpoint", "timesteps", "time", *PRESET_LEVELS), rows())


# --- performance.md ---


def performance_tables() -> dict[str, str]:
    """Return the tables of the benchmark rows in benchmarks/latest.json, by section."""
    report = json.loads(BENCHMARK.read_text(encoding="utf-8"))
    machine = report["machine"]

    def table(select: Callable[[str], bool], label: str = "") -> str:
        chosen = [row for row in report["rows"] if select(row["what"])]
        rows = ((row["what"].removeprefix(label), f"{formatted(row['value'])} {row['unit']}") for row in chosen)
        return markdown(("measurement", "value"), rows)

    peers = ("PettingZoo ", "OpenSpiel ")
    startup = ("import", "then ", "rules and search")
    known = (*peers, *startup, "training", "web")
    return {
        "machine": f"Measured on {report['date'][:10]}: {machine['cores']} cores ({machine['processor']}), {machine['system']}, "
        f"Python {machine['python']}, NumPy {report['versions']['numpy']}, Numba {report['versions']['numba']}.",
        "rates": table(lambda what: not what.startswith(known) and " / " not in what),
        "peers": table(lambda what: what.startswith(peers)),
        "startup": table(lambda what: what.startswith(startup)),
        "training": table(lambda what: what.startswith("training"), "training, "),
        "web": table(lambda what: what.startswith("web"), "web, "),
    }


def formatted(value: float) -> str:
    """Format a measurement with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# --- observation.md and agents.md ---


def partner_table() -> str:
    """Return the table of partners with their split and description."""
    rows = ([f"`{name}`", partner.split, partner.description] for name, partner in load_partners().items())
    return markdown(["partner", "split", "how it plays"], rows)


def layout_table() -> str:
    """Return the table of the observation's parts: index ranges, names, shapes and meanings."""

    def rows() -> Iterator[Sequence[object]]:
        first = 0
        for name, (count, meaning) in (BY_SPACE | OTHERS).items():
            size = OBSERVATION[name].itemsize // 4
            index = f"{first} to {first + size - 1}" if size > 1 else first
            yield index, f"`{name}`", f"{count} x {SPACES}" if name in BY_SPACE else count, meaning
            first += size

    return markdown(("index", "part", "shape", "meaning"), rows())


def feature_table() -> str:
    """Return the table of the features of the heuristic with their fitted weights."""
    weights = load_weights()[0]
    return markdown(("feature", "weight", "meaning"), ((f"`{name}`", f"{weights[name]:.4f}", text) for name, text in FEATURES.items()))


# --- board.md ---


def facts_table(file: BoardFile) -> str:
    """Return a summary and the table of the facts about the board by kind and source."""
    spaces = [space.sources for space in file.space]
    links = [link.sources for link in file.link]
    facts = {
        "names of spaces": [sources["name"] for sources in spaces if "name" in sources],
        "numbers of spaces": [sources["number"] for sources in spaces if "number" in sources],
        "coasts of spaces": [sources["coasts"] for sources in spaces if "coasts" in sources],
        "links": [sources["link"] for sources in links if "link" in sources],
        "kinds of links": [sources["kind"] for sources in links if "kind" in sources],
        "capitals": list(file.capital_sources.values()),
    }
    facts["**all**"] = [source for sources in facts.values() for source in sources]
    rows = [(kind, len(sources), *(sources.count(source) for source in SOURCES)) for kind, sources in facts.items()]
    total, count = len(facts["**all**"]), Counter(facts["**all**"])
    used = {frozenset(step) for path in astuple(file.paths) for step in pairwise(path)}
    steps = [link.sources.get("link", "") for link in file.link if frozenset(link.between) in used]
    stated = count["rulebook"] + count["implied"]
    summary = (
        f"Of {total} facts about the board, {stated} ({stated / total:.0%}) are stated in the rules or follow from them, "
        f"{count['play report']} ({count['play report'] / total:.0%}) come from published play reports, and **{count['reconstructed']} "
        f"({count['reconstructed'] / total:.0%}) are reconstructed**. Of the {len(steps)} different steps of the armies' paths, "
        f"{steps.count('rulebook') + steps.count('implied')} use a link that is stated or implied."
    )
    return f"{summary}\n\n{markdown(('fact', 'number', *SOURCES), rows)}"


def spaces_table(file: BoardFile) -> str:
    """Return the table of spaces with their ids, regions, coasts and sources."""

    def rows() -> Iterator[Sequence[object]]:
        for space_id, space in enumerate(file.space):
            region = ("ITALIA", *NUMERALS)[space.region]
            number = "border" if space.number == 7 else space.number
            sources = (space.sources.get(key, "") for key in ("name", "number", "coasts"))
            yield space_id, region, number, space.name, ", ".join(space.coasts), *sources

    return markdown(("id", "region", "number", "name", "coasts", "source of name", "source of number", "source of coasts"), rows())


def links_table(file: BoardFile) -> str:
    """Return the table of links with their kinds and sources."""

    def rows() -> Iterator[Sequence[object]]:
        for link in file.link:
            sources = (link.sources.get(key, "") for key in ("link", "kind"))
            yield *link.between, "broken" if link.broken else "normal", *sources

    return markdown(("from", "to", "kind", "source of link", "source of kind"), rows())


def capitals_table(file: BoardFile) -> str:
    """Return the table of the Emperors' capitals and their sources."""
    sources = file.capital_sources
    return markdown(
        ("Emperor", "capital", "source"), ((emperor, getattr(file.capitals, emperor), sources.get(emperor, "")) for emperor in EMPERORS)
    )


def paths_table(file: BoardFile) -> str:
    """Return the table of the armies' paths to ROMA."""
    return markdown(("region", "steps", "path"), ((region, len(path) - 1, " - ".join(path)) for region, path in asdict(file.paths).items()))


def board_picture() -> str:
    """Return the map as SVG, without pieces and panel."""
    size = round(PICTURE[0] * BOARD_SVG_SCALE), round(PICTURE[1] * BOARD_SVG_SCALE)
    return cutting(static_map() + legend(), BOARD_SVG_SCALE, (0, 0), size) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
