"""TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research.

Importing the package registers `Tetrarchia-v0` with Gymnasium; the names below are loaded when they are first used.

One game as an object:

>>> from tetrarchia_env import Game
>>> game = Game(level="4200", seed=7)
>>> game.agent, game.legal_actions
('diocletian', ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM'])
>>> game.play("fleet INTERNVM")
('diocletian places a fleet in INTERNVM',)

The same game as an environment: `env` (PettingZoo AEC), `raw_env`, `parallel_env`, `vector_env`, `sb3_vec_env`, and
`gymnasium.make("Tetrarchia-v0")`. To play whole games between agents, use `tetrarchia_agents.rollout`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from tetrarchia_env.board import BOARD
    from tetrarchia_env.envs.infos import agent_name, outcome_name
    from tetrarchia_env.game import Game
    from tetrarchia_env.notation import load_replay
    from tetrarchia_env.options import Options
    from tetrarchia_env.tetrarchia_v0 import env, parallel_env, raw_env, sb3_vec_env, vector_env

__version__ = "0.1.0"
__all__ = [
    "BOARD",
    "Game",
    "Options",
    "agent_name",
    "env",
    "load_replay",
    "outcome_name",
    "parallel_env",
    "raw_env",
    "sb3_vec_env",
    "vector_env",
]

_MODULES = {
    "BOARD": "tetrarchia_env.board",
    "Game": "tetrarchia_env.game",
    "Options": "tetrarchia_env.options",
    "agent_name": "tetrarchia_env.envs.infos",
    "load_replay": "tetrarchia_env.notation",
    "outcome_name": "tetrarchia_env.envs.infos",
    **dict.fromkeys(("env", "parallel_env", "raw_env", "sb3_vec_env", "vector_env"), "tetrarchia_env.tetrarchia_v0"),
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that the compiler is not loaded before it is needed."""
    if name not in _MODULES:
        raise AttributeError(f"module 'tetrarchia_env' has no attribute {name!r}: it has {', '.join(__all__)}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


if "Tetrarchia-v0" not in gymnasium.registry:
    gymnasium.register(
        "Tetrarchia-v0",
        entry_point="tetrarchia_env.envs.gymnasium:TetrarchiaEnv",
        vector_entry_point="tetrarchia_env.envs.vector:TetrarchiaVector",
    )
