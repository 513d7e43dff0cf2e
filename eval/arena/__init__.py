"""The arena: seeded games between named agents on several cores, kept in files that the same plan goes on with."""

from eval.arena.chunks import play_games
from eval.arena.match import plan, run

__all__ = ["plan", "play_games", "run"]
