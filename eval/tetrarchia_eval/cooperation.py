"""The generated parts of docs/cooperation.md: teammates, cross-play of separately trained agents, and the holders of the borders.

`python -m tetrarchia_eval.cooperation FILE AGENT...` plays games of each agent that the file lacks and adds who holds which border at the
end of the won games.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tetrarchia_agents import GameResult, TeamPolicy
from tetrarchia_agents.rollouts import make_team
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, EMPERORS, PICTURE, ROMAN_PROVINCES, SPACES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options
from tetrarchia_env.render import theme
from tetrarchia_env.render.map import at, static_map
from tetrarchia_env.render.pieces import token
from tetrarchia_env.render.shapes import box, group, text
from tetrarchia_env.render.svg import cutting
from tetrarchia_eval.analysis import ad_hoc_of
from tetrarchia_eval.groups import GroupReport
from tetrarchia_eval.match import Match, team_label
from tetrarchia_eval.result_files import read_json, write_json
from tetrarchia_eval.statistics import bootstrap_mean, by_seed, wilson, wilson_by_seed
from tetrarchia_eval.tables import Cell, Column, Table, percent, percentage_points

TEAMMATES, CROSS_PLAY, BORDERS_FILE = "cooperation/teammates", "cooperation/cross-play", "cooperation/borders.json"
BORDER_LEVEL, BORDER_GAMES, BORDER_SEED = "4200", 1000, 1_000_000
BORDER_SPACES = range(ROMAN_PROVINCES, SPACES)
MAP_COLUMNS, MAP_SCALE = 2, 0.5  # maps next to each other, and pixels per unit of a map
LABEL_HEIGHT = 26
SHOWN_FRACTION = 0.05  # smaller fractions are not written on the map
BAR_WIDTH, BAR_HEIGHT, BAR_GAP, AGENT_WIDTH = 120, 20, 8, 185  # in pixels
WRITTEN_FRACTION, LETTER_FRACTION = 0.32, 0.1  # smaller fractions are written as the Emperor's letter, or not at all


class BorderHolders(Struct, forbid_unknown_fields=True):
    """Who holds which border when a game is won.

    Attributes:
        level: The level of the games.
        games: Number of games per agent, lost ones included.
        first_seed: Seed of the first game; the others follow.
        won: Number of won games by agent.
        holders: For each agent and Emperor the number of won games in which his token is on each border, in the order of the board.
    """

    level: str = BORDER_LEVEL
    games: int = BORDER_GAMES
    first_seed: int = BORDER_SEED
    won: dict[str, int] = {}
    holders: dict[str, dict[str, list[int]]] = {}


def add_border_holders(path: Path, agents: Sequence[str]) -> None:
    """Play the games of the agents that a file lacks, and add their border holders to it.

    Args:
        path: The file, which is created if it does not exist.
        agents: Names of agents; each plays all Emperors.
    """
    kept = read_json(path, BorderHolders) if path.is_file() else BorderHolders()
    for agent in agents:
        if agent not in kept.won:
            held = border_holders(agent, kept.level, range(kept.first_seed, kept.first_seed + kept.games))
            kept.won[agent] = int(held[:, :, 0].any(axis=1).sum())  # every border is held in a won game
            kept.holders[agent] = dict(zip(EMPERORS, held.sum(axis=0).tolist(), strict=True))
            write_json(path, kept)


def border_holders(agent: str, level: str, seeds: Sequence[int]) -> NDArray[np.bool_]:
    """Play one game per seed; return [games, Emperors, borders] whether an Emperor holds a border at the end of a won game."""
    games, masks = batch.new_games(Options(level), np.array(seeds))
    policy = TeamPolicy(make_team(agent), len(games))
    policy.begin(np.arange(len(games)), seeds)
    batch.play_to_end(games, masks, policy.act)
    bits = np.array([1 << space for space in BORDER_SPACES])
    won = batch.borders(games) == len(BORDER_SPACES)
    held: NDArray[np.bool_] = ((games["tokens"][:, :, np.newaxis] & bits) != 0) & won[:, np.newaxis, np.newaxis]
    return held


def border_maps(kept: BorderHolders) -> str:
    """Draw a map for each agent with the fraction of won games in which each Emperor holds a border; return an SVG document."""
    width, height = PICTURE
    parts = [f'<defs><g id="map">{static_map()}</g></defs>']  # drawn once, used for each agent
    use = f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}"><use href="#map"/></svg>'  # clips the map
    for number, (agent, holders) in enumerate(kept.holders.items()):
        labels = [text(width / 2, -12, f"{agent}: {kept.won[agent]} of {kept.games} games won", 26, fill=theme.INK)]
        for place, space in enumerate(BORDER_SPACES):
            fractions = {emperor: counts[place] / max(kept.won[agent], 1) for emperor, counts in holders.items()}
            shown = sorted((one for one in fractions.items() if one[1] >= SHOWN_FRACTION), key=lambda one: -one[1])
            x, y = at(space)
            x, y = min(max(x, 45), width - 45), min(max(y, 20), height - 20 - LABEL_HEIGHT * (len(shown) - 1))  # inside the picture
            for row, (emperor, fraction) in enumerate(shown):
                frame = box(-36, -13, 74, LABEL_HEIGHT, fill=theme.PAPER, stroke=theme.INK, stroke_width=0.8, rx=4)
                label = text(14, 6, f"{fraction:.0%}", 18, fill=theme.INK, font_weight="bold")
                labels.append(group(frame, group(token(emperor, 9), at=(-20, 0)), label, at=(x, y + LABEL_HEIGHT * row)))
        corner = (number % MAP_COLUMNS * (width + 20), number // MAP_COLUMNS * (height + 50) + 50)
        parts.append(group(use, *labels, at=corner))
    rows = -(-len(kept.holders) // MAP_COLUMNS)
    size = (round(MAP_SCALE * (MAP_COLUMNS * (width + 20) - 20)), round(MAP_SCALE * rows * (height + 50)))
    return cutting("".join(parts), MAP_SCALE, (0, 0), size)


def border_bars(kept: BorderHolders) -> str:
    """Draw for each agent (rows) and border (columns) how often each Emperor holds it in won games; return an SVG document."""
    columns = [AGENT_WIDTH + place * (BAR_WIDTH + BAR_GAP) for place in range(len(BORDER_SPACES))]
    size = (columns[-1] + BAR_WIDTH + BAR_GAP, 56 + (BAR_HEIGHT + BAR_GAP) * len(kept.holders))
    parts = [box(0, 0, *size, fill=theme.WHITE)]
    for number, emperor in enumerate(EMPERORS):
        x = columns[0] + 10 + 120 * number
        parts += [group(token(emperor, 8), at=(x, 14)), text(x + 14, 18, emperor, 13, fill=theme.INK, text_anchor="start")]
    for x, space in zip(columns, BORDER_SPACES, strict=True):
        parts.append(text(x + BAR_WIDTH / 2, 44, BOARD.names[space], 12, fill=theme.INK, font_weight="bold"))
    for row, (agent, holders) in enumerate(kept.holders.items()):
        y = 52 + (BAR_HEIGHT + BAR_GAP) * row
        parts.append(text(BAR_GAP, y + 15, agent, 13, fill=theme.INK, text_anchor="start"))
        for place, x in enumerate(columns):
            begin = float(x)
            for emperor, counts in holders.items():
                look, width = theme.EMPEROR_LOOKS[emperor], BAR_WIDTH * counts[place] / max(kept.won[agent], 1)
                parts.append(box(begin, y, width, BAR_HEIGHT, fill=look.fill))
                if width >= LETTER_FRACTION * BAR_WIDTH:
                    words = f"{look.letter} {width / BAR_WIDTH:.0%}" if width >= WRITTEN_FRACTION * BAR_WIDTH else look.letter
                    parts.append(text(begin + width / 2, y + 14, words, 11, fill=look.letters))
                begin += width
    return cutting("".join(parts), 1, (0, 0), size)


def border_table(kept: BorderHolders) -> Table:
    """Return for each agent and border who holds it most often, and in which fraction of the won games."""
    rows: list[list[Cell]] = []
    for agent, holders in kept.holders.items():
        counts, won = np.array([holders[emperor] for emperor in EMPERORS]), kept.won[agent]
        best = counts.argmax(axis=0)
        cells = [f"{EMPERORS[emperor]} {counts[emperor, place] / max(won, 1):.0%}" for place, emperor in enumerate(best)]
        rows.append([agent, won, *cells])
    return Table([Column("agent"), Column("games won"), *(Column(BOARD.names[space]) for space in BORDER_SPACES)], rows)


def teammate_table(matches: Sequence[Match], alone: Match) -> Table:
    """Return the win rates of three copies of an agent with another one in each seat.

    Args:
        matches: Matches of such line-ups; those of which a seat is missing are left out.
        alone: The agent in all four seats, with at least the same seeds.
    """
    agent = team_label(alone.spec.agents)
    found: dict[tuple[str, str], dict[str, list[GameResult]]] = {}
    for match in matches:
        mate, joiner, emperor = ad_hoc_of(match.spec.agents)
        if mate != agent:
            raise TetrarchiaError(f"teammates must join {agent}; got {team_label(match.spec.agents)}")
        for level in match.spec.levels:
            found.setdefault((level, joiner), {})[emperor] = [game for game in match.games if game.level == level]
    columns = [Column("level"), Column("fourth agent"), *(Column(emperor, percent) for emperor in EMPERORS)]
    rows: list[list[Cell]] = []
    for (level, joiner), seats in sorted(found.items()):
        if len(seats) == len(EMPERORS):
            baseline = {game.seed: game.won for game in alone.games if game.level == level}
            rates = [wilson(sum(game.won for game in seats[emperor]), len(seats[emperor])) for emperor in EMPERORS]
            games = [game for some in seats.values() for game in some]
            won, seeds = [game.won for game in games], [game.seed for game in games]
            differences = by_seed([float(game.won) - baseline[game.seed] for game in games], seeds)
            rows.append([level, joiner, *rates, wilson_by_seed(won, seeds), bootstrap_mean(differences, np.random.default_rng(0))])
    return Table([*columns, Column("all seats", percent), Column(f"minus {agent} alone", percentage_points)], rows)


def cross_play_report(matches: Mapping[str, Match]) -> GroupReport:
    """Return the report of cross-play among separately trained agents, which are treated as the runs of one group."""
    return GroupReport({f"agents/{Path(file).stem}": match for file, match in matches.items()})


def main() -> None:
    """Run the command."""
    try:
        match sys.argv[1:]:
            case [file, *agents] if agents:
                add_border_holders(Path(file), agents)
            case _:
                raise TetrarchiaError("usage: python -m tetrarchia_eval.cooperation FILE AGENT...")
    except TetrarchiaError as error:
        print(f"cooperation: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
