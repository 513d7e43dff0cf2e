#!/usr/bin/env bash
# Plays every game that is kept here, or goes on where it was stopped: make measure.
# AGENTS="ppo" plays one more agent against the same seeds.
set -euo pipefail
cd "$(dirname "$0")/.."
agents=${AGENTS:-random greedy planner}
play() { tetrarchia eval --seed 1000000 "$@"; }
mkdir -p results/{main,scenarios,sweep,options,crossplay}

for agent in $agents; do
  play --agents "$agent" --level 4200,5300,4211,4222 --games 1000 --out "results/main/$agent.jsonl"
  for scenario in carausian_revolt danube_wars mauretanian_war great_persian_war; do
    play --agents "$agent" --scenario $scenario --games 1000 --out "results/scenarios/$scenario-$agent.jsonl"
  done
  play --agents "$agent" --level rulebook --games 50 --out "results/sweep/$agent.jsonl"
  play --agents "$agent" --level 4211 --games 300 --out "results/options/base-$agent.jsonl"
  for variant in imperivm mare_nostrvm diarchia patres_patriae the_great; do
    play --agents "$agent" --level 4211 --variants $variant --games 300 --out "results/options/$variant-$agent.jsonl"
  done
  for module in dux pirates goths; do
    play --agents "$agent" --level 4211 --modules $module --games 300 --out "results/options/$module-$agent.jsonl"
  done
done
[ -n "${AGENTS:-}" ] && exit
play --agents planner,greedy,random --partners --level 4200 --games 200 --out results/crossplay
play --agents mcts:simulations=400 --level 4222 --games 100 --out results/main/mcts.jsonl
play --agents planner:beam=128:ends=128:attacks=16 --level 4222 --games 100 --out results/main/planner-128.jsonl
