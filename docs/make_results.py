"""Fill the generated tables and plots from result files, checkpoints and trials: `python docs/make_results.py [--check]`.

`make results` runs it. It writes docs/results.md, training.md, analysis.md, model_cards.md, leaderboard.md, README.md, the plots of these
pages, the cards of the checkpoints, and the bounds of the partners of the benchmark. Every page with markers such as
`<!-- begin groups rates -->` also gets the tables of groups of runs, of tasks, of cooperation and of local information. With `--check`
nothing is written, and the exit code is 1 if a page (other than docs/results.md) or a card is out of date.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tetrarchia_agents.cards import CARD, CHECKPOINTS, read_card, shipped_checkpoints, shipped_group_runs
from tetrarchia_agents.network import make_network
from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env.constants import TASKS
from tetrarchia_env.files import write_text_atomic
from tetrarchia_eval.cooperation import (
    BORDERS_FILE,
    CROSS_PLAY,
    TEAMMATES,
    BorderHolders,
    border_bars,
    border_maps,
    border_table,
    cross_play_report,
    teammate_table,
)
from tetrarchia_eval.groups import INTERVALS, learning_curve_plots
from tetrarchia_eval.improvement import IMPROVEMENT_FILE, Improvement, improvement_table
from tetrarchia_eval.leaderboard import (
    Bounds,
    bounds_path,
    bounds_text,
    declaration_table,
    load_leaderboard,
    measure_bounds,
    partner_table,
    stronger_than_best_response,
    track_table,
)
from tetrarchia_eval.local_information import LOCAL, MESSAGES_FILE, MessageResults, gap_plot, gap_table, information_table, shuffle_table
from tetrarchia_eval.match import team_label
from tetrarchia_eval.page import (
    ABLATIONS,
    GROUPS,
    SECTIONS,
    Matches,
    commands,
    fill,
    folded,
    group_parts,
    group_report,
    headline_agents,
    load_results,
    marked,
    section_results,
    seeds,
    win_rate_table,
    write_report,
)
from tetrarchia_eval.plots import curves, matrix_plot, save
from tetrarchia_eval.protocol import load_protocol, read_result
from tetrarchia_eval.result_files import read_json
from tetrarchia_eval.statistics import Estimate, wilson
from tetrarchia_eval.tables import percent
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.metrics import CURVE_FILE, PUBLISHED_CURVE_FILE, read_curve
from tetrarchia_train.publish import TRIALS

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LEADERBOARD, PROTOCOL = ROOT / "leaderboard", "v1"
RESULTS, BENCHMARK, PLOTS = ROOT / "results", ROOT / "benchmarks" / "latest.json", DOCS / "pictures" / "training"
COOPERATION_PLOTS = DOCS / "pictures" / "cooperation"
LOCAL_CHECKPOINTS = "checkpoints/local-study"
LOCAL_PLOT = "pictures/local/gap.svg"  # next to the pages
AGENT = "ppo"  # the agent of the checkpoints
CARD_LEVELS = ("4200", "4211", "4222")
TIMED_PRESETS = ("ppo", "ppo-more")
BASELINE = "baseline"  # group of the ablations
AXES = ("timesteps", "minutes")  # of the learning curves of groups
NOTE = "note.txt"  # in the folder of a trial with other code: what was different
TRIED_OPTIONS = (
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
TASK_AGENTS = ("random", "greedy", "planner", "ppo")
TASK_MINUTES = (1, 10)  # of the run from scratch in the table of tasks
TASK_GAMES = 1_000
NOT_MEASURED = "not measured"
Point = dict[str, Any]  # of a learning curve


def main(arguments: Sequence[str]) -> int:
    """Write everything, or with `--check` return 1 if something is out of date."""
    if "--check" in arguments:
        stale = [path.name for path, text in texts().items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
        print(f"out of date, run make results: {', '.join(stale)}" if stale else "up to date")
        return int(bool(stale))
    write_report(RESULTS, DOCS / "results.md")
    draw_learning_curves()
    draw_cooperation()
    if results()[LOCAL]:
        (DOCS / LOCAL_PLOT).parent.mkdir(parents=True, exist_ok=True)
        save(gap_plot(group_report(results()[LOCAL])), DOCS / LOCAL_PLOT)
    for path, text in texts().items():
        write_text_atomic(path, text)
    return 0


def texts() -> dict[Path, str]:
    """Return the pages and cards that are generated from kept files, except docs/results.md."""
    training = {
        "checkpoints": table(
            "checkpoint | network | start | timesteps | PPO time | win rates", "---|---|---|---:|---:|---", checkpoint_rows()
        ),
        "curves": "\n".join(f"![Learning curve of {name}](pictures/training/{name}.svg)" for name in trained_checkpoints()),
        "speed": table(f"part | {' | '.join(f'`{preset}`' for preset in TIMED_PRESETS)}", "---|---:|---:", speed_rows()),
        "trials": table("network | difference | timesteps | time | win rates", "---|---|---:|---:|---", trial_rows()),
        "ablation": table("level | `chance_samples` 4 | `chance_samples` 0", "---|---:|---:", ablation_rows()),
    }
    parts = {
        DOCS / "training.md": training,
        DOCS / "analysis.md": {"calibration": calibration(), "improvement": improvement()},
        DOCS / "model_cards.md": {
            "model cards": table("checkpoint | network | weights | " + " | ".join(CARD_LEVELS), "---|---|---:|---:|---:|---:", card_rows())
        },
        DOCS / "leaderboard.md": leaderboard_parts(),
        ROOT / "README.md": {"results": readme_table()},
    }
    pages = {path: fill(path.read_text(encoding="utf-8"), some, path.name) for path, some in parts.items()}
    anywhere = group_parts(results()[GROUPS]) | {"groups curves": group_curve_images()} | cooperation_parts() | local_parts() | task_parts()
    anywhere |= ablation_parts()
    for path in sorted(DOCS.glob("*.md")):
        text = pages.get(path) or path.read_text(encoding="utf-8")
        if marked(text, anywhere):
            pages[path] = fill(text, marked(text, anywhere), path.name)
    return pages | cards() | ({bounds_path(PROTOCOL): bounds_text(partner_bounds())} if partner_bounds() else {})


def table(head: str, columns: str, rows: Iterable[str]) -> str:
    """Return a Markdown table from its head, alignment and rows without the outer bars."""
    return "\n".join([f"| {head} |", f"|{columns}|", *(f"| {row} |" for row in rows)])


@cache
def results() -> dict[str, Matches]:
    """Return the result files by folder."""
    return load_results(RESULTS)


# --- README.md and cards, from results/ ---


def readme_table() -> str:
    """Return the win rates of the most important agents at the standard levels, and the seeds."""
    matches = results()["main"]
    rates = section_results(SECTIONS[0], matches)
    return f"{win_rate_table(rates, headline_agents(rates)).markdown()}\n{seeds(matches).capitalize()}."


def cards() -> dict[Path, str]:
    """Return each checkpoint's card with its results by level or scenario."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for match in [match for folder in ("main", "scenarios", GROUPS) for match in results()[folder].values()]:
        agent, *options = team_label(match.spec.agents).split(":")
        name = (options or [AGENT])[0].removeprefix("checkpoint=")
        if agent != AGENT or len(options) > 1 or "=" in name:  # another agent, or with search
            continue
        for level in match.spec.levels:
            games = [game for game in match.games if game.level == level]
            won = sum(game.won for game in games)
            rate = wilson(won, len(games))
            place = match.spec.set_up or level
            found[name][place] = {"games": len(games), "won": won, "low": round(rate.low, 4), "high": round(rate.high, 4)}
    new = {name: read_card(CHECKPOINTS / name) | {"results": found[name]} for name in (*shipped_checkpoints(), *shipped_group_runs())}
    return {CHECKPOINTS / name / CARD: json.dumps(card, indent=1) + "\n" for name, card in new.items()}


def card_rows() -> Iterator[str]:
    """Yield kind and size of each checkpoint's network, and its win rates."""
    for name in shipped_checkpoints():
        card = read_card(CHECKPOINTS / name)
        found = json.loads(cards()[CHECKPOINTS / name / CARD])["results"]
        rates = (percent(wilson(found[level]["won"], found[level]["games"])) for level in CARD_LEVELS)
        size = sum(weights.numel() for weights in make_network(NetworkConfig(**card["network"])).state_dict().values())
        yield f"`{name}` | {network_shape(card['network'], card['network']['kind'])} | {size:,} | {' | '.join(rates)}"


# --- leaderboard.md, from leaderboard/ ---


@cache
def partner_bounds() -> dict[str, Bounds]:
    """Return the bounds of the partners that the results in leaderboard/bounds measure."""
    return measure_bounds(map(read_result, sorted((LEADERBOARD / "bounds").glob("*.json"))))


def leaderboard_parts() -> dict[str, str]:
    """Return the table of each track, the win rates by partner, and the declarations."""
    found = load_leaderboard(LEADERBOARD)
    protocol, known = load_protocol(PROTOCOL), partner_bounds()
    parts = {}
    for name, track in protocol.tracks.items():
        rows = [one for one in found if name in one.games]
        parts[name] = track_table(rows, name, known).markdown() if rows else "No results yet."
        if track.has_partners:
            parts[f"{name} partners"] = partner_table(rows, name, known).markdown() if rows else "No results yet."
            missing = [partner for partner in protocol.reporting.partners if partner not in known]
            stronger = stronger_than_best_response(rows, name, known)
            better = "; ".join(f"{partner} ({', '.join(names)})" for partner, names in stronger.items())
            parts[f"{name} bounds"] = (
                f"Bounds are not measured yet for {', '.join(missing)}: the table shows win rates without normalization."
                if missing
                else "The score is 0 for a random teammate and 1 for the best response to the partner. "
                + (f"Agents won more games than the best response to these partners: {better}." if better else "")
                + ("" if better else "No agent won more games with a partner than its best response.")
            )
    parts["declarations"] = declaration_table(found).markdown() if found else "No results yet."
    return {f"leaderboard {name}": part for name, part in parts.items()}


# --- analysis.md, from results/improvement.json ---


def improvement() -> str:
    """Return what better turns would gain, with the commands; empty without results."""
    if not (path := RESULTS / IMPROVEMENT_FILE).is_file():
        return ""
    kept = read_json(path, list[Improvement])
    file = f"{RESULTS.name}/{IMPROVEMENT_FILE}"
    command = "\n".join(f"python -m tetrarchia_eval.improvement {file} {one.agent} {one.level} {len(one.games)}" for one in kept)
    return f"{improvement_table(kept).markdown()}\nIntervals are over games.\n\n```console\n{command}\n```"


# --- cooperation.md, from results/cooperation ---


def cooperation_parts() -> dict[str, str]:
    """Return the tables, figures and commands of docs/cooperation.md that have results."""
    parts, found, borders = {}, results(), RESULTS / BORDERS_FILE
    if found[TEAMMATES]:
        alone = found["main"][f"{RESULTS.name}/main/{AGENT}.jsonl"]
        parts["teammates"] = f"{teammate_table(list(found[TEAMMATES].values()), alone).markdown()}\n{commands(found[TEAMMATES])}"
    if found[CROSS_PLAY]:
        report = cross_play_report(found[CROSS_PLAY])
        image = f"![Cross-play of separately trained agents]({plot_path('cross-play')})"
        parts["cross-play"] = f"{report.gap_table().markdown()}\n{report.title}; {INTERVALS}.\n\n{image}\n\n{commands(found[CROSS_PLAY])}"
    if borders.is_file():
        kept = read_json(borders, BorderHolders)
        caption = f"Level {kept.level}, {kept.games} games per agent, seeds {kept.first_seed} to {kept.first_seed + kept.games - 1}."
        command = f"python -m tetrarchia_eval.cooperation {RESULTS.name}/{BORDERS_FILE} {' '.join(kept.won)}"
        image = f"![Who holds which border in won games]({plot_path('borders')})"
        holders = folded("Most frequent holder of each border", border_table(kept))
        maps = f"![Holders of the borders on maps]({plot_path('border-maps')})"
        maps = f"<details><summary>A map for each agent</summary>\n\n{maps}\n\n</details>"
        parts["borders"] = f"{image}\n\n{caption}\n\n{holders}\n\n{maps}\n\n```console\n{command}\n```"
    return {f"cooperation {name}": part for name, part in parts.items()}


def plot_path(name: str) -> str:
    """Return the path of a figure of docs/cooperation.md, relative to the page."""
    return (COOPERATION_PLOTS / f"{name}.svg").relative_to(DOCS).as_posix()


def draw_cooperation() -> None:
    """Write the figures of docs/cooperation.md that have results."""
    COOPERATION_PLOTS.mkdir(parents=True, exist_ok=True)
    if results()[CROSS_PLAY]:
        [group] = cross_play_report(results()[CROSS_PLAY]).groups.values()
        title = "Cross-play of separately trained agents: games won"
        save(
            matrix_plot(title, group.matrix(), "diocletian and galerius", "constantius and maximian"), COOPERATION_PLOTS / "cross-play.svg"
        )
    if (RESULTS / BORDERS_FILE).is_file():
        kept = read_json(RESULTS / BORDERS_FILE, BorderHolders)
        write_text_atomic(COOPERATION_PLOTS / "borders.svg", border_bars(kept))
        write_text_atomic(COOPERATION_PLOTS / "border-maps.svg", border_maps(kept))


# --- local_information.md, from results/local ---


def local_parts() -> dict[str, str]:
    """Return the tables, figures and commands of docs/local_information.md that have results."""
    parts, matches = {}, results()[LOCAL]
    if matches:
        report = group_report(matches)
        image = f"![Self-play and cross-play of groups with different information]({LOCAL_PLOT})"
        parts["rates"] = f"{gap_table(report).markdown()}\n{report.title}; {INTERVALS}.\n\n{image}\n\n{commands(matches)}"
        parts["improvement"] = folded("Probability of improvement of every two groups", report.improvement_table())
    if (RESULTS / MESSAGES_FILE).is_file():
        kept = read_json(RESULTS / MESSAGES_FILE, MessageResults)
        caption = (
            f"Task {kept.task}, {kept.games:,} games per run, seeds {kept.first_seed} to {kept.first_seed + kept.games - 1}; {INTERVALS}."
        )
        groups = " ".join(f"{LOCAL_CHECKPOINTS}/{group}" for group in kept.groups)
        command = f"python -m tetrarchia_eval.local_information {RESULTS.name}/{MESSAGES_FILE} {kept.task} {groups}"
        parts["messages"] = (
            f"{information_table(kept).markdown()}\n{shuffle_table(kept).markdown()}\n{caption}\n\n```console\n{command}\n```"
        )
    return {f"local {name}": part for name, part in parts.items()}


# --- ablations in training.md, from results/ablations ---


def ablation_parts() -> dict[str, str]:
    """Return the table of the ablations, in which the first group is the baseline."""
    matches = results()[ABLATIONS]
    if not matches:
        return {}
    report = group_report(dict(sorted(matches.items(), key=lambda item: f"/{BASELINE}/" not in item[0])))
    return {"ablations": f"{report.difference_table().markdown()}\n{report.title}; {INTERVALS}.\n\n{commands(matches)}"}


# --- tasks, from results/tasks, results/main and trials ---


def task_parts() -> dict[str, str]:
    """Return the table of tasks, and the runs of the task that several seeds learned from scratch."""
    timed = {options["task"]: (options, read_curve(folder / CURVE_FILE)) for folder, options, _ in task_trials() if options["max_minutes"]}
    titles = ["task", *(f"`{agent}`" for agent in TASK_AGENTS), *(f"PPO, {minutes} min" for minutes in TASK_MINUTES if timed)]
    parts = {"tasks": table(" | ".join(titles), "---" + "|---:" * (len(titles) - 1), task_rows(timed))}
    seeds_table = [
        f"{folder.name.removeprefix('seed-')} | {last['timesteps'] / 1e6:.1f} M | {win_rates(last, options['n_eval_episodes'])}"
        for folder, options, last in task_trials()
        if not options["max_minutes"]
    ]
    return parts | ({"task seeds": table("seed | timesteps | games won", "---:|---:|---", seeds_table)} if seeds_table else {})


def task_rows(timed: Mapping[str, tuple[Point, Sequence[Point]]]) -> Iterator[str]:
    """Yield the win rate of each agent in each task; the tasks without a head start are standard levels.

    Args:
        timed: Options and curve of a run from scratch, by task.
    """
    rates: dict[tuple[str, str], list[bool]] = {}
    for match in (*results()["tasks"].values(), *results()["main"].values()):
        for game in match.games:
            rates.setdefault((match.spec.set_up or game.level, team_label(match.spec.agents)), []).append(game.won)
    for name, task in TASKS.items():
        place = name if (task.revolts, task.secured) != (6, 0) else task.level
        games = [rates.get((place, agent), [])[:TASK_GAMES] for agent in TASK_AGENTS]
        cells = [percent(wilson(sum(some), len(some))) if some else NOT_MEASURED for some in games]
        if name in timed:
            options, curve = timed[name]
            points = [min(curve, key=lambda point: abs(point["seconds"] - 60 * minutes)) for minutes in TASK_MINUTES]
            cells += [percent(win_rate(point, name, options["n_eval_episodes"])) for point in points]
        elif timed:
            cells += [NOT_MEASURED] * len(TASK_MINUTES)
        yield f"`{name}` | {' | '.join(cells)}"


def task_trials() -> list[tuple[Path, Point, Point]]:
    """Return folder, options and last point of the trials of groups, which learned a task from scratch."""
    folders = sorted(path.parent for path in TRIALS.glob("*/seed-*/options.yaml"))
    return [(folder, *trial(folder)) for folder in folders]


# --- analysis.md, from checkpoints/ppo/calibration.json ---


def calibration() -> str:
    """Return predicted and observed win rates, and Brier scores."""
    kept = json.loads((CHECKPOINTS / AGENT / "calibration.json").read_text(encoding="utf-8"))
    rows = (f"{percent(one['predicted'])} | {percent(one['won'])} | {one['positions']:,}" for one in kept["reliability"])
    levels = ", ".join(
        f"{score:.3f} at {'other levels' if level == 'others' else level}" for level, score in kept["brier_by_level"].items()
    )
    return (
        f"`{AGENT}` on {kept['positions']:,} positions of {kept['games']:,} held-out games, up to turn 100:\n\n"
        f"{table('predicted win probability | games won | positions', '---:|---:|---:', rows)}\n\n"
        f"Brier score: {kept['brier']:.3f}, without calibration {kept['uncalibrated_brier']:.3f}; by level: {levels}."
        f" The effective sample size is {kept['games']:,} games."
    )


# --- training.md, from checkpoints, trials and benchmarks ---


def trained_checkpoints() -> list[str]:
    """Return the checkpoints with a learning curve."""
    return [name for name in shipped_checkpoints() if (CHECKPOINTS / name / PUBLISHED_CURVE_FILE).is_file()]


def checkpoint_rows() -> Iterator[str]:
    """Yield a row for each checkpoint trained by PPO."""
    for name in trained_checkpoints():
        card = read_card(CHECKPOINTS / name)
        training, network = card["training"], card["network"]
        warm = training["warm_start"]
        if warm is None:
            start = "random weights"
        elif continued_checkpoint(training):
            start = f"`{continued_checkpoint(training)}`"
        else:
            start = (f"`{warm['init_checkpoint']}`, then " if warm.get("init_checkpoint") else "") + f"behavior cloning of {warm['expert']}"
        rates = win_rates(read_curve(CHECKPOINTS / name / PUBLISHED_CURVE_FILE)[-1], training["options"]["n_eval_episodes"])
        effort = f"{training['timesteps'] / 1e6:.1f} M | {training['seconds'] / 60:.0f} min"
        yield f"`{name}` | {network_shape(network, network['kind'])} | {start} | {effort} | {rates}"


def continued_checkpoint(training: Point) -> str:
    """Return the checkpoint whose training this one continues without behavior cloning in between, or an empty string."""
    return training["options"].get("init_checkpoint", "") if "expert" not in (training["warm_start"] or {"expert": ""}) else ""


def network_shape(sizes: Point, kind: str) -> str:
    """Return a network's kind and sizes: features per space x layers, hidden units."""
    layers = {"gnn": "{node_dim} x {encoder_layers}, ", "gnn-decoder": "{node_dim} x ({encoder_layers} + {decoder_layers}), ", "mlp": ""}
    return f"{kind}, {layers[kind]}{{hidden_dim}}".format(**sizes)


def win_rates(point: Point, games: int) -> str:
    """Return the win rates of a point of a curve with their intervals."""
    return ", ".join(f"{place} {percent(win_rate(point, place, games))}" for place in point["win_rates"])


def win_rate(point: Point, place: str, games: int) -> Estimate:
    """Return the win rate at one place of a point of a curve."""
    return wilson(round(point["win_rates"][place] * games), games)


def draw_learning_curves() -> None:
    """Write win rates against minutes of PPO for each trained checkpoint, and of each group against timesteps and minutes."""
    PLOTS.mkdir(parents=True, exist_ok=True)
    for name in trained_checkpoints():
        points = list(learning_curve(name))
        levels = read_card(CHECKPOINTS / name)["training"]["options"]["eval_levels"]
        lines = {level: [(minutes, win_rate(point, level, games)) for minutes, point, games in points] for level in levels}
        games = " and ".join(f"{count:,}" for count in sorted({games for _, _, games in points}))
        save(curves(f"Learning curve of {name}: {games} games per level", lines, "minutes of PPO"), PLOTS / f"{name}.svg")
    for name, runs in group_curves().items():
        for axis, plot in learning_curve_plots(name, runs).items():
            save(plot, PLOTS / f"{name}-{axis}.svg")


def group_curves() -> dict[str, dict[str, list[Point]]]:
    """Return the learning curve of each run of the shipped groups."""
    found: dict[str, dict[str, list[Point]]] = {}
    for name in shipped_group_runs():
        group, _, run = name.partition("/")
        found.setdefault(group, {})[run] = read_curve(CHECKPOINTS / name / PUBLISHED_CURVE_FILE)
    return found


def group_curve_images() -> str:
    """Return the images of the learning curves of the shipped groups."""
    images = [f"![Learning curves of {name}, {axis}](pictures/training/{name}-{axis}.svg)" for name in group_curves() for axis in AXES]
    return "\n".join(images)


def learning_curve(name: str) -> Iterator[tuple[float, Point, int]]:
    """Yield minutes, point and games of a checkpoint's curve, after that of the checkpoint it continues."""
    training = read_card(CHECKPOINTS / name)["training"]
    before = list(learning_curve(continued_checkpoint(training))) if continued_checkpoint(training) in trained_checkpoints() else []
    yield from before
    first = before[-1][0] if before else 0.0
    for point in read_curve(CHECKPOINTS / name / PUBLISHED_CURVE_FILE):
        yield first + point["seconds"] / 60, point, training["options"]["n_eval_episodes"]


def speed_rows() -> Iterator[str]:
    """Yield microseconds per step of each part of training, and steps per second, for each preset."""
    rows = {row["what"]: row["value"] for row in json.loads(BENCHMARK.read_text(encoding="utf-8"))["rows"]}
    prefixes = [f"training, preset {preset}, " for preset in TIMED_PRESETS]
    for what in [what.removeprefix(prefixes[0]) for what in rows if what.startswith(prefixes[0])]:
        part = what.removeprefix("one core: ").replace("both cores", "steps per second, both cores")
        yield f"{part} | {' | '.join(f'{rows[prefix + what]:,.0f}' for prefix in prefixes)}"


def trial_rows() -> Iterator[str]:
    """Yield what was different in each trial, and its last win rates."""
    defaults = TrainConfig().as_data()
    for folder in sorted(path.parent for path in TRIALS.glob("*/options.yaml")):
        options, last = trial(folder)
        if (folder / NOTE).is_file():
            difference = (folder / NOTE).read_text(encoding="utf-8").strip()
        else:
            changed = [name for name in TRIED_OPTIONS if options[name] != defaults[name]]
            difference = "; ".join(f"`{name}` {options[name]} instead of {defaults[name]}" for name in changed) or "baseline"
        effort = f"{last['timesteps'] / 1e6:.1f} M | {last['seconds'] / 60:.1f} min"
        yield f"{network_shape(options, options['network'])} | {difference} | {effort} | {win_rates(last, options['n_eval_episodes'])}"


def trial(folder: Path) -> tuple[Point, Point]:
    """Return options and last point of a trial."""
    return yaml.safe_load((folder / "options.yaml").read_text(encoding="utf-8")), read_curve(folder / CURVE_FILE)[-1]


def ablation_rows() -> Iterator[str]:
    """Yield the win rates with and without the control variate, pooled over seeds, by level."""
    arms = [[trial(folder) for folder in sorted(TRIALS.glob(pattern))] for pattern in ("control-variate-*", "no-control-variate-*")]
    for level in arms[0][0][1]["win_rates"]:
        cells = []
        for arm in arms:
            games = [options["n_eval_episodes"] for options, _ in arm]
            won = sum(round(last["win_rates"][level] * count) for count, (_, last) in zip(games, arm, strict=True))
            cells.append(percent(wilson(won, sum(games))))
        yield f"{level} | {' | '.join(cells)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
