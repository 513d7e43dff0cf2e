"""Agents named on the command line as the policy of one game: what `watch`, `play` and `doctor` let play."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tetrarchia_env.show import Policy


def game_policy(names: str, seed: int) -> "Policy":
    """From a game and its legal actions to the action of whoever is to act, in the one game of this seed."""
    import numpy as np

    from tetrarchia_agents import TeamPolicy, make_agents
    from tetrarchia_agents.compiling import compile_ahead

    team, env_id = TeamPolicy(make_agents(names), env_ids=1), np.array([0])
    compile_ahead()
    team.begin(env_id, seed)
    return lambda game, mask: int(team.act(game, mask[np.newaxis], env_id)[0])
