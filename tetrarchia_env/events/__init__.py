"""What happened, in words: the event log of ansi, panel, replay and `play`.

`narrate` plays an action piece by piece with the engine's own functions and puts what each piece changed into words;
no rule is written a second time. Its order of pieces is that of `engine.turn`, and a test holds its games to the same
bytes as `batch.step`.
"""

from tetrarchia_env.events.story import Story, narrate

__all__ = ["Story", "narrate"]
