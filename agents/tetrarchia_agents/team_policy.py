"""R13.1: who decides for which Emperor, and the chance each decision gets."""

import time
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tetrarchia_env.agent import Actions, Agent, EnvIds, agent_rngs, agent_streams, ask, begin_games
from tetrarchia_env.batch import Games, Masks, Seeds, agents_to_act
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError

Player = TypeVar("Player")

# R13.1, by the number of players: the player of each Emperor in turn order. With three, the first has Diocletian and decides for
# his Caesar; which of the two Caesars is shared is the players' choice.
PLAYERS = {1: (0, 0, 0, 0), 2: (0, 0, 1, 1), 3: (0, 0, 1, 2), 4: (0, 1, 2, 3)}


def assign_players(players: Sequence[Player]) -> tuple[Player, ...]:
    """R13.1: the player of each Emperor, for one to four players."""
    if len(players) not in PLAYERS:
        raise TetrarchiaError(f"one to four players share the Emperors, not {len(players)}")
    return tuple(players[player] for player in PLAYERS[len(players)])


class TeamPolicy:
    """Four agents, one for each Emperor (one agent may have several), that play games in env_ids.

    The RNG state an agent gets depends on the game's seed, the run's and the number of decisions before it in that game,
    on nothing else: a game is the same in whatever env_id or company it is played.
    """

    def __init__(self, agents: Sequence[Agent], env_ids: int, seed: int = 0) -> None:
        if len(agents) != len(EMPERORS):
            raise TetrarchiaError(f"four agents, one for each of {', '.join(EMPERORS)}, not {len(agents)}")
        self._agents = list({id(agent): agent for agent in agents}.values())
        self._agent_of = np.array([[id(one) for one in self._agents].index(id(agent)) for agent in agents])
        self._seed = seed
        self._streams = np.zeros(env_ids, dtype=np.uint64)
        self.decisions = np.zeros((env_ids, len(EMPERORS)), dtype=np.int64)  # of each Emperor in the env_id's game
        self.seconds = np.zeros((env_ids, len(EMPERORS)))  # that they took; games decided together share alike

    def begin(self, env_ids: EnvIds, seeds: Seeds) -> None:
        """Games of these seeds begin in these env_ids."""
        self._streams[env_ids] = agent_streams(seeds, self._seed)
        self.decisions[env_ids], self.seconds[env_ids] = 0, 0.0
        for agent in self._agents:
            begin_games(agent, env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """What the Emperor to act does in each of these games; none of them may be over."""
        rngs = agent_rngs(self._streams[env_ids], self.decisions[env_ids].sum(axis=1))
        emperors = agents_to_act(games)
        actions = np.zeros(len(games), dtype=np.int64)
        for number, agent in enumerate(self._agents):
            rows = np.flatnonzero(self._agent_of[emperors] == number)
            if len(rows):
                begun = time.perf_counter()
                actions[rows] = ask(agent, games[rows], masks[rows], env_ids[rows], rngs[rows])
                self.seconds[env_ids[rows], emperors[rows]] += (time.perf_counter() - begun) / len(rows)
        self.decisions[env_ids, emperors] += 1
        return actions
