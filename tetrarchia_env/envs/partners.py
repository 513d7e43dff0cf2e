"""Partners: agents inside an environment that decide for all Emperors except the learner's (arguments `seat` and `partners`).

`Partners` keeps the agents, which of them play in which environment, and the number of decisions from which their RNG states are
derived. The vector APIs have one for all games, the single-game environments one for their game: both play the same games.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import metadata
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.agent import (
    Actions,
    Agent,
    IllegalActionsError,
    Observations,
    RngStates,
    agent_rngs,
    agent_streams_of_rngs,
    ask,
    begin_games,
    check_information,
)
from tetrarchia_env.batch import Games, Masks, Rows, agents_to_act
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.schema import truncate_repr

Seat = Literal["diocletian", "galerius", "constantius", "maximian"]
LineUp = str | Agent | Mapping[str, str | Agent]  # one agent for all other seats, or one for each
PartnersArgument = LineUp | Sequence[LineUp]

ENTRY_POINTS = "tetrarchia.agents"
MAX_GAMES_WITHOUT_DECISION = 1000  # in a row, in one environment
PARTNER = np.dtype(
    [
        ("stream", np.uint64),  # the RNG stream of the agents in the running game
        ("lineup", np.int64),  # which entry of the list of partners plays
        ("decisions", np.int64),  # actions played in the running game, by all Emperors
    ]
)


class Partners:
    """The agents of all Emperors except the learner's, in each of several environments.

    Args:
        seat: the learner's Emperor; several are assigned to the environments in turn
        partners: an agent for all other seats, a dict of agents by seat, or a list of these from which one is drawn per game
        num_envs: the number of environments

    Attributes:
        seats: the index of the learner's Emperor in each environment
        lineups: the length of the list to draw from; 0 if `partners` is not a list
        records: the state of each environment, records of `PARTNER`
    """

    def __init__(self, seat: str | Sequence[str], partners: PartnersArgument, num_envs: int) -> None:
        names: list[Any] = list(seat) if isinstance(seat, list | tuple) else [seat]
        if not names or any(name not in EMPERORS for name in names):
            raise TetrarchiaError(f"seat must be one of {', '.join(EMPERORS)}; got {truncate_repr(seat)}")
        if len(names) > num_envs:
            raise TetrarchiaError(f"seat: {len(names)} seats need at least as many environments; got {num_envs}")
        self.seats = np.resize([EMPERORS.index(name) for name in names], num_envs)
        is_list = isinstance(partners, Sequence) and not isinstance(partners, str)
        entries = list(partners) if is_list else [partners]  # type: ignore[arg-type]  # a sequence, as checked
        if not entries:
            raise TetrarchiaError("partners must not be an empty list")
        self.lineups = len(entries) if is_list else 0
        self._agents: list[Agent] = []
        self._agent_of = np.full((len(entries), len(EMPERORS)), -1)  # the agent of each Emperor in each line-up
        numbers: dict[object, int] = {}  # of agents by name or identity
        for row, entry in enumerate(entries):
            for other, agent in _by_seat(names, entry).items():
                key = agent if isinstance(agent, str) else id(agent)
                if key not in numbers:
                    numbers[key] = len(self._agents)
                    self._agents.append(_resolve(agent))
                self._agent_of[row, EMPERORS.index(other)] = numbers[key]
        self.records = np.zeros(num_envs, dtype=PARTNER)

    def check_local(self, local: LocalOptions) -> None:
        """Raise TetrarchiaError if an agent needs observations with other arguments; agents that need whole games may always play."""
        check_information(self._agents, local, allow_full_information=True)

    def begin(self, rows: Rows, rngs: RngStates, lineups: NDArray[np.int64]) -> None:
        """Begin new games.

        Args:
            rows: the environments
            rngs: the RNG state that the game in each of them begins with
            lineups: the line-up that was drawn for each of them
        """
        self.records["stream"][rows] = agent_streams_of_rngs(rngs)
        self.records["lineup"][rows], self.records["decisions"][rows] = lineups, 0
        self.forget(rows)

    def forget(self, rows: Rows) -> None:
        """Let the agents discard what they remember of the games in these environments."""
        for agent in self._agents:
            begin_games(agent, rows)

    def act(self, games: Games, masks: Masks, rows: Rows, observe: Callable[[Rows], Observations]) -> Actions:
        """Return the partners' actions in these running games, and count them as decisions.

        Args:
            games: the games in which a partner decides
            masks: their legal actions
            rows: their environments
            observe: returns the observation of the Emperor to act in some environments
        """
        if masks.shape[1] < ACTIONS:
            base, masks = masks, np.zeros((len(masks), ACTIONS), dtype=masks.dtype)
            masks[:, : base.shape[1]] = base
        records = self.records[rows]
        rngs = agent_rngs(records["stream"], records["decisions"])
        numbers = self._agent_of[records["lineup"], agents_to_act(games)]
        actions = np.zeros(len(games), dtype=np.int64)
        for number, agent in enumerate(self._agents):
            own = np.flatnonzero(numbers == number)
            if len(own):
                chosen = slice(None) if len(own) == len(games) else own
                try:
                    actions[own] = ask(agent, games[chosen], masks[chosen], rows[chosen], rngs[chosen], partial(observe, rows[chosen]))
                except IllegalActionsError as error:
                    raise TetrarchiaError(f"partner {truncate_repr(agent)}: {error}") from error
        self.records["decisions"][rows] += 1
        return actions

    def check_progress(self, games_begun: int) -> None:
        """Raise TetrarchiaError if this many games in a row ended before the learner's first decision, to avoid an endless loop."""
        if games_begun >= MAX_GAMES_WITHOUT_DECISION:
            raise TetrarchiaError(
                f"seat: {games_begun} games in a row ended before the learner's first decision: use a larger max_turns or other partners"
            )


def make_partners(seat: str | Sequence[str] | None, partners: PartnersArgument | None, num_envs: int = 1) -> Partners | None:
    """Return the partners of a learner, or `None` if neither argument is given."""
    if (seat is None) != (partners is None):
        given, missing = ("seat", "partners") if partners is None else ("partners", "seat")
        raise TetrarchiaError(f"{missing} must be given together with {given}")
    return None if seat is None or partners is None else Partners(seat, partners, num_envs)


def _by_seat(seats: Sequence[str], entry: Any) -> Mapping[str, str | Agent]:
    """Return a line-up as a dict of agents by seat, for all Emperors who are not always the learner's."""
    others = [emperor for emperor in EMPERORS if set(seats) != {emperor}]
    if not isinstance(entry, Mapping):
        return dict.fromkeys(others, entry)
    if set(entry) != set(others):
        raise TetrarchiaError(f"partners must have the seats {', '.join(others)}; got {truncate_repr(list(entry))}")
    return entry


def _resolve(agent: Any) -> Agent:
    """Return an agent object; a name is passed to the function that an installed package registers in the group of entry points."""
    if not isinstance(agent, str):
        if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
            raise TetrarchiaError(f"partners must be names of agents or objects with a method act; got {truncate_repr(agent)}")
        return agent  # type: ignore[no-any-return]  # an Agent, as checked
    makers = {entry.name: entry for entry in metadata.entry_points(group=ENTRY_POINTS)}
    maker = makers.get(agent.partition(":")[0], makers.get("default"))
    if maker is None:
        raise TetrarchiaError(f"partners: no installed package provides agents by name (entry points {ENTRY_POINTS}); got {agent!r}")
    try:
        make_agent = maker.load()
    except ModuleNotFoundError as error:
        raise TetrarchiaError(f"partners: agent {agent!r} needs a package that is not installed ({error})") from error
    made: Agent = make_agent(agent)
    return made
