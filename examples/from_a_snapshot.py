"""Start from a position: five borders held, an army two steps from ROMA. Who saves Rome how often? Takes seconds.

A snapshot is plain JSON data. What is not on the board is in `supply` and `reserve`; `restore` refuses what cannot be.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_agents import TeamPolicy, make_agents
from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OVER, ROME_FELL, WON
from tetrarchia_env.notation import restore, snapshot
from tetrarchia_env.render import draw_text
from tetrarchia_eval.statistics import wilson

POSITION: dict[str, Any] = {
    "turn": 31, "emperor": "constantius", "phase": "roman", "ip": 6, "passing": None,
    "tokens": {
        "GAETVLIA": "maximian", "BRITANNIA": "constantius", "SARMATIA": "galerius", "PERSIA": "diocletian", "LIBYA": "diocletian",
        "PANNONIA INFERIOR": "revolt", "PANNONIA SVPERIOR": "revolt", "CISALPINA": "revolt", "NORICVM": "unrest",
    },
    "emperors": {"diocletian": "BITHYNIA", "galerius": "MOESIA SVPERIOR", "constantius": "GERMANIA SVPERIOR", "maximian": "ROMA"},
    "armies": [["CISALPINA", "III", "army"]], "fleets": ["INTERNVM"], "pirates": None, "dux": None,
    "supply": {"diocletian": 2, "galerius": 3, "constantius": 3, "maximian": 3},
    "reserve": {"unrest": 20, "revolt": 18, "armies": 2},
    "glory": dict.fromkeys(EMPERORS, 0), "outcome": "running", "dice": 1,
}  # fmt: skip
GAMES = 200


def outcomes(names: str) -> NDArray[np.int64]:
    """How these agents end the game, played on so many times with new dice each."""
    games, env_ids = np.repeat(restore(POSITION), GAMES), np.arange(GAMES)
    batch.reseed(games, env_ids)
    masks, team = batch.legal_masks(games), TeamPolicy(make_agents(names), GAMES)
    team.begin(env_ids, env_ids)
    while len(running := np.flatnonzero(games["phase"] != OVER)):
        actions = np.zeros(GAMES, dtype=np.int64)  # of a finished game it is not looked at
        actions[running] = team.act(games[running], masks[running], running)
        batch.step(games, actions, masks)
    return games["outcome"]


print(draw_text(snapshot(restore(POSITION))))
for name in ("random", "greedy", "planner"):
    ends = outcomes(name)
    rate, fell = wilson(int(np.sum(ends == WON)), GAMES), np.mean(ends == ROME_FELL)
    print(f"{name:8} wins {rate.value:.0%} of {GAMES} games ({rate.low:.0%} to {rate.high:.0%}); in {fell:.0%} Rome falls")
