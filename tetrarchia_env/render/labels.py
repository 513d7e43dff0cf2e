"""Labels that all drawings share: phases, reactions and endings."""

PHASES = {
    "fleets": "placing the fleets",
    "arrival": "arrival",
    "roman": "Roman phase",
    "boost": "combat: Galerius may add 1",
    "block": "Constantius may block the army",
    "over": "the game is over",
    "barbarian": "Barbarian phase",
    "strike": "Barbarian phase",
    "advance": "the armies advance",
}
DECIDERS = {"boost": "galerius", "block": "constantius"}  # R10.1: reactions outside the Emperor's own turn
ENDINGS = {  # headline and reason
    "won": ("THE EMPIRE IS SAVED", "all six borders are held"),
    "rome fell": ("ROME HAS FALLEN", "an army entered ROMA"),
    "reserve empty": ("THE EMPIRE IS LOST", "no tokens are left"),
    "truncated": ("CUT OFF", "the last turn was reached"),
}
