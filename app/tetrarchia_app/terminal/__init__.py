"""The game in a terminal: watching frame by frame, and playing."""
