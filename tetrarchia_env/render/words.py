"""What every way of watching says in the same words."""

PHASES = {
    "fleets": "placing the fleets",
    "arrival": "arrival",
    "roman": "Roman phase",
    "boost": "combat: galerius may add 1",
    "block": "constantius may block the army",
    "over": "the game is over",
    "barbarian": "Barbarian phase",
    "strike": "Barbarian phase",
    "advance": "the armies advance",
}
DECIDERS = {"boost": "galerius", "block": "constantius"}  # R10.1: not always he whose turn it is
ENDINGS = {  # how a game ended, and why
    "won": ("THE EMPIRE IS SAVED", "all six borders are held"),
    "rome fell": ("ROME HAS FALLEN", "an army entered ROMA"),
    "reserve empty": ("THE EMPIRE IS LOST", "no tokens are left"),
    "truncated": ("CUT OFF", "the last turn was reached"),
}
