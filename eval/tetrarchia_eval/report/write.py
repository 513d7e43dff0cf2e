"""docs/results.md, made of nothing but the kept result files: the same files give the same page and pictures."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tetrarchia_env.files import check_folder, write_whole
from tetrarchia_eval.report.chapters import options, scenarios, standard_levels
from tetrarchia_eval.report.crossplay_chapter import crossplay
from tetrarchia_eval.report.kept import Kept, load_kept
from tetrarchia_eval.report.page import Album
from tetrarchia_eval.report.sweep_chapter import sweep
from tetrarchia_eval.results import Header

PICTURES = "pictures/results"  # beside the page
FOLDERS = ("main", "sweep", "scenarios", "options", "crossplay/pair", "crossplay/odd")
HEAD = """\
<!-- Written by `make results` from the files in {folder}/: play again, do not edit this page. -->
# Results

`make results` writes this page from the result files in `{folder}/`. Every number here is computed from those files; what is
not in them is not on this page. At the end of each chapter stand the commands that played its games.
"""
METHODS = """\
## How the numbers are made

- Every game has a seed, and the same command plays the same games. Agents are compared on games of the same level and seed.
- Intervals are of 95 %. Win rates have Wilson's score interval. Where games of several levels or seats share seeds, it
  counts only as many games as those seeds are worth, but no fewer than there are seeds.
- Differences of win rates have Tango's score interval for paired shares and McNemar's exact test. No pair that only one of
  the two won means p = 1.
- Scores (R9.3 of [the rules](rules.md), lost games included) have the percentile interval of 10,000 bootstrap resamples. Their
  differences are tested with 99,999 random signs.
- Where many tests stand in one table, each p is corrected by Holm's method: the tests of wins among themselves, those of
  scores likewise.
- Milliseconds a decision are of the machine that played; games decided together share their time alike.
"""


def write_report(folder: str | os.PathLike[str], page: str | os.PathLike[str]) -> None:
    """Write the page, and its pictures beside it; a chapter without files is left out."""
    results, goal = Path(folder), Path(page)
    check_folder(goal)
    _check_chapters(results)
    kept = {name: load_kept(results, name) for name in FOLDERS}
    if not any(kept.values()):
        raise ValueError(f"there are no results to report in {results}: no file {' or '.join(f'{name}/*.jsonl' for name in FOLDERS)}")
    album = Album(goal.parent / PICTURES, PICTURES)
    album.folder.mkdir(parents=True, exist_ok=True)
    parts = [HEAD.format(folder=results.name), *_chapters(kept, album), METHODS, _played_with(kept.values())]
    write_whole(goal, "\n".join(part.rstrip("\n") + "\n" for part in parts))


def _check_chapters(results: Path) -> None:
    """Nobody should think that a file is on the page when no chapter reads it."""
    unread = sorted(path for path in results.rglob("*.jsonl") if path.parent not in [results / name for name in FOLDERS])
    if unread:
        raise ValueError(f"no chapter reads {', '.join(map(str, unread))}: a result file belongs in one of {', '.join(FOLDERS)}")


def _chapters(kept: dict[str, list[Kept]], album: Album) -> Iterator[str]:
    """From what people look at first to detail."""
    for name, chapter in {"main": standard_levels, "sweep": sweep, "scenarios": scenarios, "options": options}.items():
        if kept[name]:
            yield from chapter(kept[name], album)
    pairs, odds = kept["crossplay/pair"], kept["crossplay/odd"]
    if pairs or odds:
        yield from crossplay(pairs, odds, album)


def _played_with(chapters: Iterable[Sequence[Kept]]) -> str:
    """Versions and machines, as the files say."""
    headers = [one.run.header for kept in chapters for one in kept]
    versions = sorted({", ".join(f"{name} {version}" for name, version in header.versions.items()) for header in headers})
    machines = sorted({", ".join(f"{name}: {value}" for name, value in header.machine.items()) for header in headers})
    environments = sorted({header.environment for header in headers})
    games = sum(len(one.run.games) for kept in chapters for one in kept)
    return (
        f"These are {games:,} games in {len(headers)} files, played with {' and '.join(environments)} ({'; '.join(versions)}) "
        f"on {'; '.join(machines)}. The agents, each with the [fingerprint](evaluation.md) of its version: {_agents(headers)}.\n"
    )


def _agents(headers: Sequence[Header]) -> str:
    found = sorted({pair for header in headers for pair in header.fingerprints.items()})
    return ", ".join(f"{name} `{fingerprint}`" for name, fingerprint in found)
