"""Evaluation of agents: matches of seeded games, statistics, tables, plots and the results page.

In the order of the data flow: `match` (what is played), `result_files`, `workers`, `ray_workers` and `arena` (play it and keep it),
`statistics` and `analysis`, `tables`, `plots`, `report`, `console` and `page` (show it), `verify` (results reproduce), `study` (games
recorded for research). `groups` and `run_statistics` treat training runs as the unit, `protocol` and `leaderboard` are the benchmark,
`dataset` records games, and `cooperation`, `local_information` and `improvement` are single studies.
"""
