"""All of a run under way in one folder, so that resuming equals not having stopped.

Tensors are safetensors, the rest JSON and plain arrays: nothing in the folder can run code, and all of it is checked before it is used.
"""

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import torch
from msgspec import Meta, Struct
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from stable_baselines3.common.logger import Logger
from torch import Tensor

from tetrarchia_agents.cards import layout_digest
from tetrarchia_agents.network import make_network
from tetrarchia_env.envs.batched_games import STATE
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, latest_dir
from tetrarchia_env.schema import UNBOUNDED, validate
from tetrarchia_train.arrays import Kind, read_arrays
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.distributed import ALONE, ProcessGroup
from tetrarchia_train.learner import Run, connect, make_env, make_model, training_reward
from tetrarchia_train.logs import Stopwatch

RESUME = "resume"
COUNTERS, WEIGHTS, OPTIMIZER, ARRAYS = (
    "counters.json",
    "weights.safetensors",
    "optimizer.safetensors",
    "arrays-{}.npz",
)  # arrays: a process each
ENV = "env."  # what begins so in the arrays is the environment's state
NETWORK = "network."  # and so in the weights the policy's only part
MOMENTS = ("exp_avg", "exp_avg_sq")  # of Adam, each of its parameter's shape, beside the number of steps
STEPS = "step"
MANY_NAMES = 1000  # bytes that a tensor's name and place take, at most
Number = Annotated[int, Meta(ge=0, le=UNBOUNDED)]
Tensors = dict[str, Tensor]


class Counters(Struct, forbid_unknown_fields=True):
    """The numbers of a run, the same in all its processes."""

    layout: str  # of the observation
    processes: Annotated[int, Meta(ge=1, le=UNBOUNDED)]
    num_timesteps: Number  # of each process
    n_updates: Number
    seconds: Annotated[float, Meta(ge=0, le=UNBOUNDED)]

    @property
    def timesteps(self) -> int:
        """Decisions played so far, by all processes."""
        return self.num_timesteps * self.processes


def save_run(run: Run, folder: Path) -> None:
    """Keep the run: whole, in the place of what was kept before. All processes call it, and rank 0 writes for all."""
    parts = run.group.gather(_arrays(run))
    if not run.group.is_rank_0:
        return
    with atomic_dir(folder / RESUME) as draft:
        counters = Counters(layout_digest(), run.group.world_size, run.model.num_timesteps, run.model._n_updates, run.watch.seconds)
        (draft / COUNTERS).write_bytes(msgspec.json.encode(counters))
        (draft / WEIGHTS).write_bytes(save({name: one.contiguous() for name, one in run.model.policy.state_dict().items()}))
        (draft / OPTIMIZER).write_bytes(save(_optimizer_tensors(run)))
        for rank, arrays in enumerate(parts):
            np.savez(draft / ARRAYS.format(rank), allow_pickle=False, **arrays)


def _arrays(run: Run) -> dict[str, Any]:
    """What each process has of its own."""
    arrays = {"torch": torch.get_rng_state().numpy(), "episode_starts": run.episode_starts}
    return arrays | {ENV + name: array for name, array in run.env.batched.state().items()}


def _optimizer_tensors(run: Run) -> Tensors:
    """Adam's state by the parameters' names; those that were never updated have none."""
    policy = run.model.policy
    kept = [(name, policy.optimizer.state.get(parameter, {})) for name, parameter in policy.named_parameters()]
    return {f"{name}:{part}": state[part].contiguous() for name, state in kept for part in (STEPS, *MOMENTS) if part in state}


def load_run(config: TrainConfig, folder: Path, logger: Logger, group: ProcessGroup = ALONE) -> Run:
    """The run as it was kept; `config` may differ in what `CHANGEABLE` names. ValueError in one sentence if it does not fit.

    Rank 0 reads for all, so that the other processes need not see the folder.
    """
    part, reward = config.part(group.rank), training_reward(config)
    counters, weights, moments = group.share(_read_common(config, folder) if group.is_rank_0 else None)
    arrays = group.scatter(_read_parts(config, folder) if group.is_rank_0 else [])
    env = make_env(part, reward)
    model = make_model(part, env)
    model.num_timesteps, model._n_updates = counters.num_timesteps, counters.n_updates
    run = Run(config, env, reward, model, group, Stopwatch(counters.seconds))
    model.policy.load_state_dict(weights)
    _restore_optimizer(run, moments)
    connect(run, logger)
    _restore_arrays(run, arrays, folder / RESUME)
    return run


def _read_common(config: TrainConfig, folder: Path) -> tuple[Counters, Tensors, Tensors]:
    """What is the same in all processes: numbers, weights, Adam's moments."""
    kept, counters = find_kept(folder, config.processes)
    shapes = _weight_shapes(config)
    weights = _read_tensors(kept / WEIGHTS, shapes)
    return counters, weights, _read_tensors(kept / OPTIMIZER, _moment_shapes(shapes), all_needed=False)


def _read_parts(config: TrainConfig, folder: Path) -> list[dict[str, Any]]:
    """The arrays of each process."""
    kept, _ = find_kept(folder, config.processes)
    return [_read_arrays(kept / ARRAYS.format(rank), config.part(rank).num_envs) for rank in range(config.processes)]


def find_kept(folder: Path, processes: int) -> tuple[Path, Counters]:
    """Where the run is kept, and its numbers; ValueError if it is not, or not by so many processes."""
    kept = latest_dir(folder / RESUME)
    if kept is None:
        raise TetrarchiaError(f"there is no run to resume in {folder}")
    counters = _read_counters(kept)
    if counters.processes != processes:
        raise TetrarchiaError(f"the run in {folder} has {counters.processes} processes: it cannot go on with {processes}")
    return kept, counters


def _read_counters(kept: Path) -> Counters:
    if (kept / "model.zip").exists():
        raise TetrarchiaError(f"{kept} is of an older version, whose files could run code: begin a run from its last checkpoint instead")
    try:
        data = msgspec.json.decode((kept / COUNTERS).read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise TetrarchiaError(f"{kept / COUNTERS} cannot be read: {error}") from None
    counters = validate(data, Counters, f"{kept / COUNTERS}:")
    if counters.layout != layout_digest():
        raise TetrarchiaError(f"{kept} was made for another observation layout")
    return counters


def _weight_shapes(config: TrainConfig) -> dict[str, tuple[int, ...]]:
    """Of the network that the options describe, without making it."""
    with torch.device("meta"):
        network = make_network(config.network_config)
    return {NETWORK + name: tuple(one.shape) for name, one in network.state_dict().items()}


def _moment_shapes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    moments = {f"{name}:{part}": shape for name, shape in shapes.items() for part in MOMENTS}
    return moments | {f"{name}:{STEPS}": () for name in shapes}


def _read_tensors(path: Path, shapes: Mapping[str, tuple[int, ...]], *, all_needed: bool = True) -> Tensors:
    """Tensors of these names and shapes, compared before any is loaded, and finite."""
    try:
        with safe_open(path, "pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - it is no dict
        _check_shapes(path, found, shapes, all_needed)
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TetrarchiaError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if not all(one.dtype == torch.float32 and bool(one.isfinite().all()) for one in tensors.values()):
        raise TetrarchiaError(f"{path} is damaged: not all of its numbers are finite floats of 32 bits")
    return tensors


def _check_shapes(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any], all_needed: bool) -> None:
    wrong = [name for name in found if wanted.get(name) != found[name]] or [name for name in wanted if all_needed and name not in found]
    if wrong:
        name = wrong[0]
        raise TetrarchiaError(f"{path} does not fit the options: {name[:80]!r} has the shape {found.get(name)}, not {wanted.get(name)}")
    if path.stat().st_size > 4 * sum(map(prod, found.values())) + MANY_NAMES * (1 + len(found)):
        raise TetrarchiaError(f"{path} is larger than what it holds")


def _restore_optimizer(run: Run, kept: Tensors) -> None:
    optimizer = run.model.policy.optimizer
    for name, parameter in run.model.policy.named_parameters():
        state = {part: kept[f"{name}:{part}"] for part in (STEPS, *MOMENTS) if f"{name}:{part}" in kept}
        if state and len(state) != 1 + len(MOMENTS):
            raise TetrarchiaError(f"{OPTIMIZER} is damaged: {name} lacks a part")
        if state:
            optimizer.state[parameter] = state


def _read_arrays(path: Path, num_envs: int) -> dict[str, Any]:
    kinds = {ENV + name: Kind(np.uint8, (num_envs, kind.itemsize)) for name, kind in STATE.items()}
    kinds["torch"] = Kind(np.uint8, (len(torch.get_rng_state()),))
    return read_arrays(path, kinds | {"episode_starts": Kind(np.bool_, (num_envs,))})


def _restore_arrays(run: Run, arrays: Mapping[str, Any], kept: Path) -> None:
    """Last of all: making a model draws from torch's generator. Nothing is drawn from numpy's or Python's own."""
    try:
        run.env.batched.set_state({name.removeprefix(ENV): arrays[name] for name in arrays if name.startswith(ENV)})
        run.episode_starts = arrays["episode_starts"]
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))
    except (RuntimeError, ValueError) as error:
        raise TetrarchiaError(f"{kept} is damaged: {str(error).splitlines()[0]}") from None
