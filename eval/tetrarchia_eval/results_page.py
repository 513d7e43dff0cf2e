"""docs/results.md, made of nothing but result files: the same files give the same page and pictures. Here also: its last chapter."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tetrarchia_agents import GameResult
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import check_writable, write_text_atomic
from tetrarchia_env.messages import printable
from tetrarchia_eval.analysis import (
    Comparison,
    ad_hoc_matrix,
    ad_hoc_of,
    compare_games,
    corrected,
    emperor_matrix,
    pair_matrix,
    pair_of,
    shared,
)
from tetrarchia_eval.match import Match, MatchSpec, team_label
from tetrarchia_eval.plots import matrix_plot
from tetrarchia_eval.result_files import load_match
from tetrarchia_eval.result_tables import comparison_table, markdown_text, matrix_table
from tetrarchia_eval.sections import (
    TESTS,
    Album,
    Matches,
    check_same_rules,
    commands,
    folded,
    ladder,
    options,
    rungs,
    scenarios,
    standard_levels,
    sweep,
)

Lenders = Callable[[Sequence[str]], tuple[str, tuple[str, ...]]]  # of agents: how they are told, and who lent them
PICTURES = "pictures/results"  # beside the page
FOLDERS = ("main", "ladder", "sweep", "scenarios", "options", "crossplay/pair", "crossplay/ad-hoc")
HEAD = """\
<!-- Written by `make results` from the files in {folder}/: play again, do not edit this page. -->
# Results

`make results` writes this page from the result files in `{folder}/`. Every number here is computed from those files; what is
not in them is not on this page. At the end of each chapter stand the commands that played its games.
"""
METHODS = """\
## How the numbers are made

- Every game has a seed, and the same command plays the same games. Agents are compared on games of the same level and seed.
- Intervals are of 95 %. Win rates have Wilson's score interval. Where games of several levels or line-ups share seeds, it
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
    check_writable(goal)
    _check_chapters(results)
    found = {name: load_matches(results, name) for name in FOLDERS}
    if not any(found.values()):
        raise TetrarchiaError(f"there are no results to report in {results}: no file {' or '.join(f'{name}/*.jsonl' for name in FOLDERS)}")
    album = Album(goal.parent / PICTURES, PICTURES)
    album.folder.mkdir(parents=True, exist_ok=True)
    parts = [HEAD.format(folder=results.name), *_chapters(found, album), METHODS, _played_with(found)]
    write_text_atomic(goal, "\n".join(part.rstrip("\n") + "\n" for part in parts))


def load_matches(folder: Path, chapter: str) -> dict[str, Match]:
    """All of a chapter (a folder below that of the results), by the names of their files; none if there are none."""
    paths = sorted((folder / chapter).glob("*.jsonl"))
    return {f"{folder.name}/{chapter}/{path.name}": load_match(path) for path in paths}


def _check_chapters(results: Path) -> None:
    """Nobody should think that a file is on the page when no chapter reads it."""
    unread = sorted(path for path in results.rglob("*.jsonl") if path.parent not in [results / name for name in FOLDERS])
    if unread:
        raise TetrarchiaError(f"no chapter reads {', '.join(map(str, unread))}: a result file belongs in one of {', '.join(FOLDERS)}")


def _chapters(found: Mapping[str, Matches], album: Album) -> Iterator[str]:
    """From what people look at first to detail."""
    chapters = {"main": standard_levels, "ladder": ladder, "sweep": sweep, "scenarios": scenarios, "options": options}
    for name, chapter in chapters.items():
        if found[name]:
            yield from chapter({**found[name], **(rungs(found["main"]) if name == "ladder" else {})}, album)
    pairs, ad_hoc = found["crossplay/pair"], found["crossplay/ad-hoc"]
    if pairs or ad_hoc:
        yield from crossplay(pairs, ad_hoc, album)


def _played_with(found: Mapping[str, Matches]) -> str:
    """Versions and machines, as the files say."""
    matches = [match for some in found.values() for match in some.values()]
    specs = [match.spec for match in matches]
    versions = sorted({", ".join(f"{name} {version}" for name, version in spec.versions.items()) for spec in specs})
    machines = sorted({", ".join(f"{name}: {value}" for name, value in spec.machine.items()) for spec in specs})
    environments = sorted({spec.environment for spec in specs})
    return (
        f"These are {sum(len(match.games) for match in matches):,} games in {len(specs)} files, played with {' and '.join(environments)} "
        f"({markdown_text('; '.join(versions))}) on {markdown_text('; '.join(machines))}. The agents, each with the "
        f"[fingerprint](evaluation.md) of its version: {_agents(specs)}.\n"
    )


def _agents(specs: Sequence[MatchSpec]) -> str:
    found = sorted({pair for spec in specs for pair in spec.fingerprints.items()})
    return ", ".join(f"{markdown_text(name)} `{printable(fingerprint).replace('`', '')}`" for name, fingerprint in found)


def crossplay(pairs: Matches, ad_hoc: Matches, album: Album) -> Iterator[str]:
    """Couples of Emperors, then one who joins three."""
    yield (
        "## Cross-play and ad hoc teamwork\n\nAgents that were not made together share the four Emperors. "
        "The diagonal is each agent with itself.\n"
    )
    if pairs:
        yield from _pairs(pairs, album)
    if ad_hoc:
        yield from _ad_hoc({**ad_hoc, **_alone(pairs, ad_hoc)}, album)
    yield commands({**pairs, **ad_hoc})


def _pairs(matches: Matches, album: Album) -> Iterator[str]:
    matrix = pair_matrix(matches.values())
    yield (
        "### Cross-play in pairs\n\nTwo players, a couple of Emperors each: the agent of the row has diocletian and galerius, that of "
        f"the column constantius and maximian. {_played(matches)}\n"
    )
    yield matrix_table(matrix, "East \\ West").markdown()
    title = f"Cross-play in pairs: games won\n{_where(matches)}"
    yield album.add("crossplay-pair", title, matrix_plot(title, matrix, "diocletian and galerius", "constantius and maximian"))
    yield from _tests(matches, _pair, "mixed pairs against pairs of one kind")


def _ad_hoc(matches: Matches, album: Album) -> Iterator[str]:
    matrix, emperors = ad_hoc_matrix(matches.values()), emperor_matrix(matches.values())
    yield (
        "### Ad hoc teamwork\n\nThe agent of the row has three Emperors, that of the column joins them as the fourth: the mean over "
        f"the four Emperors that he may be. {_played(matches)}\n"
    )
    yield matrix_table(matrix, "three \\ the fourth").markdown()
    title = f"Ad hoc teamwork: games won\n{_where(matches)}"
    yield album.add("crossplay-ad-hoc", title, matrix_plot(title, matrix, "three Emperors", "the fourth"))
    yield "Each Emperor that the fourth may be:\n"
    yield matrix_table(emperors, "three + the fourth").markdown()
    yield from _tests(matches, _three, "three and another against four of one kind")


def _alone(pairs: Matches, ad_hoc: Matches) -> Matches:
    """Matches of one agent with itself are kept once, with the pairs, and serve here too."""
    here = {team_label(match.spec.agents) for match in ad_hoc.values()}
    return {file: match for file, match in pairs.items() if _is_alone(match) and team_label(match.spec.agents) not in here}


def _pair(agents: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    east, west = pair_of(agents)
    return f"{east} + {west}", (east, west)


def _three(agents: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    mate, joiner, emperor = ad_hoc_of(agents)
    return f"{mate}, {joiner} as {emperor}", (mate,)


def _tests(matches: Matches, lenders_of: Lenders, words: str) -> Iterator[str]:
    """What another agent costs: each mixed team against those of one kind that lent it an agent."""
    tests = corrected(list(_comparisons(matches, lenders_of)))
    if tests:
        yield f"What it costs or brings to play with another agent, on the same seeds. {TESTS}\n"
        yield folded(f"{len(tests)} comparisons: {words}", comparison_table(tests, "level", "team"))


def _comparisons(matches: Matches, lenders_of: Lenders) -> Iterator[Comparison]:
    alone = {team_label(match.spec.agents): match.games for match in matches.values() if _is_alone(match)}
    for match in matches.values():
        label, lenders = lenders_of(match.spec.agents)
        for lender in lenders:
            if lender in alone and not _is_alone(match):
                yield from _at_each_level((label, match), (lender, alone[lender]))


def _at_each_level(mixed: tuple[str, Match], alone: tuple[str, Sequence[GameResult]]) -> Iterator[Comparison]:
    for level in mixed[1].spec.levels:
        games = [game for game in mixed[1].games if game.level == level]
        if shared(games, alone[1]):
            yield compare_games((mixed[0], games), alone, level)


def _is_alone(match: Match) -> bool:
    return len(set(match.spec.agents)) == 1


def _where(matches: Matches) -> str:
    """At which level, how many games; ValueError if the cells of a matrix would not be of one kind."""
    check_same_rules(matches)
    (first, one), *others = matches.items()
    for file, match in others:
        if match.spec.levels != one.spec.levels:
            raise TetrarchiaError(f"{first} and {file} are of different levels: a matrix needs all teams at the same ones")
    levels, counts = one.spec.levels, sorted({len(match.games) for match in matches.values()})
    games = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"level{'s' * (len(levels) > 1)} {', '.join(levels)}, {games} games a team"


def _played(matches: Matches) -> str:
    seeds = [game.seed for match in matches.values() for game in match.games]
    return f"Shares of games won with 95 % intervals, {_where(matches)}, seeds {min(seeds)} to {max(seeds)}."
