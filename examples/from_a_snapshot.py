"""Win rates of three agents from a given position: five borders secured, an army two steps from ROMA. Takes seconds.

A snapshot is plain JSON data. Pieces that are not on the board are in `supply` and `reserve`; `Game.restore` refuses impossible positions.
"""

from tetrarchia_agents import make_agent
from tetrarchia_env import Game

POSITION = {
    "turn": 31, "emperor": "constantius", "phase": "roman", "ip": 6, "passing": None,
    "tokens": {
        "GAETVLIA": "maximian", "BRITANNIA": "constantius", "SARMATIA": "galerius", "PERSIA": "diocletian", "LIBYA": "diocletian",
        "PANNONIA INFERIOR": "revolt", "PANNONIA SVPERIOR": "revolt", "CISALPINA": "revolt", "NORICVM": "unrest",
    },
    "emperors": {"diocletian": "BITHYNIA", "galerius": "MOESIA SVPERIOR", "constantius": "GERMANIA SVPERIOR", "maximian": "ROMA"},
    "armies": [["CISALPINA", "III", "army"]], "fleets": ["INTERNVM"], "pirates": None, "dux": None,
    "supply": {"diocletian": 2, "galerius": 3, "constantius": 3, "maximian": 3},
    "reserve": {"unrest": 20, "revolt": 18, "armies": 2},
    "glory": {"diocletian": 0, "galerius": 0, "constantius": 0, "maximian": 0}, "outcome": "running", "dice": 1,
}  # fmt: skip
GAMES = 100


def games_won(name: str) -> int:
    """Play the position to the end `GAMES` times with different dice and return the number of wins."""
    agent, won = make_agent(name), 0
    for seed in range(GAMES):
        game = Game.restore(POSITION)
        game.reseed(seed)
        while not game.is_over:
            game.play_turn(agent)
        won += game.outcome == "won"
    return won


def wilson(won: int, z: float = 1.96) -> tuple[float, float]:
    """Return the 95 % confidence interval of the win rate; `tetrarchia_eval.statistics` has this and more."""
    centre, half = won + z**2 / 2, z * (won * (1 - won / GAMES) + z**2 / 4) ** 0.5
    return (centre - half) / (GAMES + z**2), (centre + half) / (GAMES + z**2)


game = Game.restore(POSITION)
story = game.play_turn(make_agent("planner"))
print(game)  # in a notebook, `game` alone draws the board
print("\nWhat the planner made of the turn:", *story, sep="\n  ")
print()
for name in ("random", "greedy", "planner"):
    won = games_won(name)
    low, high = wilson(won)
    print(f"{name:8} wins {won / GAMES:.0%} of {GAMES} games ({low:.0%} to {high:.0%})")
