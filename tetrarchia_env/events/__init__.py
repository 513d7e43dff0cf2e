"""What happened, in words: the event log of ansi, panel, replay and `play`.

`tell` plays an action with the engine's own functions, one piece at a time, and puts what each piece changed into words:
neither a rule nor the order of play is written a second time. `narrate` does the same in a copy. A test holds their games
to the same bytes as `batch.step`. `narrate_pieces` keeps the pieces apart.
"""

from tetrarchia_env.events.story import Piece, Story, narrate, narrate_pieces, tell

__all__ = ["Piece", "Story", "narrate", "narrate_pieces", "tell"]
