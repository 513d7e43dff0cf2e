#!/usr/bin/env bash
# Trains one run from scratch for ten minutes of one core on each task of docs/environment.md, and continues where it was stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
for task in last-border last-two three-left calm-empire beginner normal hard; do
  name=ten-minutes-$task
  if [ -d "docs/trials/$name" ]; then continue; fi
  if [ -d "runs/$name" ]; then
    tetrarchia train --resume --name "$name"
  else
    tetrarchia train --preset scratch-shared --task "$task" --seeds 1 --name "$name" \
      --total-timesteps 1000000000 --max-minutes 10 --eval-freq 400000 --n-eval-episodes 1000
  fi
  python -m tetrarchia_train.publish "$name/seed-1"
done
