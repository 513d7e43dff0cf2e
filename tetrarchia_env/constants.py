"""The words and numbers that others build on: agents, outcomes, options, phases and the blocks of action ids.

>>> OUTCOMES
('running', 'won', 'rome fell', 'reserve empty', 'truncated')
>>> ACTIONS, BASE_ACTIONS  # all action ids, and those of the base game, which come first
(455, 109)
"""

from tetrarchia_env.board import EMPERORS, SPACES
from tetrarchia_env.engine.actions import ACTIONS, ATTACK, BASE_ACTIONS, CALM, DUX_DEPLOY, END, MOVE, ORDER, SECURE, SUBDUE
from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import MODULES, OUTCOMES, PHASES, VARIANTS
from tetrarchia_env.variants import TASKS

__all__ = [
    "ACTIONS",
    "ATTACK",
    "BASE_ACTIONS",
    "CALM",
    "DUX_DEPLOY",
    "EMPERORS",
    "END",
    "MODULES",
    "MOVE",
    "ORDER",
    "OUTCOMES",
    "PHASES",
    "SCENARIOS",
    "SECURE",
    "SPACES",
    "SUBDUE",
    "TASKS",
    "VARIANTS",
]
