"""The games of a study as a data set to go on computing with, and as a table to read.

`games` has a row for each game, `decisions` one for each action: as CSV, and both in one file for NumPy. An action is an id; the
position before it is found again by playing the game's seed and actions, which are in both.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.files import atomic_write
from tetrarchia_env.notation import action_id, play_replay
from tetrarchia_eval.result_tables import Cell, Column, Table, percent, short, write_table
from tetrarchia_eval.statistics import Estimate, wilson_by_seed
from tetrarchia_eval.study import Player, StudyGame, read_study

NUMPY = "study.npz"
GAME_COLUMNS = ("game", "seed", "level", "rules", "team", "persons", "won", "outcome", "score", "turns", "actions", "version")
DECISION_COLUMNS = ("game", "number", "turn", "emperor", "ip", "action", "kind", "player", "seconds")
Rows = list[tuple[Any, ...]]


def read_games(folder: Path) -> tuple[list[StudyGame], list[str]]:
    """The games, and a sentence about each line that does not hold."""
    games: list[StudyGame] = []
    faults: list[str] = []
    for found in read_study(folder):
        if isinstance(found, StudyGame):
            games.append(found)
        else:
            faults.append(found)
    return games, faults


def team_of(game: StudyGame) -> str:
    """Who played, by kind: `1 person, 3 ppo`, persons first; an agent or a person counts once for each Emperor that he has."""
    counts = Counter(_kind(game.players[number]) for number in game.seats)
    persons = counts.pop("person", 0)
    first = [f"{persons} person{'' if persons == 1 else 's'}"] if persons else []
    return ", ".join([*first, *(f"{count} {name}" for name, count in sorted(counts.items()))])


def _kind(player: Player) -> str:
    return player.name if player.kind == "agent" else "person"


def is_won(game: StudyGame) -> bool:
    """R9.1."""
    return bool(game.replay.final["outcome"] == "won")


def game_rows(games: Sequence[StudyGame]) -> Rows:
    """By GAME_COLUMNS."""
    return [_game_row(number, game) for number, game in enumerate(games)]


def _game_row(number: int, game: StudyGame) -> tuple[Any, ...]:
    final, rules = game.replay.final, game.replay.final["rules"]
    names = [*rules.get("variants", ()), *rules.get("modules", ()), *filter(None, [rules.get("scenario")])]
    persons = len({seat for seat in game.seats if game.players[seat].kind == "person"})
    known = (number, game.replay.seed, rules.get("level", ""), "+".join(names) or "base", team_of(game), persons, int(is_won(game)))
    return (*known, final["outcome"], final["score"], final["turn"], len(game.deciders), game.version)


def decision_rows(games: Sequence[StudyGame]) -> Rows:
    """By DECISION_COLUMNS; a person or agent is named, seconds that are not known are no number."""
    return [row for number, game in enumerate(games) for row in _decisions(number, game)]


def _decisions(number: int, game: StudyGame) -> Iterator[tuple[Any, ...]]:
    played = zip(play_replay(game.replay), game.deciders, game.seconds, strict=True)
    for place, ((position, emperor, text), decider, seconds) in enumerate(played):
        player, where = game.players[decider], (int(position["turn"][0]), EMPERORS.index(emperor), int(position["ip"][0]))
        yield number, place, *where, action_id(text), player.kind, player.name, np.nan if seconds is None else seconds


def write_data_set(games: Sequence[StudyGame], folder: Path) -> list[Path]:
    """games.csv, decisions.csv and both in one .npz; where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"games": (GAME_COLUMNS, game_rows(games)), "decisions": (DECISION_COLUMNS, decision_rows(games))}
    for name, (columns, rows) in tables.items():
        write_table(Table([Column(title) for title in columns], rows), folder / f"{name}.csv")
    arrays = {f"{name}.{title}": array for name, (columns, rows) in tables.items() for title, array in _arrays(columns, rows)}
    with atomic_write(folder / NUMPY) as draft, open(draft, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return [*(folder / f"{name}.csv" for name in tables), folder / NUMPY]


def _arrays(columns: Sequence[str], rows: Rows) -> Iterator[tuple[str, Any]]:
    for place, title in enumerate(columns):
        kind = np.uint64 if title == "seed" else None  # a seed may be larger than any int64
        yield title, np.array([row[place] for row in rows], dtype=kind)


def summary(games: Sequence[StudyGame]) -> Table:
    """A row for each kind of team: games, the share won, and how long persons thought."""
    teams: dict[str, list[StudyGame]] = defaultdict(list)
    for game in games:
        teams[team_of(game)].append(game)
    columns = [Column("team"), Column("games"), Column("won", percent), Column("turns", short), *_time_columns()]
    return Table(columns, [_summary_row(team, some) for team, some in sorted(teams.items())])


def _time_columns() -> list[Column]:
    return [Column("persons' decisions"), Column("median seconds", short), Column("90 % within", short)]


def _summary_row(team: str, games: Sequence[StudyGame]) -> list[Cell]:
    seconds = list(person_seconds(games))
    rate: Estimate = wilson_by_seed([is_won(game) for game in games], [game.replay.seed for game in games])
    turns = float(np.mean([game.replay.final["turn"] for game in games]))
    times = [float(np.quantile(seconds, share)) for share in (0.5, 0.9)] if seconds else [None, None]
    return [team, len(games), rate, turns, len(seconds), *times]


def person_seconds(games: Iterable[StudyGame]) -> Iterator[float]:
    """Of every decision of a person that is known to the clock."""
    for game in games:
        for decider, seconds in zip(game.deciders, game.seconds, strict=True):
            if seconds is not None and game.players[decider].kind == "person":
                yield seconds
