"""How well agents play: matches of seeded games, what they say, and the page of results.

From the bottom up: `match` (what is played), `result_files`, `workers` and `arena` (play it and keep it); `statistics`, `analysis` and
`sweep` (what it says); `result_tables`, `plots`, `console` and `eval_report` (how that is shown); `chapters` and `results_page`
(docs/results.md); `verify` (do agents still play so?); `command` (`tetrarchia eval`); `benchmark` and `peers` (speed: `tetrarchia bench`).
"""
