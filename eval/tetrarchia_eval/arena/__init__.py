"""The arena: seeded games between named agents on several cores, kept in files that the same plan goes on with."""

from tetrarchia_eval.arena.chunks import play_games
from tetrarchia_eval.arena.match import plan, run

__all__ = ["plan", "play_games", "run"]
