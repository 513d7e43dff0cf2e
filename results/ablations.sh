#!/usr/bin/env bash
# Trains and evaluates the ablations of docs/training.md, and continues where it was stopped. Afterwards, make results fills the page.
# Every run continues from the checkpoint bc for MINUTES on one core; SEEDS (FIRST-LAST), JOBS and GAMES can be set in the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${MINUTES:-10} seeds=${SEEDS:-1-5} jobs=${JOBS:-2} games=${GAMES:-1000}

# Train a group: its name and the options that differ from the baseline.
train() {
  local group=$1
  shift
  if [ -d "runs/$group" ]; then
    tetrarchia train --resume --name "$group" --jobs "$jobs"
  else
    tetrarchia train --preset ppo --name "$group" --seeds "$seeds" --jobs "$jobs" --processes 1 --threads 1 --expert none --init-checkpoint bc \
      --total-timesteps 1000000000 --max-minutes "$minutes" --ema-decay 0.999 --eval-freq 1000000000 "$@"
  fi
}

train baseline
train separate-critic --critic separate --shaping-coef 0
train turn-lambda --lambda-per turn --gae-lambda 0.9 --value-lambda 0.97
train auto-levels --auto-levels
train one-epoch --n-epochs 1

# The same runs as the baseline, with their last weights instead of the moving average.
python - << 'END'
from pathlib import Path

from safetensors.torch import load_file

from tetrarchia_agents.checkpoints import load_checkpoint, save_checkpoint
from tetrarchia_env.files import latest_dir

for run in sorted(Path("runs/baseline").glob("seed-*")):
    goal, found = Path("runs/last-weights") / run.name, load_checkpoint(run / "final")
    found.network.load_state_dict(load_file(latest_dir(run / "resume") / "weights.safetensors"))
    save_checkpoint(goal, found.network, found.config, {"training": found.card["training"]})
END

groups=(baseline last-weights separate-critic turn-lambda auto-levels one-epoch)
tetrarchia eval "${groups[@]/#/--group=}" --level 4200,4211,4222 --games "$games" --seed 1000000 --out results/ablations
