"""TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research.

`import tetrarchia_env` registers `Tetrarchia-v0` with Gymnasium; everything named here is loaded when it is first used.

One game as an object:

>>> from tetrarchia_env import Game
>>> game = Game(level="4200", seed=7)
>>> game.agent, game.legal_actions
('diocletian', ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM'])
>>> game.play("fleet INTERNVM")
('diocletian places a fleet in INTERNVM',)

The same game as an environment: `env` (PettingZoo AEC), `raw_env`, `parallel_env`, `vector_env`, `sb3_vec_env`, and
`gymnasium.make("Tetrarchia-v0")`. Whole games between agents: `tetrarchia_agents.rollout`.
"""

from tetrarchia_env.envs.registration import register_soon

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing's own would be loaded by every command before it can be stopped
if TYPE_CHECKING:
    from typing import Any

    from tetrarchia_env.board import BOARD
    from tetrarchia_env.envs.infos import agent_name, outcome_name
    from tetrarchia_env.game import Game
    from tetrarchia_env.notation import load_replay
    from tetrarchia_env.options import Options
    from tetrarchia_env.tetrarchia_v0 import env, parallel_env, raw_env, sb3_vec_env, vector_env

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

_HOMES = {
    "BOARD": "tetrarchia_env.board",
    "Game": "tetrarchia_env.game",
    "Options": "tetrarchia_env.options",
    "agent_name": "tetrarchia_env.envs.infos",
    "load_replay": "tetrarchia_env.notation",
    "outcome_name": "tetrarchia_env.envs.infos",
    **dict.fromkeys(("env", "parallel_env", "raw_env", "sb3_vec_env", "vector_env"), "tetrarchia_env.tetrarchia_v0"),
}


def __getattr__(name: str) -> "Any":
    """Load what is asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'tetrarchia_env' has no attribute {name!r}: it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


register_soon()
