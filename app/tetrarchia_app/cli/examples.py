"""Commands to begin with, shown at the end of each command's help."""

EXAMPLES = {
    "": (
        "tetrarchia watch --agents planner --level 4200",
        "tetrarchia eval --help",
    ),
    "watch": (
        "tetrarchia watch --agents planner --level 4200",
        "tetrarchia watch --agents planner,random --scenario danube_wars --seed 7",
        "tetrarchia watch --agents planner --film game.gif --save game.json",
        "tetrarchia watch --agents ppo --render browser",
    ),
    "play": (
        "tetrarchia play --level 4200",
        "tetrarchia play --emperors diocletian,galerius --agents planner",
    ),
    "serve": (
        "tetrarchia serve",
        "tetrarchia serve --host 0.0.0.0 --port 8400 --no-open",
    ),
    "replay": (
        "tetrarchia replay game.json",
        "tetrarchia replay game.json --html game.html",
        "tetrarchia replay game.json --html game.html --analyse ppo",
        "tetrarchia replay game.json --render browser --agents ppo,planner",
    ),
    "eval": (
        "tetrarchia eval --agents planner --level 4200 --games 1000",
        "tetrarchia eval --agents planner --against greedy --against random",
        "tetrarchia eval --agents planner,random --players 2 --scenario danube_wars",
        "tetrarchia eval --agents greedy --level rulebook --games 20 --plot sweep.png",
        "tetrarchia eval --agents planner,greedy,random --cross-play --table cross-play.csv",
        "tetrarchia eval --agents planner --level every --games 10000 --ray 10.0.0.1:6379",
    ),
    "train": (
        "tetrarchia train --name mine",
        "tetrarchia train --name quick --preset small --levels 4200,4211 --max-minutes 10",
        "tetrarchia train --name mine --resume --total-timesteps 60_000_000",
        "tetrarchia watch --agents ppo:runs/mine/final",
    ),
    "bench": ("tetrarchia bench --peers --out bench.json",),
    "study": ("tetrarchia study games --out data",),
    "levels": (
        "tetrarchia levels",
        "tetrarchia levels 4211",
    ),
    "doctor": ("tetrarchia doctor", "tetrarchia doctor --compile"),
}


def examples_of(command: str) -> str:
    """As the end of a help text; blank lines keep them on lines of their own."""
    return "\n\n".join(["Example:" if len(EXAMPLES[command]) == 1 else "Examples:", *EXAMPLES[command]])
