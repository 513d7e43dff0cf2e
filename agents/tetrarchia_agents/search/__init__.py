"""Looking ahead, compiled: what a position is worth, what chance makes of it, and the best way through a turn."""
