"""What happened, in words: the event log of ansi, panel, replay and `play`.

`tell` plays an action with the engine's own functions, one piece at a time, and puts what each piece changed into words:
neither a rule nor the order of play is written a second time. `narrate` does the same in a copy. A test holds their games
to the same bytes as `batch.step`.
"""

from tetrarchia_env.events.story import Story, narrate, tell

__all__ = ["Story", "narrate", "tell"]
