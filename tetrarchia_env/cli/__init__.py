"""The `tetrarchia` command: the only package of the game that imports upwards, and only when a command runs."""

from tetrarchia_env.cli.app import main

__all__ = ["main"]
