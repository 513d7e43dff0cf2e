"""The arena: seeded games between named agents on several cores, kept in files that the same plan goes on with."""

from eval.arena.match import plan, run

__all__ = ["plan", "run"]
