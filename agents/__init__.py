"""Everything that chooses an action."""

from agents.agent import Agent
from agents.table import AGENTS, make_agents

__all__ = ["AGENTS", "Agent", "make_agents"]
