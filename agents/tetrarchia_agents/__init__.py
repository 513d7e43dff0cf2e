"""Everything that chooses an action."""

from tetrarchia_agents.registry import AGENTS, make_agent, make_agents
from tetrarchia_agents.rollout import GameResult, rollout
from tetrarchia_agents.team_policy import TeamPolicy, assign_players
from tetrarchia_env.agent import Actions, Agent, EnvIds

__all__ = ["AGENTS", "Actions", "Agent", "EnvIds", "GameResult", "TeamPolicy", "assign_players", "make_agent", "make_agents", "rollout"]
