"""Everything that chooses an action: one class or function for each kind of player, and the table of their names."""
