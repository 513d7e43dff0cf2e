"""Training of agents: `tetrarchia train --preset ppo --name mine` clones an expert, then trains by PPO."""

import os

# Threads that spin while they wait make torch ten times slower if another process is busy on two cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
