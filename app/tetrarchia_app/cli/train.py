"""The command `train`, which is declared in `tetrarchia_train.command`."""

from tetrarchia_train.command import train

__all__ = ["EXAMPLES", "PANEL", "train"]

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia train --name mine",
    "tetrarchia train --name quick --preset small --levels 4200,4211 --max-minutes 10",
    "tetrarchia train --name mine --resume --total-timesteps 60_000_000",
    "tetrarchia train --name group --preset scratch-shared --seeds 1-5 --jobs 2",
    "tetrarchia watch --agents ppo:runs/mine/final",
)
