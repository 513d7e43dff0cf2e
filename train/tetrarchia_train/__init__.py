"""Training: `tetrarchia train --preset ppo --name mine` clones an expert's behaviour, then learns by PPO."""

import os

# Threads of torch wait asleep: awake they slowed each other ten times beside another busy process on two cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
