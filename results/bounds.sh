#!/usr/bin/env bash
# Measures the bounds of the benchmark's partners (docs/protocol.md), and continues where it was stopped:
#   bash results/bounds.sh partners   trains the partners that learn from random weights, and prints the fingerprints of all partners
#   bash results/bounds.sh            trains a best response to each partner, publishes it, and plays best responses and floors
# JOBS (runs at once), MINUTES (of training per best response) and PARTNERS ("NAME NAME"; default: all) can be set in the environment.
# Published checkpoints and result files of the present protocol are kept: delete checkpoints/best-responses/NAME after a change of partner
# NAME. Afterwards, make results computes the bounds.
set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1
export jobs=${JOBS:-2} minutes=${MINUTES:-15}

train() { # NAME OPTION...: train a run, or continue it
  local name=$1
  shift
  if [ -f "runs/$name/options.yaml" ]; then
    [ -f "runs/$name/final/card.json" ] || tetrarchia train --resume --name "$name"
  else
    tetrarchia train --name "$name" "$@"
  fi
}

publish() { # CHECKPOINT RUN OPTION...: train a run and publish it, unless the checkpoint exists
  local checkpoint=$1 run=$2
  shift 2
  if [ ! -f "checkpoints/$checkpoint/card.json" ]; then
    train "$run" "$@"
    python -m tetrarchia_train.publish "$run" "$checkpoint"
  fi
}

play() { # FILE OPTION...: play a track with partners, unless the file is a result of the present protocol
  local file=leaderboard/bounds/$1.json
  shift
  if ! python -c 'import sys; from tetrarchia_eval.protocol import read_result; read_result(sys.argv[1])' "$file" 2> /dev/null; then
    tetrarchia protocol v1 --track teamwork --out "$file" "$@"
  fi
}

scratch_partner() { # PRESET: a run with a seed that is not on the leaderboard
  publish "partners/$1" "partner-$1" --preset "$1" --seed 6 --precision auto
}

best_response() { # PARTNER SPLIT: development seeds for validation partners
  local short=()
  if [ "$2" = validation ]; then short=(--short --games 100); fi
  publish "best-responses/$1" "best-response-$1" --preset best-response --seat all --partners "partner:$1" --max-minutes "$minutes"
  play "$1" --agent "ppo:best-responses/$1" --partner "$1" "${short[@]}" --workers 1
}

export -f train publish play scratch_partner best_response

if [ "${1:-}" = partners ]; then
  printf '%s\n' scratch-shared scratch-ippo scratch-mappo | xargs -P "$jobs" -I{} bash -euo pipefail -c 'scratch_partner {}'
  echo "Add the entries at the end of agents/tetrarchia_agents/partners.toml, run this again, and copy the fingerprints to the protocol:"
  python - << 'END'
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.partners import load_partners
from tetrarchia_agents.registry import make_agent

for name, partner in load_partners().items():
    print(f'{partner.split}: {name} = "{fingerprint(make_agent(f"partner:{name}"))}"')
END
  exit
fi

mkdir -p leaderboard/bounds
python -c 'from tetrarchia_agents.partners import load_partners; [print(name, one.split) for name, one in load_partners().items()]' |
  while read -r partner split; do
    case " ${PARTNERS:-$partner} " in *" $partner "*) echo "$partner $split" ;; esac
  done | xargs -P "$jobs" -L 1 bash -euo pipefail -c 'best_response "$@"' _
play floors --agent random --workers "$jobs"
play validation-floors --agent random --short --games 100 --workers "$jobs"
