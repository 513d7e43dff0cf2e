"""Whole games between agents, all side by side: the one rollout that evaluation, training and examples share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tetrarchia_agents.registry import make_agents
from tetrarchia_agents.team_policy import TeamPolicy, assign_players
from tetrarchia_env.agent import Agent
from tetrarchia_env.batch import Games, Seeds, borders, new_games, play_to_end, scores
from tetrarchia_env.checks import checked_seed
from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.options import Options

Agents = str | Agent | list[Agent] | tuple[Agent, ...]


@dataclass(frozen=True)
class GameResult:
    """One finished game."""

    level: str
    seed: int
    outcome: str  # won, rome fell, reserve empty or truncated
    score: int  # R9.3
    turns: int
    borders: int  # secured at the end
    decisions: tuple[int, int, int, int]  # of each Emperor in turn order
    seconds: tuple[float, float, float, float]  # that they took: three digits, at most six decimals

    @property
    def won(self) -> bool:
        """R9.1."""
        return self.outcome == "won"

    @property
    def steps(self) -> int:
        """All its decisions."""
        return sum(self.decisions)


def rollout(
    agents: Agents, games: int | Sequence[int] = 1, *, seed: int = 0, agents_seed: int = 0, options: Options | None = None, **arguments: Any
) -> list[GameResult]:
    """Play so many games to their ends, with the seeds `seed`, `seed + 1`, ..., or one for each seed given.

    agents: names as the command line takes them ("planner", "ppo,random"), an agent for all Emperors, or one to four
        agents that share them (R13.1)
    agents_seed: for the agents' own chance
    options, arguments: the rules, as `Options` or as its arguments: level="4200", variants=["imperivm"]

    >>> [result.won for result in rollout("greedy", 3, level="4200", seed=7)]
    [False, True, False]
    """
    seeds = range(checked_seed(seed), checked_seed(seed) + int(games)) if isinstance(games, int | np.integer) else games
    rules = Options.of(**arguments) if options is None else options
    return play_games(rules, team_of(agents), seeds, agents_seed)


def team_of(agents: Agents) -> tuple[Agent, ...]:
    """The agent of each Emperor."""
    if isinstance(agents, str):
        return make_agents(agents)
    return assign_players(agents if isinstance(agents, list | tuple) else [agents])


def play_games(options: Options, team: Sequence[Agent], seeds: Seeds, agents_seed: int = 0) -> list[GameResult]:
    """A game of each seed by these rules, with an agent for each Emperor."""
    games, masks = new_games(options, seeds)
    policy = TeamPolicy(team, len(games), agents_seed)
    policy.begin(np.arange(len(games)), seeds)
    play_to_end(games, masks, policy.act)
    return list(_results(games, _whole(seeds), policy))


def _whole(seeds: Seeds) -> list[int]:
    return [int(seed) for seed in np.atleast_1d(np.asarray(seeds, dtype=object))]


def _results(games: Games, seeds: Sequence[int], policy: TeamPolicy) -> Iterator[GameResult]:
    found = zip(games, seeds, scores(games).tolist(), borders(games).tolist(), strict=True)
    for row, (game, seed, score, secured) in enumerate(found):
        decisions: Any = tuple(policy.decisions[row].tolist())
        seconds: Any = tuple(round(float(f"{spent:.3g}"), 6) for spent in policy.seconds[row].tolist())
        level, outcome, turns = "".join(map(str, game["level"])), OUTCOMES[game["outcome"]], int(game["turn"])
        yield GameResult(level, seed, outcome, score, turns, secured, decisions, seconds)
