"""Agents: the protocol, the built-in agents by name, and games between them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tetrarchia_agents.registry import AGENTS, AgentType, assign_players, make_agent, make_agents
    from tetrarchia_agents.rollouts import GameResult, TeamPolicy, rollout
    from tetrarchia_env.agent import Actions, Agent, EnvIds

__all__ = [
    "AGENTS",
    "Actions",
    "Agent",
    "AgentType",
    "EnvIds",
    "GameResult",
    "TeamPolicy",
    "assign_players",
    "make_agent",
    "make_agents",
    "rollout",
]

_MODULES = {
    **dict.fromkeys(("AGENTS", "AgentType", "assign_players", "make_agent", "make_agents"), "tetrarchia_agents.registry"),
    **dict.fromkeys(("GameResult", "TeamPolicy", "rollout"), "tetrarchia_agents.rollouts"),
    **dict.fromkeys(("Actions", "Agent", "EnvIds"), "tetrarchia_env.agent"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: shell completion reads the table of agents and must be fast."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tetrarchia_agents' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
