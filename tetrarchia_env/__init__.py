"""TETRARCHIA, the cooperative board game, for reinforcement-learning research."""

__version__ = "0.1.0"
