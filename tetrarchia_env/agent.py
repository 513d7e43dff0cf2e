"""Agents: the protocol, and the one function through which every agent is asked for an action.

`Game`, `tetrarchia_agents.TeamPolicy`, the arena, the terminal and the web server all call `ask`. It decides what an agent
receives; an agent of another kind (for example one that receives observations instead of game records) needs a branch there
and nowhere else.
"""

from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks, Seeds, checked_actions, illegal_action_message, rng_states, seed_array
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.errors import TetrarchiaError

#: One action id per game.
Actions = NDArray[np.int64]
#: One number per game, which identifies its environment between calls.
EnvIds = NDArray[np.int64]
RngStates = NDArray[np.uint64]


class Agent(Protocol):
    """Chooses an action for the acting Emperor in each of a batch of games.

    The games are copies whose RNG states (`games["dice"]`) are not those of the real games: an agent cannot see future dice. It may
    play on in the copies and should take its own randomness from these states, so that the same states give the same actions.

    >>> from tetrarchia_env import Game
    >>> class FirstLegalAction(Agent):
    ...     def act(self, games, masks, env_ids):
    ...         return masks.argmax(axis=1)
    >>> Game(level="4200", seed=7).play_turn(FirstLegalAction())[0]
    'diocletian places a fleet in ATLANTICVM'
    """

    def begin(self, env_ids: EnvIds) -> None:
        """Discard what is remembered of the old games in these environments. Optional; the default does nothing.

        Args:
            env_ids: The environments in which new games begin.
        """
        return

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """Return the id of a legal action for each game.

        Args:
            games: Copies of the running games, an array of `tetrarchia_env.batch.GAME`.
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


def ask(agent: Agent, games: Games, masks: Masks, env_ids: EnvIds, rngs: RngStates) -> Actions:
    """Return an agent's checked action for each game; the agent sees only copies, with other dice.

    Args:
        agent: The agent that decides.
        games: The running games; they are not changed.
        masks: The legal actions of each game.
        env_ids: One number per game, see `Agent.act`.
        rngs: The RNG state that replaces each game's own, see `agent_rngs`.

    Returns:
        One legal action id per game.

    Raises:
        TetrarchiaError: The answer is not one integer per game.
        IllegalActionsError: An action is illegal.
    """
    copies = games.copy()
    copies["dice"] = rngs
    actions = checked_actions(agent.act(copies, masks[:, :ACTIONS].copy(), env_ids.copy()), len(games))  # such an agent says nothing
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
