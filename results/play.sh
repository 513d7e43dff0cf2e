#!/usr/bin/env bash
# Plays every game that is kept here, and continues where it was stopped: make measure.
set -euo pipefail
cd "$(dirname "$0")/.."
play() { tetrarchia eval --seed 1000000 "$@"; }
mkdir -p results/{main,ladder,scenarios,sweep,options,crossplay,tasks,cooperation/teammates,cooperation/cross-play}

# The standard levels and scenarios, and these with variants and modules: agent, name of its files, games at a standard level.
levels_and_scenarios() {
  play --agents "$1" --level 4200,5300,4211,4222 --games "$3" --out "results/main/$2.jsonl"
  for scenario in carausian_revolt danube_wars mauretanian_war great_persian_war; do
    play --agents "$1" --scenario $scenario --games 1000 --out "results/scenarios/$scenario-$2.jsonl"
  done
}
everywhere() {
  levels_and_scenarios "$@"
  play --agents "$1" --level 4211 --games 1000 --out "results/options/base-$2.jsonl"
  for variant in imperivm mare_nostrvm diarchia patres_patriae the_great; do
    play --agents "$1" --level 4211 --variants $variant --games 1000 --out "results/options/$variant-$2.jsonl"
  done
  for module in dux pirates goths; do
    play --agents "$1" --level 4211 --modules $module --games 1000 --out "results/options/$module-$2.jsonl"
  done
}

for agent in random greedy; do everywhere $agent $agent 1000; done
everywhere planner planner 3000
everywhere ppo:ppo-full ppo-full 1000
levels_and_scenarios ppo:ppo-full-1 ppo-full-1 1000
for agent in random greedy planner ppo; do play --agents $agent --level rulebook --games 50 --out results/sweep/$agent.jsonl; done
for checkpoint in bc ppo-2 ppo-small; do
  play --agents ppo:$checkpoint --level 4200,5300,4211,4222 --games 1000 --out results/main/$checkpoint.jsonl
done
for agent in ppo ppo:ppo-1 ppo:scratch-large; do
  play --agents $agent --level 4200,5300,4211,4222 --games 3000 --out results/main/${agent#ppo:}.jsonl
done
# Search, at the standard levels and as a ladder.
play --agents ppo:candidates=32 --level 4200,4211,4222 --games 3000 --out results/main/candidates-32.jsonl
play --agents ppo:candidates=32 --level 5300 --games 1000 --out results/main/candidates-32-5300.jsonl
for candidates in 1 4 8 16 64; do
  play --agents ppo:candidates=$candidates --level 4222 --games 1000 --out results/ladder/candidates-$candidates.jsonl
done
# Groups of runs, with every pair of runs of a group.
groups=()
for run in checkpoints/*/seed-1; do
  if [ -d "$run" ]; then groups+=(--group "$(dirname "$run")"); fi
done
if [ ${#groups[@]} -gt 0 ]; then
  play "${groups[@]}" --cross-play --level 5300,4200 --games 1000 --out results/groups
fi
play --agents ppo,ppo:ppo-2,ppo:scratch-large --cross-play --level 4200,4211,4222 --games 1000 --out results/crossplay

# Tasks with a head start; the others are standard levels.
for task in last-border last-two three-left calm-empire; do
  for agent in random greedy planner ppo; do play --agents $agent --task $task --games 1000 --out results/tasks/$task-$agent.jsonl; done
done
# Three copies of ppo and another agent in each seat.
emperors=(diocletian galerius constantius maximian)
for level in 4200 4222; do
  for agent in random greedy planner; do
    for seat in 0 1 2 3; do
      team=(ppo ppo ppo ppo)
      team[seat]=$agent
      file=results/cooperation/teammates/$agent@${emperors[seat]}-$level.jsonl
      play --agents "$(IFS=,; echo "${team[*]}")" --level $level --games 1000 --out "$file"
    done
  done
done
# Every pair of separately trained agents (81 pairs, so fewer games of each), and who holds which border.
agents=(ppo ppo-2 ppo-small scratch-large scratch-shared/seed-{1..5})
for east in "${agents[@]}"; do
  for west in "${agents[@]}"; do
    name=${east//\//-}
    if [ "$east" != "$west" ]; then name+=+${west//\//-}; fi
    play --agents "ppo:$east,ppo:$west" --level 4200,4211,4222 --games 250 --out "results/cooperation/cross-play/$name.jsonl"
  done
done
others=(ppo-1 ppo-full "${agents[@]:1}" scratch-ippo/seed-{1..5} scratch-mappo/seed-{1..5})
python -m tetrarchia_eval.cooperation results/cooperation/borders.json ppo "${others[@]/#/ppo:}"

# What better turns would gain.
if [ ! -f results/improvement.json ]; then python -m tetrarchia_eval.improvement results/improvement.json ppo 4222; fi
