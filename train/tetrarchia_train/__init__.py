"""Training: `tetrarchia train --preset ppo --name mine` clones an expert, then trains by PPO."""

import os

# Threads that spin while waiting make torch ten times slower when another process is busy on two cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
