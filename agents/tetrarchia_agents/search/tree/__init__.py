"""Looking several turns ahead, compiled: plans, what chance makes of them, plans again."""
