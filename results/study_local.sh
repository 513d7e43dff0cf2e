#!/usr/bin/env bash
# Trains and evaluates the groups of docs/local_information.md, and continues where it was stopped. Afterwards, make results fills the page.
# TASK, TIMESTEPS, SEEDS (FIRST-LAST), JOBS and GAMES (per pair of runs) can be set in the environment.
set -euo pipefail
cd "$(dirname "$0")/.."
task=${TASK:-three-left} timesteps=${TIMESTEPS:-3000000} seeds=${SEEDS:-1-5} jobs=${JOBS:-2} games=${GAMES:-400}
published=checkpoints/local-study

# Train a group and publish it: its name, its seeds and the options that differ from the base preset.
train() {
  local group=$1 group_seeds=$2
  shift 2
  if [ -d "$published/$group" ]; then return; fi
  if [ -d "runs/$group" ]; then
    tetrarchia train --resume --name "$group" --jobs "$jobs"
  else
    tetrarchia train --preset scratch-shared --task "$task" --total-timesteps "$timesteps" --precision auto --name "$group" --seeds "$group_seeds" --jobs "$jobs" "$@"
  fi
  python -m tetrarchia_train.publish "$group" "${published#checkpoints/}/$group"
}

train radius-2 "$seeds" --view-radius 2 --last-seen
train full "$seeds"
train reactive "$seeds" --view-radius 2
train messages "$seeds" --view-radius 2 --last-seen --message-tokens 4 --actions all
train radius-1 "$seeds" --view-radius 1 --last-seen
train radius-3 "$seeds" --view-radius 3 --last-seen
train mappo "$seeds" --view-radius 2 --last-seen --policies 4 --critic central

# State coverage: every run of radius-2 continues with partners that are not evaluated, and as a control without partners.
train partners 101-103 --view-radius 2 --last-seen
partners=ppo:$published/partners/seed-101,ppo:$published/partners/seed-102,ppo:$published/partners/seed-103
train radius-2-with-partners "$seeds" --view-radius 2 --last-seen --init-checkpoint "$published/radius-2/seed-{seed}" \
  --seat all --partners $partners --chance-samples 0
train radius-2-continued "$seeds" --view-radius 2 --last-seen --init-checkpoint "$published/radius-2/seed-{seed}" --chance-samples 0

# Students of ppo: DAgger alone, without PPO. Their checkpoints become a group.
distill() {
  if [ ! -d "$published/distilled/seed-$1" ]; then
    tetrarchia train --preset scratch-shared --task "$task" --view-radius 2 --last-seen --expert ppo --seed "$1" --name "distilled-$1" --stop-after bc
    mkdir -p "$published/distilled"
    cp -r "runs/distilled-$1/bc" "$published/distilled/seed-$1"
  fi
}
export task published
export -f distill
seq "${seeds%-*}" "${seeds#*-}" | xargs -P "$jobs" -I{} bash -ec 'distill {}'

# Self-play and cross-play of every pair of runs, each group with the information of its training.
groups=(full reactive radius-1 radius-2 radius-3 messages mappo distilled radius-2-with-partners radius-2-continued)
tetrarchia eval "${groups[@]/#/--group=$published/}" --cross-play --task "$task" --games "$games" --seed 1000000 --out results/local
python -m tetrarchia_eval.local_information results/local/messages.json "$task" "$published/messages"
