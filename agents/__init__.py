"""Everything that chooses an action."""

from agents.agent import Actions, Agent, Lanes
from agents.seats import Seats, seat
from agents.table import AGENTS, make_agent, make_agents

__all__ = ["AGENTS", "Actions", "Agent", "Lanes", "Seats", "make_agent", "make_agents", "seat"]
