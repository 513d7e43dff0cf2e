"""Agents named on the command line as the policy of one game, for `watch`, `play` and `doctor`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tetrarchia_env.game import Policy


def game_policy(names: str) -> "Policy":
    """Return a function from a game to the next action, as the acting Emperor's agent chooses it."""
    from tetrarchia_agents import make_agents
    from tetrarchia_agents.compiling import compile_ahead

    agents = make_agents(names)
    compile_ahead()
    return lambda game: game.ask(agents[game.status()[0]])
