"""Games between agents, played to their ends in one batch: used by evaluation, training and examples."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tetrarchia_agents.registry import assign_players, make_agents
from tetrarchia_env.agent import (
    Actions,
    Agent,
    EnvIds,
    Observer,
    RngStates,
    agent_rngs,
    agent_streams,
    ask,
    begin_games,
    check_information,
)
from tetrarchia_env.batch import Games, Masks, Seeds, agents_to_act, borders, new_games, play_to_end, scores
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import checked_seed
from tetrarchia_env.constants import OUTCOMES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.notation import Replay, record_replay
from tetrarchia_env.options import Options

Agents = str | Agent | list[Agent] | tuple[Agent, ...]


class TeamPolicy:
    """Four agents, one for each Emperor in turn order, that play a batch of games.

    Attributes:
        decisions: [environments, 4] decisions of each Emperor in the current game.
        seconds: [environments, 4] time that they took; games decided in one call share it equally.

    >>> import numpy as np
    >>> from tetrarchia_agents import TeamPolicy, make_agents
    >>> from tetrarchia_env.batch import new_games
    >>> from tetrarchia_env.options import Options
    >>> games, masks = new_games(Options(level="4200"), seeds=[7, 8])
    >>> team = TeamPolicy(make_agents("greedy"), env_ids=2)
    >>> team.begin(np.arange(2), seeds=[7, 8])
    >>> team.act(games, masks, np.arange(2))
    array([9, 9])
    """

    def __init__(
        self,
        agents: Sequence[Agent],
        env_ids: int,
        seed: int = 0,
        local: LocalOptions = FULL_INFORMATION,
        allow_full_information: bool = False,
        observer: Observer | None = None,
    ) -> None:
        """Create a policy.

        Args:
            agents: The agent of each Emperor; the same object may occur several times.
            env_ids: The number of environments.
            seed: The seed of the agents' randomness, see `tetrarchia_env.agent.agent_rngs`.
            local: The information of agents that need observations.
            allow_full_information: Whether agents that need whole games may play with a view radius.
            observer: Gives the observations; by default a new `Observer`.

        Raises:
            TetrarchiaError: There are not four agents, or one of them may not play with this information.
        """
        if len(agents) != len(EMPERORS):
            raise TetrarchiaError(f"agents must be four, one for each of {', '.join(EMPERORS)}; got {len(agents)}")
        self._agents = list({id(agent): agent for agent in agents}.values())
        self._agent_of = np.array([[id(one) for one in self._agents].index(id(agent)) for agent in agents])
        check_information(self._agents, local, allow_full_information)
        self._observer = observer or Observer(local, env_ids)
        self._seed = seed
        self._streams: RngStates = np.zeros(env_ids, dtype=np.uint64)
        self.decisions = np.zeros((env_ids, len(EMPERORS)), dtype=np.int64)
        self.seconds = np.zeros((env_ids, len(EMPERORS)))

    def begin(self, env_ids: EnvIds, seeds: Seeds) -> None:
        """Begin new games.

        Args:
            env_ids: The environments, numbers below the `env_ids` of the constructor.
            seeds: The seed of the game in each of them.
        """
        self._streams[env_ids] = agent_streams(seeds, self._seed)
        self.decisions[env_ids], self.seconds[env_ids] = 0, 0.0
        for agent in self._agents:
            begin_games(agent, env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """Return the action of the acting Emperor's agent in each game.

        Call this for every decision of a game: each call updates what the Emperors remember and counts the decision.

        Args:
            games: Running games; they are not changed.
            masks: Their legal actions.
            env_ids: The environment of each game.
        """
        decisions = self.decisions[env_ids].sum(axis=1)
        rngs = agent_rngs(self._streams[env_ids], decisions)
        self._observer.update(games, env_ids, decisions == 0)
        emperors = agents_to_act(games)
        actions = np.zeros(len(games), dtype=np.int64)
        for number, agent in enumerate(self._agents):
            rows = np.flatnonzero(self._agent_of[emperors] == number)
            if len(rows):
                start = time.perf_counter()
                own = slice(None) if len(rows) == len(games) else rows  # a view where possible: `ask` makes the copy
                observe = partial(self._observer.observe, games[own], env_ids[own])
                actions[rows] = ask(agent, games[own], masks[own], env_ids[own], rngs[own], observe)
                self.seconds[env_ids[rows], emperors[rows]] += (time.perf_counter() - start) / len(rows)
        self._observer.say(games, env_ids, actions)
        self.decisions[env_ids, emperors] += 1
        return actions


@dataclass(frozen=True)
class GameResult:
    """The result of one finished game.

    Attributes:
        level: The level.
        seed: The seed.
        outcome: "won", "rome fell", "reserve empty" or "truncated".
        score: The score (R9.3).
        turns: Number of turns.
        borders: Borders secured at the end.
        decisions: Number of decisions of each Emperor in turn order.
        seconds: Time that these took, rounded to three digits and at most six decimals.

    >>> from tetrarchia_agents import rollout
    >>> [result] = rollout("greedy", 1, seed=7, level="4200")
    >>> result.won, result.outcome, result.steps == sum(result.decisions)
    (False, 'rome fell', True)
    """

    level: str
    seed: int
    outcome: str
    score: int
    turns: int
    borders: int
    decisions: tuple[int, int, int, int]
    seconds: tuple[float, float, float, float]

    @property
    def won(self) -> bool:
        """Whether the game was won (R9.1)."""
        return self.outcome == "won"

    @property
    def steps(self) -> int:
        """The number of all decisions."""
        return sum(self.decisions)


def rollout(
    agents: Agents,
    games: int | Sequence[int] = 1,
    *,
    seed: int = 0,
    agents_seed: int = 0,
    options: Options | None = None,
    level: str | Sequence[str] | None = None,
    variants: Iterable[str] = (),
    modules: Iterable[str] = (),
    scenario: str | None = None,
    fixed_setup: bool = False,
    revolts: int | Sequence[int] = 6,
    secured: int | Sequence[int] = 0,
    task: str | None = None,
    max_turns: int = 400,
    view_radius: int | None = None,
    last_seen: bool = False,
    message_tokens: int = 0,
    allow_full_information: bool = False,
) -> list[GameResult]:
    """Play games to their ends.

    Args:
        agents: Names as on the command line ("planner", "ppo,random"), one agent for all Emperors, or one to four agents that
            share them (R13.1).
        games: The number of games, with the seeds `seed`, `seed + 1`, ...; or a list of seeds.
        seed: The first seed; ignored with a list of seeds.
        agents_seed: The seed of the agents' own randomness.
        options: The rules; instead of the following arguments.
        level: Four digits (R2.1), by default "4211"; or a list of levels from which one is drawn per game.
        variants: Any names of `constants.VARIANTS` (R10).
        modules: Any names of `constants.MODULES` (R11).
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules.
        fixed_setup: Place the initial Revolts as in R2.7.
        revolts: The number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8).
        secured: The number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8).
        task: A name of `constants.TASKS`, which sets level, revolts and secured.
        max_turns: Truncate a game when this many turns are finished.
        view_radius: `None`, or 0 to 12: each Emperor observes only his surroundings (R14).
        last_seen: With `view_radius`: spaces out of view show what was seen there last.
        message_tokens: With `view_radius`: the number of tokens that an Emperor can say, 0 to 16.
        allow_full_information: With `view_radius`: allow agents that need whole games, as privileged baselines.

    Returns:
        One result per game, in the order of the seeds.

    Raises:
        TetrarchiaError: An argument is not valid, or an agent returns an illegal action.

    >>> from tetrarchia_agents import rollout
    >>> [result.won for result in rollout("greedy", 3, level="4200", seed=7)]
    [False, True, False]
    """
    seeds = range(checked_seed(seed), checked_seed(seed) + int(games)) if isinstance(games, int | np.integer) else games
    rules = options or Options(level, variants, modules, scenario, fixed_setup, max_turns, revolts, secured, task)
    local = LocalOptions(view_radius, last_seen, message_tokens)
    return play_games(rules, make_team(agents), seeds, agents_seed, local, allow_full_information)


def make_team(agents: Agents) -> tuple[Agent, ...]:
    """Return the agent of each Emperor, see `rollout`."""
    if isinstance(agents, str):
        return make_agents(agents)
    return assign_players(agents if isinstance(agents, list | tuple) else [agents])


def play_games(
    options: Options,
    team: Sequence[Agent],
    seeds: Seeds,
    agents_seed: int = 0,
    local: LocalOptions = FULL_INFORMATION,
    allow_full_information: bool = False,
) -> list[GameResult]:
    """Play one game per seed to its end.

    Args:
        options: The rules.
        team: The agent of each Emperor in turn order.
        seeds: The games' seeds.
        agents_seed: The seed of the agents' own randomness.
        local: The information of agents that need observations.
        allow_full_information: Whether agents that need whole games may play with a view radius.
    """
    return _play(options, team, seeds, agents_seed, local, allow_full_information, lambda rows, actions: None)


def record_games(
    options: Options,
    team: Sequence[Agent],
    seeds: Seeds,
    agents_seed: int = 0,
    local: LocalOptions = FULL_INFORMATION,
    allow_full_information: bool = False,
) -> list[Replay]:
    """Play one game per seed to its end and return the replays; arguments as for `play_games`."""
    played: dict[int, list[int]] = defaultdict(list)  # actions by row

    def record(rows: EnvIds, actions: Actions) -> None:
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            played[row].append(action)

    results = _play(options, team, seeds, agents_seed, local, allow_full_information, record)
    return [record_replay(options, result.seed, played[row], local) for row, result in enumerate(results)]


def _play(
    options: Options,
    team: Sequence[Agent],
    seeds: Seeds,
    agents_seed: int,
    local: LocalOptions,
    allow_full_information: bool,
    on_actions: Callable[[EnvIds, Actions], None],
) -> list[GameResult]:
    games, masks = new_games(options, seeds, local.message_tokens)
    policy = TeamPolicy(team, len(games), agents_seed, local, allow_full_information)
    policy.begin(np.arange(len(games)), seeds)

    def act(games: Games, masks: Masks, rows: EnvIds) -> Actions:
        actions = policy.act(games, masks, rows)
        on_actions(rows, actions)
        return actions

    play_to_end(games, masks, act)
    return list(_results(games, [int(seed) for seed in np.atleast_1d(np.asarray(seeds, dtype=object))], policy))


def _results(games: Games, seeds: Sequence[int], policy: TeamPolicy) -> Iterator[GameResult]:
    found = zip(games, seeds, scores(games).tolist(), borders(games).tolist(), strict=True)
    for row, (game, seed, score, secured) in enumerate(found):
        decisions: Any = tuple(policy.decisions[row].tolist())
        seconds: Any = tuple(round(float(f"{spent:.3g}"), 6) for spent in policy.seconds[row].tolist())
        level, outcome, turns = "".join(map(str, game["level"])), OUTCOMES[game["outcome"]], int(game["turn"])
        yield GameResult(level, seed, outcome, score, turns, secured, decisions, seconds)
