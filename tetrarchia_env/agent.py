"""Agents: the protocol, and the one function through which every agent is asked for an action.

`Game`, `Partners`, `tetrarchia_agents.TeamPolicy`, the arena, the terminal and the web server all call `ask`. It decides what an
agent receives: copies of the games, or the observations of the Emperors to act.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import (
    Games,
    Masks,
    Seeds,
    agents_to_act,
    checked_actions,
    illegal_action_message,
    observe_unchecked,
    rng_states,
    seed_array,
)
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions, LocalViews

#: One action id per game.
Actions = NDArray[np.int64]
#: One number per game, which identifies its environment between calls.
EnvIds = NDArray[np.int64]
RngStates = NDArray[np.uint64]
#: One row per game, as `docs/observation.md` describes it.
Observations = NDArray[np.float32]
Needs = Literal["games", "observations"]


class Agent(Protocol):
    """Chooses an action for the acting Emperor in each of a batch of games.

    An agent receives either games or observations, as `needs` says. Games are copies whose RNG states (`games["dice"]`) are not those
    of the real games: an agent cannot see future dice. It may play on in the copies and should take its own randomness from these
    states, so that the same states give the same actions. An agent that needs observations receives the same states by `set_rngs`.

    >>> from tetrarchia_env import Game
    >>> class FirstLegalAction(Agent):
    ...     def act(self, games, masks, env_ids):
    ...         return masks.argmax(axis=1)
    >>> Game(level="4200", seed=7).play_turn(FirstLegalAction())[0]
    'diocletian places a fleet in ATLANTICVM'
    """

    #: The arguments of local information that the observations must have; `None`, the default, accepts all.
    local: LocalOptions | None = None

    @property
    def needs(self) -> Needs:
        """What `act` receives: "games", the default, or "observations". Usually a class attribute."""
        return "games"

    def begin(self, env_ids: EnvIds) -> None:
        """Discard what is remembered of the old games in these environments. Optional; the default does nothing.

        Args:
            env_ids: The environments in which new games begin.
        """
        return

    def set_rngs(self, rngs: RngStates) -> None:
        """Receive the RNG states for the next call of `act`. Optional; only called if the agent needs observations.

        Args:
            rngs: One state per game, which depends on the game's seed, the agents' seed and the number of decisions before.
        """
        return

    def act(self, inputs: NDArray[Any], masks: Masks, env_ids: EnvIds, /) -> Actions:
        """Return the id of a legal action for each game.

        Args:
            inputs: Copies of the running games, an array of `tetrarchia_env.batch.GAME`; or, if the agent needs observations, one row
                per game: the observation of the Emperor to act.
            masks: One row per game: 1 for each legal action.
            env_ids: One number per game that identifies it between calls until `begin` is called with the same number.

        Returns:
            One action id per game.
        """


class IllegalActionsError(TetrarchiaError):
    """An agent returned illegal actions.

    Attributes:
        actions: The actions returned, one per game.
        messages: The games whose action is illegal, by row, each with an error message.
    """

    def __init__(self, actions: Actions, messages: dict[int, str]) -> None:
        super().__init__(next(iter(messages.values())))
        self.actions, self.messages = actions, messages


def begin_games(agent: Agent, env_ids: EnvIds) -> None:
    """Announce new games in these environments to an agent, if it has a method `begin`."""
    begin = getattr(agent, "begin", None)
    if begin is not None:
        begin(env_ids)


def needs_games(agent: Agent) -> bool:
    """Return whether an agent receives whole games, and not observations.

    Raises:
        TetrarchiaError: The agent declares neither.
    """
    needs = getattr(agent, "needs", "games")
    if needs not in ("games", "observations"):
        raise TetrarchiaError(f'{type(agent).__name__}.needs must be "games" or "observations"; got {needs!r}')
    return bool(needs == "games")


def check_information(agents: Iterable[Agent], local: LocalOptions, allow_full_information: bool = False) -> None:
    """Check that agents may play with this information.

    Args:
        agents: The agents.
        local: The arguments of local information of the games.
        allow_full_information: Whether agents that need whole games may play with a view radius, as privileged baselines.

    Raises:
        TetrarchiaError: An agent needs whole games, or observations with other arguments.
    """
    for agent in agents:
        if not needs_games(agent):
            trained = getattr(agent, "local", None)
            if trained is not None and trained != local:
                raise TetrarchiaError(f"{agent!r} needs observations with {trained.text}; got {local.text}")
        elif local.view_radius is not None and not allow_full_information:
            raise TetrarchiaError(
                f"{agent!r} needs whole games, which view_radius={local.view_radius} hides: use agents that need observations, "
                "or allow_full_information for a privileged baseline"
            )


class Observer:
    """The observations of the Emperors to act in several environments, and what all Emperors remember and said there (R14.6, R14.7).

    Args:
        local: The arguments of local information.
        num_envs: The number of environments.

    Attributes:
        views: The views of the Emperors in all environments; `None` with full information.
    """

    def __init__(self, local: LocalOptions, num_envs: int) -> None:
        self.views = None if local.view_radius is None else LocalViews(local, num_envs)

    def update(self, games: Games, env_ids: EnvIds, are_new: NDArray[np.bool_]) -> None:
        """Let all Emperors remember what they see; call this in each position in which an action is chosen.

        Args:
            games: The positions.
            env_ids: The environment of each.
            are_new: Whether no action was played yet; the set-up is public.
        """
        if self.views is None:
            return
        views = self.views.select(env_ids)
        views.begin(games, np.flatnonzero(are_new))
        views.update(games)
        self.views.store(env_ids, views)

    def say(self, games: Games, env_ids: EnvIds, actions: Actions) -> None:
        """Keep the messages among the actions chosen in these positions."""
        if self.views is not None:
            views = self.views.select(env_ids)
            views.say(games, np.arange(len(games)), actions)
            self.views.store(env_ids, views)

    def observe(self, games: Games, env_ids: EnvIds) -> Observations:
        """Return the observation of the Emperor to act in each game."""
        if self.views is None:
            return observe_unchecked(games, agents_to_act(games))
        return self.views.select(env_ids).observe(games, agents_to_act(games))


def ask(
    agent: Agent,
    games: Games,
    masks: Masks,
    env_ids: EnvIds,
    rngs: RngStates,
    observe: Callable[[], Observations] | None = None,
) -> Actions:
    """Return an agent's checked action for each game; the agent sees only copies, with other dice, or observations.

    Args:
        agent: The agent that decides.
        games: The running games; they are not changed.
        masks: The legal actions of each game.
        env_ids: One number per game, see `Agent.act`.
        rngs: The RNG state that replaces each game's own, see `agent_rngs`.
        observe: Returns the observations of these games, if the agent needs them; by default full observations.

    Returns:
        One legal action id per game.

    Raises:
        TetrarchiaError: The answer is not one integer per game.
        IllegalActionsError: An action is illegal.
    """
    inputs: NDArray[Any]
    if needs_games(agent):
        inputs, known = games.copy(), masks[:, :ACTIONS]  # an agent that receives whole games says nothing (R14.7)
        inputs["dice"] = rngs
    else:
        inputs, known = observe() if observe else observe_unchecked(games, agents_to_act(games)), masks
        if hasattr(agent, "set_rngs"):
            agent.set_rngs(rngs.copy())
    actions = checked_actions(agent.act(inputs, known.copy(), env_ids.copy()), len(games))
    is_legal = (actions >= 0) & (actions < masks.shape[1])
    is_legal &= masks[np.arange(len(games)), np.where(is_legal, actions, 0)] != 0
    if not is_legal.all():
        wrong = np.flatnonzero(~is_legal).tolist()
        raise IllegalActionsError(actions, {row: illegal_action_message(int(actions[row]), masks[row], f"in game {row}") for row in wrong})
    return actions


def agent_streams(seeds: Seeds, agents_seed: int = 0) -> RngStates:
    """Return the number from which `agent_rngs` derives the RNG states of each game's decisions.

    Args:
        seeds: The seed of each game.
        agents_seed: The seed of the agents' randomness, the same for all games of a run.
    """
    return rng_states(seed_array(seeds)) ^ _stream_offset(agents_seed)


def agent_streams_of_rngs(rngs: RngStates) -> RngStates:
    """Return the `agent_streams` of games that began with these RNG states, with the agents' seed 0."""
    return rngs ^ _stream_offset(0)


@cache
def _stream_offset(agents_seed: int) -> RngStates:
    return rng_states(rng_states(seed_array(agents_seed)))


def agent_rngs(streams: RngStates, decisions: NDArray[np.int64]) -> RngStates:
    """Return the RNG state that an agent receives in place of each game's own.

    It depends on the game's seed, the agents' seed and the number of decisions before, and on nothing else: the same agent,
    rules and seed give the same game in `Game.play_turn`, `tetrarchia watch`, `rollout` and `tetrarchia eval`.

    Args:
        streams: The games' `agent_streams`.
        decisions: The number of actions played before in each game, by all Emperors.
    """
    return rng_states(streams + (decisions + 1).astype(np.uint64))
