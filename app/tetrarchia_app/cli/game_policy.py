"""Agents named on the command line as the policy of one game: what `watch`, `play` and `doctor` let play."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tetrarchia_env.game import Game


def game_policy(names: str, seed: int) -> "Callable[[Game], int]":
    """Return a function from a game to the next action, as these agents choose it in the game of this seed."""
    import numpy as np

    from tetrarchia_agents import TeamPolicy, make_agents
    from tetrarchia_agents.compiling import compile_ahead

    team, env_id = TeamPolicy(make_agents(names), env_ids=1), np.array([0])
    compile_ahead()
    team.begin(env_id, seed)
    return lambda game: int(team.act(game.position, game.masks, env_id)[0])
