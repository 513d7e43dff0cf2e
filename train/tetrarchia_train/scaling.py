"""How training goes on with more processes: what an update costs here, and a model of what it costs on many machines.

`python -m tetrarchia_train.scaling` measures one process, two, and their all-reduce, by one fused buffer and by torch's
DistributedDataParallel (Li and others, PyTorch Distributed, VLDB 2020), and keeps them beside what the model says. The model: a
ring all-reduce (Patarasuk and Yuan, JPDC 2009) sends 2 (N - 1) / N of the gradient from every process in 2 (N - 1) messages, and all wait
for the slowest of N rollouts, some sqrt(2 ln N) standard deviations above their mean.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import log, sqrt
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import torch
from stable_baselines3.common.logger import Logger
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from tetrarchia_agents.network import make_network
from tetrarchia_env.files import check_goals, write_whole
from tetrarchia_train.config import TrainConfig, read_preset
from tetrarchia_train.distributed import ProcessGroup, process_group
from tetrarchia_train.learner import collect_rollouts, new_run
from tetrarchia_train.policy import mixed_precision
from tetrarchia_train.run import prepare
from tetrarchia_train.speed import measure_fps

PROCESSES = (1, 2, 4, 10, 100, 1000)
SIZES = (1_000, 1_000_000)  # numbers of an all-reduce: what a message costs, and what a byte costs
NETWORK = (1e-4, 1.25e9)  # seconds a message and bytes a second of a usual cluster: 0.1 ms, 10 Gbit/s


@dataclass(frozen=True)
class Measured:
    """Of one iteration in each process, all seconds but for the bytes."""

    rollout: float
    rollout_deviation: float
    update: float  # of one minibatch, without what is sent
    gradient_bytes: int


def minibatch_seconds(group: ProcessGroup, config: TrainConfig, how: str, updates: int = 40) -> list[float]:
    """Of forward, backward and step of a minibatch: alone, with the fused all-reduce, or under DDP."""
    prepare(config, group)
    network = make_network(config.network_config)
    group.sync_parameters(network)
    module: nn.Module = DistributedDataParallel(network) if how == "ddp" else network
    optimizer = torch.optim.Adam(network.parameters())
    if how == "fused":
        group.average_gradients(optimizer)
    obs = new_run(config.part(group.rank), None, Logger(None, [])).env.batched.obs
    batch = torch.from_numpy(obs).repeat(-(-config.part(0).minibatch_size // len(obs)), 1)[: config.part(0).minibatch_size]

    def update() -> None:
        optimizer.zero_grad()
        with mixed_precision(config.precision):
            logits, values = module(batch)
        (logits.square().mean() + values.square().mean()).backward()
        optimizer.step()

    return _timed(group, update, updates)


def all_reduce_seconds(group: ProcessGroup, numbers: int, times: int = 200) -> list[float]:
    """Of an all-reduce of so many numbers."""
    parameter = nn.Parameter(torch.zeros(numbers))
    parameter.grad = torch.ones(numbers)
    optimizer = torch.optim.SGD([parameter], lr=0.0)
    group.average_gradients(optimizer)
    return _timed(group, optimizer.step, times)


def rollout_seconds(group: ProcessGroup, config: TrainConfig, times: int = 12) -> list[float]:
    """Of rollouts of this process, which do not wait for others."""
    prepare(config, group)
    run = new_run(config, None, Logger(None, []), group)
    with mixed_precision(config.precision):
        return _timed(group, lambda: collect_rollouts(run), times)


def _timed(group: ProcessGroup, work: Callable[[], object], times: int) -> list[float]:
    """Seconds of each time after a first; all processes begin together."""
    work()
    group.broadcast(0.0)
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def together(processes: int, work: Callable[..., list[float]], *arguments: object) -> list[float]:
    """What rank 0 measures while all do the same."""
    with process_group(processes, work, *arguments) as group:
        return work(group, *arguments)


def measure(config: TrainConfig) -> Measured:
    """The share of a process: its rollout, its update, and the bytes of its gradient."""
    alone = config.changed({"processes": 1})
    rollouts = together(1, rollout_seconds, alone)
    size = sum(4 * one.numel() for one in make_network(config.network_config).parameters())
    return Measured(mean(rollouts), stdev(rollouts), median(together(1, minibatch_seconds, alone, "alone")), size)


def ring_seconds(processes: int, size: int, message: float, bandwidth: float) -> float:
    """Of a ring all-reduce of so many bytes."""
    return 2 * (processes - 1) * (message + size / processes / bandwidth)


def iteration_seconds(measured: Measured, config: TrainConfig, processes: int, message: float, bandwidth: float) -> float:
    """By the model, each process with the games and minibatches of one: the batch grows with the processes."""
    updates = config.n_epochs * config.num_envs * config.n_steps // config.minibatch_size
    straggler = measured.rollout_deviation * sqrt(2 * log(processes))
    sent = ring_seconds(processes, measured.gradient_bytes, message, bandwidth)
    return measured.rollout + straggler + updates * (measured.update + sent)


def fitted_ring() -> tuple[float, float]:
    """Seconds a message and bytes a second of this machine's all-reduce between two processes."""
    small, large = (median(together(2, all_reduce_seconds, numbers)) for numbers in SIZES)
    return small / 2, 4 * SIZES[1] / max(large - small, 1e-9)


def figures(preset: str) -> dict[str, Any]:
    """All that is measured, as the page keeps it."""
    config = read_preset(preset).changed({"threads": 1, "processes": 2})
    measured, (message, bandwidth) = measure(config), fitted_ring()
    size = measured.gradient_bytes
    return {
        "preset": preset,
        "measured": asdict(measured),
        "rates": {number: measure_fps(config.changed({"processes": number})) for number in (1, 2)},
        "updates": {how: median(together(2, minibatch_seconds, config, how)) for how in ("fused", "ddp")},
        "ring": {"message": message, "bandwidth": bandwidth},
        "all_reduce": [
            {
                "processes": n,
                "measured": median(together(n, all_reduce_seconds, size // 4)),
                "model": ring_seconds(n, size, message, bandwidth),
            }
            for n in (2, 4)
        ],
        "model": {number: modelled_rate(measured, config, number) for number in PROCESSES},
    }


def modelled_rate(measured: Measured, config: TrainConfig, processes: int) -> float:
    """Steps a second of so many processes on a usual cluster."""
    return processes * config.num_envs * config.n_steps / iteration_seconds(measured, config, processes, *NETWORK)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tetrarchia_train.scaling", description="How training goes on with more processes.")
    parser.add_argument("preset", nargs="?", default="ppo", help="the preset whose network and minibatches are measured")
    parser.add_argument("--out", type=Path, default=Path("scaling.json"), help="the file whose section on training is written")
    options = parser.parse_args()
    try:
        check_goals(options.out)
        others = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
        print("measuring: about two minutes; other work on the machine spoils the figures", flush=True)
        write_whole(options.out, json.dumps({**others, "training": figures(options.preset)}, indent=1) + "\n")
    except ValueError as error:
        print(f"scaling: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
