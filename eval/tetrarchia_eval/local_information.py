"""The study of docs/local_information.md: groups trained with different local information (R14), and what their messages carry.

`python -m tetrarchia_eval.local_information FILE TASK GROUP...` plays games of each run of these groups, which must have messages, and
adds to the file how much information the tokens carry about the sender's surroundings, and the games won with shuffled messages.

The mutual information of a finite sample is positive even if tokens say nothing. It is therefore compared with its mean over
permutations that exchange the tokens of an Emperor between games. This keeps the order of the tokens within a game, which are not
independent, and everything that follows from the Emperor alone.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tetrarchia_agents import Agent, TeamPolicy, make_agent
from tetrarchia_env import batch
from tetrarchia_env.agent import Actions, EnvIds, Observations, Observer
from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, EMPERORS, SPACES
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions, spaces_in_view
from tetrarchia_env.options import Options
from tetrarchia_eval.groups import GroupReport, find_group
from tetrarchia_eval.plots import bars
from tetrarchia_eval.result_files import read_json, write_json
from tetrarchia_eval.run_statistics import MIN_RUNS, bootstrap, mean
from tetrarchia_eval.statistics import Estimate
from tetrarchia_eval.tables import Cell, Column, Table, percent, percentage_points
from tetrarchia_eval.tables import mean as two_decimals

LOCAL, MESSAGES_FILE = "local", "local/messages.json"  # in the folder of results
GAMES, FIRST_SEED = 1000, 1_000_000
PERMUTATIONS = 200
MAX_COUNT = 3  # larger numbers of tokens in view count as this
MEAN = "mean"  # row of a table
Ints = NDArray[np.int64]


# --- groups ---


def gap_table(report: GroupReport) -> Table:
    """Return the information of each group, its self-play, its cross-play and their difference."""
    rows: list[list[Cell]] = []
    for group in report.cross_play_groups():
        local, found = group.local, group.gap(report.places[-1])
        radius = "full" if local.view_radius is None else str(local.view_radius)
        information = [radius, "yes" if local.last_seen else "no", str(local.message_tokens)]
        rows.append([group.name, *information, len(group.runs), found.self_play, found.cross_play, found.gap])
    titles = ("group", "view radius", "last seen", "tokens", "runs")
    rates = [Column("self-play", percent), Column("cross-play", percent), Column("difference", percentage_points)]
    return Table([*map(Column, titles), *rates], rows)


def gap_plot(report: GroupReport) -> Any:
    """Draw self-play and cross-play of each group."""
    gaps = {group.name: group.gap(report.places[-1]) for group in report.cross_play_groups()}
    rates = {
        "self-play": {name: gap.self_play for name, gap in gaps.items()},
        "cross-play": {name: gap.cross_play for name, gap in gaps.items()},
    }
    return bars(f"Self-play and cross-play by local information\n{report.title}", rates)


# --- messages ---


def surroundings(games: Games, radius: int) -> dict[str, Ints]:
    """Return numbers that describe what the Emperor to act has in view (R14.1), by name, each for all games.

    Args:
        games: The positions.
        radius: The view radius.
    """
    senders = batch.agents_to_act(games)
    places = games["at"][np.arange(len(games)), senders]
    views = np.array([spaces_in_view(game, sender, radius) for game, sender in zip(games, senders, strict=True)], dtype=np.int64)

    def in_view(figures: Ints) -> Ints:
        """Return how many of the places [games, n] are in view; places off the board are not."""
        seen = (figures < SPACES) & (views[:, np.newaxis] >> np.minimum(figures, SPACES - 1) & 1 == 1)
        counts: Ints = seen.sum(axis=1)
        return counts

    return {
        "region": np.where(places < SPACES, BOARD.region[np.minimum(places, SPACES - 1)], len(BOARD.regions)).astype(np.int64),
        "armies": in_view(games["army_at"]),
        "other Emperors": in_view(games["at"][:, : len(EMPERORS)]) - in_view(places[:, np.newaxis]),
        "Revolts": np.minimum(np.bitwise_count(games["revolts"] & views), MAX_COUNT).astype(np.int64),
        "Unrest": np.minimum(np.bitwise_count(games["unrest"] & views), MAX_COUNT).astype(np.int64),
    }


class MessageObserver(Observer):
    """An observer that records all messages and can shuffle them between the environments.

    With shuffling, an Emperor's message reaches the others with the token that the same Emperor said last in another environment; the
    sender observes the true one. Tokens then carry no information about the game, but are as frequent as before.

    Args:
        local: The arguments of local information; `message_tokens` is not 0.
        num_envs: The number of environments.
        shuffle: Source of the shuffled tokens; `None` leaves the messages as they are.
    """

    def __init__(self, local: LocalOptions, num_envs: int, shuffle: np.random.Generator | None = None) -> None:
        super().__init__(local, num_envs)
        if self.views is None or not local.message_tokens:
            raise TetrarchiaError(f"message_tokens must be at least 1 for the analysis of messages; got {local.text}")
        self._shuffle, self._radius = shuffle, self.views.radius
        self._heard = self.views.messages.copy()
        self._said: list[dict[str, Ints]] = []

    @property
    def said(self) -> dict[str, Ints]:
        """All messages in the order of time: their `game`, `emperor`, `token` and the `surroundings` by name."""
        return {name: np.concatenate([some[name] for some in self._said]) for name in self._said[0]} if self._said else {}

    def say(self, games: Games, env_ids: EnvIds, actions: Actions) -> None:
        """Keep and record the messages among the actions chosen in these positions."""
        super().say(games, env_ids, actions)
        assert self.views is not None
        speaking = np.flatnonzero(actions >= ACTIONS)
        if len(speaking) == 0:
            return
        envs, emperors = env_ids[speaking], batch.agents_to_act(games[speaking])
        tokens = self.views.messages["token"]
        self._said.append({"game": envs, "emperor": emperors, "token": tokens[envs, emperors]})
        self._said[-1] |= surroundings(games[speaking], self._radius)
        if self._shuffle is not None:
            self._heard["turn"][envs, emperors] = self.views.messages["turn"][envs, emperors]
            for env, emperor in zip(envs, emperors, strict=True):
                others = np.flatnonzero(tokens[:, emperor])
                others = others[others != env]
                self._heard["token"][env, emperor] = tokens[self._shuffle.choice(others) if len(others) else env, emperor]

    def observe(self, games: Games, env_ids: EnvIds) -> Observations:
        """Return the observation of the Emperor to act in each game."""
        if self._shuffle is None or self.views is None:
            return super().observe(games, env_ids)
        views, viewers = self.views.select(env_ids), batch.agents_to_act(games)
        own, rows = views.messages, np.arange(len(games))
        views.messages = self._heard[env_ids]
        for name in ("token", "turn"):
            views.messages[name][rows, viewers] = own[name][rows, viewers]
        return views.observe(games, viewers)


@dataclass(frozen=True)
class PlayedMessages:
    """The games won by an agent, in the order of the seeds, and all messages, see `MessageObserver.said`."""

    won: NDArray[np.bool_]
    said: dict[str, Ints]


def play_with_messages(
    agent: Agent, options: Options, seeds: Sequence[int], local: LocalOptions, shuffle: np.random.Generator | None = None
) -> PlayedMessages:
    """Play one game per seed, all at once.

    Args:
        agent: Plays all Emperors.
        options: The rules.
        seeds: The seeds of the games.
        local: The information, with messages.
        shuffle: Source of shuffled tokens; `None` leaves the messages as they are.
    """
    games, masks = batch.new_games(options, seeds, local.message_tokens)
    observer = MessageObserver(local, len(games), shuffle)
    policy = TeamPolicy((agent,) * len(EMPERORS), len(games), local=local, observer=observer)
    policy.begin(np.arange(len(games)), seeds)
    batch.play_to_end(games, masks, policy.act)
    return PlayedMessages(batch.is_won(games), observer.said)


def entropy(values: Ints) -> float:
    """Return the entropy of a sample in bits.

    >>> entropy(np.array([1, 1, 2, 2]))
    1.0
    """
    fractions = np.unique(values, return_counts=True)[1] / len(values)
    return max(0.0, -float(np.sum(fractions * np.log2(fractions))))


def mutual_information(first: Ints, second: Ints) -> float:
    """Return the mutual information of two columns of a sample in bits (plug-in estimate, biased upwards).

    >>> mutual_information(np.array([1, 1, 2, 2]), np.array([5, 5, 7, 7]))
    1.0
    """
    return entropy(first) + entropy(second) - entropy(first * (1 + int(second.max())) + second)


def exchange_tokens(said: Mapping[str, Ints], rng: np.random.Generator) -> Ints:
    """Return the tokens after each Emperor's tokens of a game were replaced by those of another game, in their order.

    Args:
        said: The messages; each Emperor's games are permuted. The shorter of two sequences is repeated.
        rng: Draws the permutations.
    """
    tokens = np.zeros_like(said["token"])
    for emperor in np.unique(said["emperor"]):
        own = np.flatnonzero(said["emperor"] == emperor)
        own = own[np.argsort(said["game"][own], kind="stable")]
        _, starts, inverse, counts = np.unique(said["game"][own], return_index=True, return_inverse=True, return_counts=True)
        donors = rng.permutation(len(starts))[inverse]
        places = np.arange(len(own)) - starts[inverse]
        tokens[own] = said["token"][own[starts[donors] + places % counts[donors]]]
    return tokens


class RunMessages(Struct, forbid_unknown_fields=True):
    """The messages of one run.

    Attributes:
        messages: Number of messages in all games.
        entropy: Entropy of the tokens, in bits.
        information: Mutual information of token and surroundings, in bits, by name.
        permuted: Its mean over permutations.
        won: Games won.
        won_shuffled: Games won on the same seeds with shuffled messages.
    """

    messages: int
    entropy: float
    information: dict[str, float]
    permuted: dict[str, float]
    won: int
    won_shuffled: int


class MessageResults(Struct, forbid_unknown_fields=True):
    """The messages of the runs of groups, all in games of one task on the same seeds."""

    task: str
    games: int = GAMES
    first_seed: int = FIRST_SEED
    groups: dict[str, dict[str, RunMessages]] = {}


def analyze_messages(agent: Agent, options: Options, seeds: Sequence[int], permutations: int = PERMUTATIONS) -> RunMessages:
    """Play games with true and with shuffled messages, and measure the information that the tokens carry.

    Args:
        agent: An agent with messages; it plays all Emperors.
        options: The rules.
        seeds: The seeds of the games.
        permutations: Number of permutations.

    Raises:
        TetrarchiaError: The agent has no messages.
    """
    local, rng = getattr(agent, "local", None) or LocalOptions(), np.random.default_rng(0)
    played = play_with_messages(agent, options, seeds, local)
    shuffled = play_with_messages(agent, options, seeds, local, rng)
    said, won, won_shuffled = played.said, int(played.won.sum()), int(shuffled.won.sum())
    if not said:
        return RunMessages(0, 0.0, {}, {}, won, won_shuffled)
    names = [name for name in said if name not in ("game", "emperor", "token")]
    found = {name: mutual_information(said["token"], said[name]) for name in names}
    exchanged = [exchange_tokens(said, rng) for _ in range(permutations)]
    permuted = {name: float(np.mean([mutual_information(tokens, said[name]) for tokens in exchanged])) for name in names}
    return RunMessages(len(said["token"]), entropy(said["token"]), found, permuted, won, won_shuffled)


def add_messages(path: Path, task: str, groups: Sequence[str]) -> None:
    """Play the games of the groups that a file lacks, and add what their messages carry.

    Args:
        path: The file, which is created if it does not exist.
        task: The task of the games.
        groups: Groups of runs, see `find_group`.

    Raises:
        TetrarchiaError: The file is of another task, or a group has no messages.
    """
    kept = read_json(path, MessageResults) if path.is_file() else MessageResults(task)
    if kept.task != task:
        raise TetrarchiaError(f"{path} must be of the task {task!r}; got {kept.task!r}")
    seeds = range(kept.first_seed, kept.first_seed + kept.games)
    for group in map(find_group, groups):
        for run, name in group.agents.items():
            runs = kept.groups.setdefault(group.name, {})
            if run not in runs:
                runs[run] = analyze_messages(make_agent(name), Options(task=task), seeds)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, kept)


def _with_mean(rows: list[list[Cell]], values: Sequence[Sequence[float]]) -> list[list[Cell]]:
    """Add a row with the mean of each column of values over runs, with intervals over runs."""
    if len(rows) < MIN_RUNS:
        return rows
    columns = zip(*values, strict=True)
    means: list[Estimate] = [bootstrap(mean, np.array(column)[:, np.newaxis], rng=np.random.default_rng(0)) for column in columns]
    return [*rows, [rows[0][0], MEAN, *means]]


def information_table(kept: MessageResults) -> Table:
    """Return messages per game, entropy and the mutual information above that of permutations, for each run and their mean."""
    names = next((list(run.information) for runs in kept.groups.values() for run in runs.values() if run.messages), [])
    rows: list[list[Cell]] = []
    for group, runs in kept.groups.items():
        values = [
            [run.messages / kept.games, run.entropy, *(run.information.get(name, 0.0) - run.permuted.get(name, 0.0) for name in names)]
            for run in runs.values()
        ]
        rows += _with_mean([[group, name, *some] for name, some in zip(runs, values, strict=True)], values)
    titles = ("messages per game", "entropy of tokens", *names)
    return Table([Column("group"), Column("run"), *(Column(title, two_decimals) for title in titles)], rows)


def shuffle_table(kept: MessageResults) -> Table:
    """Return the games won with true and with shuffled messages, and the difference, for each run and their mean."""
    rows: list[list[Cell]] = []
    for group, runs in kept.groups.items():
        values = [[run.won / kept.games, run.won_shuffled / kept.games, (run.won - run.won_shuffled) / kept.games] for run in runs.values()]
        rows += _with_mean([[group, name, *some] for name, some in zip(runs, values, strict=True)], values)
    rates = [Column("won", percent), Column("won with shuffled messages", percent), Column("difference", percentage_points)]
    return Table([Column("group"), Column("run"), *rates], rows)


def main() -> None:
    """Run the command."""
    try:
        match sys.argv[1:]:
            case [file, task, *groups] if groups:
                add_messages(Path(file), task, groups)
            case _:
                raise TetrarchiaError("usage: python -m tetrarchia_eval.local_information FILE TASK GROUP...")
    except TetrarchiaError as error:
        print(f"local_information: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
