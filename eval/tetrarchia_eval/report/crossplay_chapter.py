"""The chapter of the page of results about cooperation with strangers."""

from collections.abc import Callable, Iterator, Sequence

from tetrarchia_eval.comparison import Comparison, compare_games, corrected, shared
from tetrarchia_eval.crossplay import odd_one_out_matrix, odd_one_out_of, pair_matrix, pair_of, seat_matrix
from tetrarchia_eval.overview import comparison_table, matrix_table
from tetrarchia_eval.plots import matrix_plot
from tetrarchia_eval.report.kept import Kept, check_same_rules
from tetrarchia_eval.report.page import TESTS, Album, commands, folded
from tetrarchia_eval.results import Played, Run

Team = tuple[str, tuple[str, ...]]  # how it is told, and whose agents it has, the host's first


def crossplay(pairs: Sequence[Kept], odds: Sequence[Kept], album: Album) -> Iterator[str]:
    """Couples of Emperors, then one stranger among three."""
    yield (
        "## Cross-play: cooperation with strangers\n\nAgents that were not made together share the four Emperors. "
        "The diagonal is each agent with itself.\n"
    )
    if pairs:
        yield from _pairs(pairs, album)
    if odds:
        yield from _odds([*odds, *_alone(pairs, odds)], album)
    yield commands([*pairs, *odds])


def _pairs(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    matrix = pair_matrix(one.run for one in kept)
    yield (
        "### Two players, a couple each\n\nThe agent of the row has diocletian and galerius, that of the column constantius and "
        f"maximian. {_played(kept)}\n"
    )
    yield matrix_table(matrix, "East \\ West").markdown()
    title = f"Pair play: games won\n{_where(kept)}"
    yield album.add("crossplay-pair", title, matrix_plot(title, matrix, "diocletian and galerius", "constantius and maximian"))
    yield from _tests(kept, _pair, "mixed pairs against pairs of one kind")


def _odds(kept: Sequence[Kept], album: Album) -> Iterator[str]:
    matrix, seats = odd_one_out_matrix(one.run for one in kept), seat_matrix(one.run for one in kept)
    yield (
        "### One stranger among three\n\nThe agent of the row has three Emperors, that of the column the fourth: the mean over "
        f"the four Emperors that he may be. {_played(kept)}\n"
    )
    yield matrix_table(matrix, "three \\ the fourth").markdown()
    title = f"One stranger: games won\n{_where(kept)}"
    yield album.add("crossplay-odd", title, matrix_plot(title, matrix, "three Emperors", "the fourth"))
    yield "Each Emperor that the stranger may be:\n"
    yield matrix_table(seats, "three + the fourth").markdown()
    yield from _tests(kept, _host, "three and a stranger against four of one kind")


def _alone(pairs: Sequence[Kept], odds: Sequence[Kept]) -> list[Kept]:
    """Runs of one agent with itself are kept once, with the pairs, and serve here too."""
    here = {one.team for one in odds}
    return [one for one in pairs if _is_alone(one) and one.team not in here]


def _pair(agents: Sequence[str]) -> Team:
    east, west = pair_of(agents)
    return f"{east} + {west}", (east, west)


def _host(agents: Sequence[str]) -> Team:
    host, guest, emperor = odd_one_out_of(agents)
    return f"{host}, {guest} as {emperor}", (host,)


def _tests(kept: Sequence[Kept], team_of: Callable[[Sequence[str]], Team], words: str) -> Iterator[str]:
    """What a stranger costs: each mixed team against those of one kind that lent it an agent."""
    tests = corrected(list(_comparisons(kept, team_of)))
    if tests:
        yield f"What a stranger costs or brings, on the same seeds. {TESTS}\n"
        yield folded(f"{len(tests)} comparisons: {words}", comparison_table(tests, "level", "team"))


def _comparisons(kept: Sequence[Kept], team_of: Callable[[Sequence[str]], Team]) -> Iterator[Comparison]:
    alone = {one.team: one.run.games for one in kept if _is_alone(one)}
    for one in kept:
        label, lenders = team_of(one.run.header.agents)
        for lender in lenders:
            if lender in alone and not _is_alone(one):
                yield from _at_each_level((label, one.run), (lender, alone[lender]))


def _at_each_level(mixed: tuple[str, Run], alone: tuple[str, Sequence[Played]]) -> Iterator[Comparison]:
    for level in mixed[1].header.levels:
        games = [game for game in mixed[1].games if game.level == level]
        if shared(games, alone[1]):
            yield compare_games((mixed[0], games), alone, level)


def _is_alone(one: Kept) -> bool:
    return len(set(one.run.header.agents)) == 1


def _where(kept: Sequence[Kept]) -> str:
    """At which level, how many games; ValueError if the cells of a matrix would not be of one kind."""
    check_same_rules(kept)
    for one in kept[1:]:
        if one.run.header.levels != kept[0].run.header.levels:
            raise ValueError(f"{kept[0].path} and {one.path} are of different levels: a matrix needs all partners at the same ones")
    levels = kept[0].run.header.levels
    counts = sorted({len(one.run.games) for one in kept})
    games = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"level{'s' * (len(levels) > 1)} {', '.join(levels)}, {games} games a seating"


def _played(kept: Sequence[Kept]) -> str:
    seeds = [game.seed for one in kept for game in one.run.games]
    return f"Shares of games won with 95 % intervals, {_where(kept)}, seeds {min(seeds)} to {max(seeds)}."
