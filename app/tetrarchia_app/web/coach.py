"""The coach: the trained networks of a server, which advise and analyze; results are kept by position."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tetrarchia_agents.luck_adjusted import CHUNK_SIZE, Evaluation, combine, evaluate_decisions
from tetrarchia_agents.position_analysis import Critic, advise
from tetrarchia_app.web import views
from tetrarchia_app.web.analysis_queue import Slices
from tetrarchia_env.batch import Games, is_over
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Move
from tetrarchia_env.game_analysis import Advice
from tetrarchia_env.options import Options

MAX_CACHED_POSITIONS = 20_000  # about a kilobyte each


class Coach:
    """Advice and analysis for every game whose rules one of the networks was trained on.

    The methods return generators for the `AnalysisQueue`, which runs them in one thread.

    Args:
        critics: The networks; the first that knows the rules of a game is used.
    """

    def __init__(self, critics: Sequence[Critic]) -> None:
        self._critics = tuple(critics)
        self._known: dict[Any, Critic | None] = {}  # by rules
        self._advice: OrderedDict[tuple[str, bytes], tuple[Advice, ...]] = OrderedDict()
        self._values: OrderedDict[tuple[str, bytes, int], float] = OrderedDict()  # after actions that were played

    def critic_for(self, options: Options) -> Critic:
        """Return the first network that was trained with these rules.

        Raises:
            TetrarchiaError: If there is none.
        """
        rules = (options.scenario, tuple(options.variants), tuple(options.modules))
        if rules not in self._known:
            knows = [critic for critic in self._critics if not critic.agent.training_warning(options)]  # reads the checkpoint
            self._known[rules] = knows[0] if knows else None
        critic = self._known[rules]
        if critic is not None:
            return critic
        raise TetrarchiaError(f"no network of this server knows these rules; it has {', '.join(critic.name for critic in self._critics)}")

    def advise(self, options: Options, game: Games) -> Slices:
        """Return the most probable actions of a running game, see `views.coach`."""
        critic = self.critic_for(options)
        return views.coach(critic.name, game, self._advise(critic, game))
        yield

    def analyze(self, options: Options, positions: Sequence[Games], moves: Sequence[Move], players: Sequence[Any]) -> Slices:
        """Return the analysis of a game, see `views.analysis`.

        Args:
            options: The rules of the game.
            positions: All positions of the game.
            moves: The moves between them.
            players: Who chose each, see `views.analysis`.
        """
        critic = self.critic_for(options)
        games, actions = np.concatenate(positions), np.array([move.action for move in moves], dtype=np.int64)
        found = [self._cached(critic, games[row : row + 1], move.action) for row, move in enumerate(moves)]
        missing = [row for row, one in enumerate(found) if one is None]
        for start in range(0, len(missing), CHUNK_SIZE):
            rows = missing[start : start + CHUNK_SIZE]
            for row, one in zip(rows, evaluate_decisions(critic, games[rows], actions[rows]), strict=True):
                found[row] = one
                self._keep(self._advice, _key(critic, games[row : row + 1]), one.top_actions)
                self._keep(self._values, (*_key(critic, games[row : row + 1]), int(actions[row])), one.expected)
            yield
        last = games[-1:]
        next_actions = () if is_over(last)[0] else self._advise(critic, last)
        evaluations = [one for one in found if one is not None]
        return views.analysis(combine(critic, games, actions, evaluations, next_actions), games, players)

    def _advise(self, critic: Critic, game: Games) -> tuple[Advice, ...]:
        key = _key(critic, game)
        if key not in self._advice:
            self._keep(self._advice, key, tuple(advise(critic, game)[0]))
        return self._advice[key]

    def _cached(self, critic: Critic, game: Games, action: int) -> Evaluation | None:
        key = _key(critic, game)
        if key not in self._advice or (*key, action) not in self._values:
            return None
        return Evaluation(self._advice[key], self._values[*key, action])

    def _keep(self, cache: "OrderedDict[Any, Any]", key: object, value: object) -> None:
        cache[key] = value
        if len(cache) > MAX_CACHED_POSITIONS:
            cache.popitem(last=False)


def _key(critic: Critic, game: Games) -> tuple[str, bytes]:
    return critic.name, hashlib.blake2b(game.tobytes(), digest_size=16).digest()
