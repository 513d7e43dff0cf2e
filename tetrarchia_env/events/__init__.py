"""The event log: what happened, in words, for rendering, replays and interactive play.

`narrate` replays one action on a copy of the position, one piece at a time with the engine's own functions, and puts what
each piece changed into words; neither a rule nor the order of play is written a second time. `narrate_pieces` yields the
pieces one by one. `EventLog` collects actions as they are played and narrates them when they are read.
"""

from tetrarchia_env.events.story import EventLog, Piece, Story, narrate, narrate_pieces

__all__ = ["EventLog", "Piece", "Story", "narrate", "narrate_pieces"]
