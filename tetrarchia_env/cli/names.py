"""Names that a user may type, each with a line on what it means: said by help, completion and `tetrarchia levels`.

The names are those of the rules and of the table of agents, which take seconds to load: a key pressed for completion cannot wait.
"""

LEVELS = {"4211": "the normal level", "4200": "the level for beginners"}  # R2.1

VARIANTS = {  # R10
    "imperivm": "each Emperor has a power that costs one of his tokens",
    "mare_nostrvm": "fleets in neighbouring zones join their coasts",
    "diarchia": "the two Emperors of a couple support each other with their tokens",
    "patres_patriae": "Diocletian may take a point from Galerius, Constantius may give one to Maximian",
    "the_great": "victories bring glory, and after a won game perhaps a title",
}

MODULES = {  # R11
    "dux": "a general whom every Emperor may lead in his turn",
    "pirates": "hold a sea zone against your fleets; for levels with fewer than 3 fleets",
    "goths": "a stronger army that comes over the borders III and IV",
}

SCENARIOS = {  # R12
    "carausian_revolt": "a Rebel in BRITANNIA, and Pirates in the Atlantic",
    "danube_wars": "Goths and another army on the Danube",
    "mauretanian_war": "a Rebel in GAETVLIA, and Pirates in the Atlantic",
    "great_persian_war": "Rebels in PERSIA and LIBYA",
}

AGENTS = {
    "random": "any legal action",
    "greedy": "the action that makes the position best",
    "planner": "plans its turn",
    "mcts": "searches the turns to come",
    "ppo": "a trained network; needs the extra train",
}

STAGES = {
    "lessons": "stop when the teacher's games are played",
    "copy": "stop when they are copied",
    "ppo": "learn to the end",
}
