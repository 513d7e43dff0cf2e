"""The state of a training run on disk; a resumed run gives the same results as one that was not stopped.

Tensors are stored as safetensors, the rest as JSON and plain arrays: no file can execute code, and everything is validated before use.
"""

import struct
import tokenize
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import msgspec
import numpy as np
import torch
from msgspec import Meta, Struct
from numpy.lib import format as npy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from tetrarchia_agents.network import make_network
from tetrarchia_env.digest import layout_digest
from tetrarchia_env.envs.batched_games import state_dtypes
from tetrarchia_env.envs.partners import PARTNER
from tetrarchia_env.envs.rewards import BordersReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, file_lock, latest_dir, remove_drafts
from tetrarchia_env.schema import UNBOUNDED, sanitize_line, validate
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.distributed import broadcast, gather, is_rank_zero, rank, scatter
from tetrarchia_train.ppo import Learner

RESUME_DIR = "resume"
LATEST_DIR, FINAL_DIR = "latest", "final"  # the checkpoints of a run in progress and of a finished one
COUNTERS_FILE, WEIGHTS_FILE, OPTIMIZER_FILE = "counters.json", "weights.safetensors", "optimizer.safetensors"
AVERAGE_FILE = "average.safetensors"  # the moving average of the weights, if the run has one
ARRAYS_FILE = "arrays-{}.npz"  # by rank
ENV_PREFIX = "env."  # prefix of the environments' arrays
MOMENTS = ("exp_avg", "exp_avg_sq")  # of Adam, each with the shape of its parameter
STEPS = "step"
MAX_HEADER_BYTES = 1000  # per tensor of a safetensors file
Shapes = Mapping[str, tuple[int, ...]]
Tensors = dict[str, Tensor]
# Exceptions that reading a damaged archive can raise.
DAMAGED = (BadZipFile, KeyError, OSError, EOFError, RuntimeError, SyntaxError, TypeError, ValueError)
DAMAGED += (OverflowError, MemoryError, RecursionError, struct.error, tokenize.TokenError, zlib.error)  # type: ignore[assignment]


class Counters(Struct, forbid_unknown_fields=True):
    """The numbers of a run, the same in all its processes."""

    layout: str  # of the observation
    processes: Annotated[int, Meta(ge=1, le=UNBOUNDED)]
    num_timesteps: Annotated[int, Meta(ge=0, le=UNBOUNDED)]  # of each process
    seconds: Annotated[float, Meta(ge=0, le=UNBOUNDED)]

    @property
    def timesteps(self) -> int:
        """Decisions played so far by all processes."""
        return self.num_timesteps * self.processes


@contextmanager
def run_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder, which the system releases when the process ends, and remove files left by a killed process.

    Raises:
        TetrarchiaError: If another process holds the lock.
    """
    with file_lock(folder / ".lock", f"another process writes into {folder}: wait until it ends, or choose another name"):
        remove_drafts(folder)
        yield


def save_run(learner: Learner, folder: Path) -> None:
    """Save the state of a run atomically. All processes call this; rank zero writes."""
    arrays = {"torch": torch.get_rng_state().numpy(), "episode_starts": learner.episode_starts}
    arrays |= {"most_borders": most_borders(learner), "curriculum_win_rates": learner.curriculum.win_rates}
    parts = gather(arrays | {ENV_PREFIX + name: array for name, array in learner.games.state().items()})
    if not is_rank_zero():
        return
    moments = {
        f"{name}:{part}": state[part].contiguous()
        for name, parameter in learner.network.named_parameters()
        for state in [learner.optimizer.state.get(parameter, {})]  # empty if it was never updated
        for part in (STEPS, *MOMENTS)
        if part in state
    }
    with atomic_dir(folder / RESUME_DIR) as draft:
        counters = Counters(layout_digest(), learner.config.processes, learner.num_timesteps, learner.seconds)
        (draft / COUNTERS_FILE).write_bytes(msgspec.json.encode(counters))
        (draft / WEIGHTS_FILE).write_bytes(save({name: one.contiguous() for name, one in learner.network.state_dict().items()}))
        if learner.average is not None:
            average = learner.policy.state_dict()
            (draft / AVERAGE_FILE).write_bytes(save({name: one.contiguous() for name, one in average.items()}))
        (draft / OPTIMIZER_FILE).write_bytes(save(moments))
        for number, part in enumerate(parts):
            np.savez(draft / ARRAYS_FILE.format(number), allow_pickle=False, **part)


def most_borders(learner: Learner) -> NDArray[np.int64]:
    """Return the state of the reward `borders`; zeros with another reward."""
    return learner.reward.most if isinstance(learner.reward, BordersReward) else np.zeros(learner.local.num_envs, dtype=np.int64)


def load_run(config: TrainConfig, folder: Path) -> Learner:
    """Restore a run. All processes call this; rank zero reads, so that the others do not need access to the folder.

    Args:
        config: Its configuration, which may differ from the saved run's in `RESUMABLE_FIELDS`.
        folder: The run folder; used by rank zero only.

    Returns:
        The learner of this process.

    Raises:
        TetrarchiaError: If there is no run, or it is damaged or does not fit the configuration.
    """
    common, parts = None, []
    if is_rank_zero():
        saved, counters = find_saved_run(folder, config.processes)
        with torch.device("meta"):
            shapes = {name: tuple(one.shape) for name, one in make_network(config.network_config).state_dict().items()}
        moments = {f"{name}:{part}": shape for name, shape in shapes.items() for part in MOMENTS}
        moments |= {f"{name}:{STEPS}": () for name in shapes}
        weights = _read_tensors(saved / WEIGHTS_FILE, shapes)
        average = _read_tensors(saved / AVERAGE_FILE, shapes) if config.ema_decay else {}
        common = counters, weights, average, _read_tensors(saved / OPTIMIZER_FILE, moments, all_needed=False)
        num_envs, num_rates = config.for_rank(0).num_envs, sum(map(len, config.curriculum_lists.values()))
        records = state_dtypes(config.network_config.local) | ({"partners": PARTNER} if config.seat else {})
        parts = [
            _read_learner_arrays(saved / ARRAYS_FILE.format(number), records, num_envs, num_rates) for number in range(config.processes)
        ]
    counters, weights, average, optimizer_state = broadcast(common)
    arrays = scatter(parts)

    learner = Learner(config, seconds=counters.seconds)
    learner.num_timesteps = counters.num_timesteps
    learner.network.load_state_dict(weights)
    if learner.average is not None:
        learner.policy.load_state_dict(average)
        learner.average.n_averaged.fill_(1)  # 0 would copy the weights at the next update
    for name, parameter in learner.network.named_parameters():
        found = {part: optimizer_state.get(f"{name}:{part}") for part in (STEPS, *MOMENTS)}
        state = {part: tensor.to(parameter.device) for part, tensor in found.items() if tensor is not None}
        if state and len(state) != 1 + len(MOMENTS):
            raise TetrarchiaError(f"{folder / RESUME_DIR / OPTIMIZER_FILE} is damaged: {name} lacks a part")
        if state:
            learner.optimizer.state[parameter] = state
    try:
        learner.games.set_state({name.removeprefix(ENV_PREFIX): arrays[name] for name in arrays if name.startswith(ENV_PREFIX)})
        learner.episode_starts = arrays["episode_starts"]
        _check_range(arrays["most_borders"], 0, 6)
        _check_range(arrays["curriculum_win_rates"], 0, 1)
        most_borders(learner)[:] = arrays["most_borders"]
        learner.curriculum.win_rates = arrays["curriculum_win_rates"]
        learner.curriculum.apply(learner.games)
        torch.set_rng_state(torch.from_numpy(arrays["torch"]))  # last: creating the network draws from it
    except (RuntimeError, ValueError) as error:
        raise TetrarchiaError(f"{folder / RESUME_DIR} (rank {rank()}) is damaged: {str(error).splitlines()[0]}") from None
    return learner


def find_saved_run(folder: Path, processes: int) -> tuple[Path, Counters]:
    """Return the folder with the saved state of a run, and its counters.

    Args:
        folder: The run folder.
        processes: Number of processes that will resume the run.

    Raises:
        TetrarchiaError: If there is no saved state, or it was saved by another number of processes or for another observation.
    """
    saved = latest_dir(folder / RESUME_DIR)
    if saved is None:
        raise TetrarchiaError(f"there is no run to resume in {folder}")
    try:
        data = msgspec.json.decode((saved / COUNTERS_FILE).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise TetrarchiaError(f"{saved / COUNTERS_FILE} cannot be read: {error}") from None
    counters = validate(data, Counters, f"{saved / COUNTERS_FILE}:")
    if counters.layout != layout_digest():
        raise TetrarchiaError(f"{saved} was saved for another observation layout")
    if counters.processes != processes:
        raise TetrarchiaError(f"the run in {folder} has {counters.processes} processes; it cannot resume with {processes}")
    return saved, counters


def _read_tensors(path: Path, shapes: Shapes, *, all_needed: bool = True) -> Tensors:
    """Read tensors of these names and shapes, which are checked before anything is loaded; all values must be finite."""
    try:
        with safe_open(path, "pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - not a dict
        wrong = [name for name in found if shapes.get(name) != found[name]] or [name for name in shapes if all_needed and name not in found]
        if wrong:
            name = wrong[0]
            raise TetrarchiaError(f"{path} does not fit the options: {name[:80]!r} has shape {found.get(name)}, not {shapes.get(name)}")
        if path.stat().st_size > 4 * sum(map(prod, found.values())) + MAX_HEADER_BYTES * (1 + len(found)):
            raise TetrarchiaError(f"{path} is larger than its tensors")
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise TetrarchiaError(f"{path} cannot be read: {sanitize_line(str(error))}") from None
    if not all(one.dtype == torch.float32 and bool(one.isfinite().all()) for one in tensors.values()):
        raise TetrarchiaError(f"{path} is damaged: not all values are finite 32-bit floats")
    return tensors


def _read_learner_arrays(path: Path, records: Mapping[str, np.dtype[Any]], num_envs: int, num_rates: int) -> dict[str, NDArray[Any]]:
    kinds = {ENV_PREFIX + name: ArrayKind(np.uint8, (num_envs, kind.itemsize)) for name, kind in records.items()}
    kinds["torch"] = ArrayKind(np.uint8, (len(torch.get_rng_state()),))
    kinds["episode_starts"] = ArrayKind(np.bool_, (num_envs,))
    kinds["most_borders"] = ArrayKind(np.int64, (num_envs,))
    kinds["curriculum_win_rates"] = ArrayKind(np.float64, (num_rates,))
    return read_arrays(path, kinds)


def _check_range(array: NDArray[Any], lower: float, upper: float) -> None:
    if not ((lower <= array) & (array <= upper)).all():
        raise TetrarchiaError(f"an array has values outside of {lower} to {upper}")


class ArrayKind(NamedTuple):
    """The dtype and shape that an array must have; None in the shape allows any size."""

    dtype: Any
    shape: tuple[int | None, ...]


def read_arrays(path: Path, kinds: Mapping[str, ArrayKind]) -> dict[str, NDArray[Any]]:
    """Read arrays from an untrusted file that `numpy.savez` wrote; sizes are validated before memory is allocated.

    Args:
        path: The file.
        kinds: The dtype and shape of each array, by name.

    Returns:
        The arrays by name.

    Raises:
        TetrarchiaError: If the file cannot be read, or an array has another dtype or shape.
    """
    try:
        with ZipFile(path) as archive:
            return {name: _read_array(archive, f"{name}.npy", kind, path.stat().st_size) for name, kind in kinds.items()}
    except DAMAGED as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else sanitize_line(str(error), 200) or type(error).__name__
        raise TetrarchiaError(f"{path} cannot be read: {reason}") from None


def _read_array(archive: ZipFile, member: str, kind: ArrayKind, size: int) -> NDArray[Any]:
    info = archive.getinfo(member)
    if info.compress_type != ZIP_STORED or info.file_size != info.compress_size or info.file_size > size:
        raise TetrarchiaError(f"{member} is compressed, or larger than the file")  # a few bytes could expand to any size
    with archive.open(info) as file:
        if npy.read_magic(file) != (1, 0):
            raise TetrarchiaError(f"{member} has an unknown format version")
        shape, fortran, dtype = npy.read_array_header_1_0(file)
        fits = len(shape) == len(kind.shape) and all(wanted in (None, found) for wanted, found in zip(kind.shape, shape, strict=True))
        if dtype != np.dtype(kind.dtype) or not fits or (fortran and len(shape) > 1):
            raise TetrarchiaError(f"{member} is {dtype} of shape {shape}, not {np.dtype(kind.dtype)} of shape {kind.shape}")
        if file.tell() + prod(shape) * dtype.itemsize != info.file_size:
            raise TetrarchiaError(f"{member} is not as long as its header says")
    with archive.open(info) as file:
        array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array
