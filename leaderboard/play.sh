#!/usr/bin/env bash
# Plays the project's own rows of the leaderboard, and continues where it was stopped. Trains the row ad-hoc first (one hour of one core).
# JOBS (processes) can be set in the environment. Groups whose checkpoints do not exist yet are skipped; result files of the present protocol
# are kept. Afterwards, make results fills the page.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1
jobs=${JOBS:-2}

play() { # ROW OPTION...: play all tracks, unless the file is a complete result of the present protocol
  local file=leaderboard/$1.json
  shift
  if ! python -c 'import sys; from tetrarchia_eval.protocol import read_result; sys.exit(not read_result(sys.argv[1]).is_complete())' "$file" 2> /dev/null
  then
    tetrarchia protocol v1 --track planning --track teamwork --workers "$jobs" --out "$file" "$@"
  fi
}

play random --agent random
play greedy --agent greedy
play planner --agent planner
play ppo --agent ppo
play ppo-full --agent ppo:ppo-full
play ppo-small --agent ppo:ppo-small
play scratch-large --agent ppo:scratch-large

# Five training runs are one row.
for group in scratch-shared scratch-ippo scratch-mappo; do
  agents=()
  for seed in 1 2 3 4 5; do
    if [ -f "checkpoints/$group/seed-$seed/card.json" ]; then agents+=(--agent "ppo:$group/seed-$seed"); fi
  done
  if [ "${#agents[@]}" = 10 ]; then
    play "$group" "${agents[@]}" --declare "leaderboard/declarations/$group.toml"
  else
    echo "skipped: $group has $((${#agents[@]} / 2)) of 5 checkpoints"
  fi
done

# A baseline for ad hoc teamwork, trained with the validation partners.
if [ ! -f checkpoints/baselines/ad-hoc/card.json ]; then
  if [ ! -f runs/ad-hoc/options.yaml ]; then
    tetrarchia train --preset ad-hoc --name ad-hoc
  elif [ ! -f runs/ad-hoc/final/card.json ]; then
    tetrarchia train --resume --name ad-hoc
  fi
  python -m tetrarchia_train.publish ad-hoc baselines/ad-hoc
fi
play ad-hoc --agent ppo:baselines/ad-hoc --declare leaderboard/declarations/ad-hoc.toml

# The slowest row.
play ppo-candidates-32 --agent ppo:candidates=32
