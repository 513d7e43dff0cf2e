"""The compiled search of the greedy agent and the planner."""
