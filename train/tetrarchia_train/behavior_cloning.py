"""Behavior cloning: supervised learning of an expert's decisions; a searching expert also teaches the value.

PPO with the shaped reward cannot start from random weights: behavior cloning is its warm start.

Pomerleau, ALVINN (NIPS 1989); Bain and Sammut, A framework for behavioural cloning (1995).
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.progress import Progress
from torch import Tensor
from torch.nn.functional import cross_entropy, log_softmax, mse_loss

from tetrarchia_agents.cards import CARD, find_checkpoint, read_card
from tetrarchia_agents.checkpoints import load_checkpoint, save_checkpoint
from tetrarchia_agents.devices import find_device
from tetrarchia_agents.network import MASKED, Network, expand_network, make_network
from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env import batch
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir, parts_folder
from tetrarchia_env.local_view import FULL_INFORMATION
from tetrarchia_eval.dataset import SUFFIX as DATASET_SUFFIX
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.dagger import collect_local_demonstrations
from tetrarchia_train.demonstrations import (
    Demonstrations,
    collect_demonstrations,
    dataset_demonstrations,
    join_demonstrations,
    load_demonstrations,
    make_jobs,
    save_demonstrations,
)
from tetrarchia_train.evaluation import evaluate
from tetrarchia_train.metrics import describe_win_rates

DEMONSTRATIONS_FILE, PARTS_DIR, BC_DIR = "demonstrations.npz", "demonstrations.parts", "bc"
VALIDATION_SPLIT = 20  # one demonstration in 20 is held out
FINAL_LEARNING_RATE_FACTOR = 0.05
Rows = NDArray[np.int64]


def warm_start(config: TrainConfig, folder: Path, stop_after: str, bar: Progress) -> Network | None:
    """Return the network to begin PPO with, and save each stage in the run folder.

    Args:
        config: The configuration of the run.
        folder: The run folder; stages that are finished there are not repeated.
        stop_after: "demonstrations" stops before cloning.
        bar: Where to show progress.

    Returns:
        The network cloned from the expert, or without an expert that of the initial checkpoint; None for random weights.
    """
    if is_cloned(folder):
        return _initial_network(folder / BC_DIR, config.network_config)
    network = _initial_network(config.init_checkpoint, config.network_config) if config.init_checkpoint else None
    if config.expert == "none":
        return network
    if config.view_radius is not None and stop_after == "demonstrations":
        raise TetrarchiaError("stop_after must not be demonstrations with view_radius: the student takes part in playing them")
    demonstrations = None
    if config.view_radius is None:
        earlier = [load_demonstrations(path, config.network_config.actions) for path in earlier_demonstrations(folder, config.window)]
        demonstrations = join_demonstrations([*earlier, _demonstrations(config, folder, bar)])  # the last ones are held out
    if stop_after == "demonstrations":
        return None
    network = (network or make_network(config.network_config)).to(find_device(config.network_device))
    return _clone_expert(config, network, demonstrations or _local_demonstrations(config, network, bar), folder, bar)


def earlier_demonstrations(folder: Path, window: int) -> list[Path]:
    """Return the files of the rounds of expert iteration before this one that are in the window, the oldest first."""
    number = folder.name.removeprefix("round-")
    rounds = range(max(1, int(number) - window + 1), int(number)) if number.isdecimal() else []
    return [folder.parent / f"round-{earlier}" / DEMONSTRATIONS_FILE for earlier in rounds]


def is_cloned(folder: Path) -> bool:
    """Return whether behavior cloning is finished in a run folder: the card is written last."""
    return (folder / BC_DIR / CARD).is_file()


def warm_start_card(config: TrainConfig, folder: Path) -> dict[str, Any] | None:
    """Return the training entry, without its options, of the card of the checkpoint from which PPO started; None for random weights."""
    start: str | Path = folder / BC_DIR if is_cloned(folder) else config.init_checkpoint
    if not start:
        return None
    training = read_card(find_checkpoint(start)).get("training", {})
    return {name: value for name, value in training.items() if name != "options"}


def _initial_network(checkpoint: str | Path, network_config: NetworkConfig) -> Network:
    """Load the network of a checkpoint, extended if the run has more actions, local information or a critic of its own."""
    loaded = load_checkpoint(checkpoint)
    known, local = loaded.config, network_config.local
    fits = known.actions <= network_config.actions and known.local in (FULL_INFORMATION, local)
    critic = network_config.critic if known.critic == "own" else known.critic
    if not fits or replace(known, actions=network_config.actions, critic=critic, **asdict(local)) != network_config:
        raise TetrarchiaError(f"checkpoint {checkpoint} has the network {loaded.config}, but the options give {network_config}")
    return expand_network(loaded.network, network_config)


def _demonstrations(config: TrainConfig, folder: Path, bar: Progress) -> Demonstrations:
    """Load the demonstrations, or play them."""
    path = Path(config.demonstrations) if config.demonstrations else folder / DEMONSTRATIONS_FILE
    if config.demonstrations or path.is_file():
        shutil.rmtree(folder / PARTS_DIR, ignore_errors=True)
        if path.name.endswith(DATASET_SUFFIX):
            return dataset_demonstrations(path, config.num_demonstrations, config.network_config.actions)
        return load_demonstrations(path, config.network_config.actions)
    task = bar.add_task(f"demonstrations of {config.expert}", total=config.num_demonstrations)
    settings = (
        *(config.expert, config.training_levels, config.rule_sets, config.expert_noise, config.seed),
        *(config.target_temperature, config.search_fraction, config.precision),
    )
    parts = parts_folder(folder / PARTS_DIR, {"jobs": settings})
    found = collect_demonstrations(
        make_jobs(*settings), config.num_demonstrations, config.demo_workers, lambda number: bar.update(task, completed=number), parts
    )
    save_demonstrations(found, path)
    shutil.rmtree(parts, ignore_errors=True)
    print(f"{config.expert} won {found.won} of {found.played} games ({found.won / found.played:.1%}), {len(found)} demonstrations")
    return found


def _local_demonstrations(config: TrainConfig, network: Network, bar: Progress) -> Demonstrations:
    """Play the rounds of DAgger."""
    task = bar.add_task(f"DAgger with {config.expert}", total=config.num_demonstrations)

    def clone_so_far(student: Network, demonstrations: Demonstrations) -> None:
        accuracy = clone(student, demonstrations, cloning_config(config), lambda progress, loss: None)
        print(f"DAgger: accuracy {accuracy:.1%} after {len(demonstrations)} demonstrations", flush=True)

    return collect_local_demonstrations(config, network, clone_so_far, lambda number: bar.update(task, completed=number))


def _clone_expert(config: TrainConfig, network: Network, demonstrations: Demonstrations, folder: Path, bar: Progress) -> Network:
    """Train the network on the demonstrations, evaluate it and save it as a checkpoint."""
    start, task = time.monotonic(), bar.add_task("behavior cloning")

    def on_progress(progress: float, loss: float) -> None:
        bar.update(task, completed=100 * progress, description=f"behavior cloning {loss:.3f}")

    accuracy = clone(network, demonstrations, cloning_config(config), on_progress)
    seconds = time.monotonic() - start
    results = evaluate(network, config)
    print(f"accuracy {accuracy:.1%} after {seconds:.0f} s; {describe_win_rates(results['win_rates'])}")
    training = {
        "init_checkpoint": config.init_checkpoint,
        "expert": Path(config.demonstrations).name if config.demonstrations.endswith(DATASET_SUFFIX) else config.expert,
        "num_demonstrations": len(demonstrations),
        "num_values": len(demonstrations.targets),
        "bc_accuracy": accuracy,
        "seconds": round(seconds),
        "win_rates": results["win_rates"],
        "n_eval_episodes": config.n_eval_episodes,
        "options": config.as_data(),
    }
    with atomic_dir(folder / BC_DIR) as draft:
        save_checkpoint(draft, network, config.network_config, {"training": training})
    return network


@dataclass(frozen=True)
class CloningConfig:
    """Hyperparameters of behavior cloning."""

    epochs: int
    batch_size: int
    learning_rate: float
    vf_coef: float = 0.5


def cloning_config(config: TrainConfig) -> CloningConfig:
    """Return the hyperparameters of behavior cloning in a run."""
    return CloningConfig(config.bc_epochs, config.bc_batch_size, config.bc_learning_rate, config.vf_coef)


def clone(network: Network, data: Demonstrations, config: CloningConfig, on_progress: Callable[[float, float], None]) -> float:
    """Train a network on demonstrations.

    Args:
        network: The network, which is changed.
        data: The demonstrations; the last ones are held out.
        config: The hyperparameters.
        on_progress: Called with the progress, 0 to 1, and the loss.

    Returns:
        The accuracy on the held-out demonstrations.

    Raises:
        TetrarchiaError: If there are fewer than two demonstrations.
    """
    size = len(data) - max(1, len(data) // VALIDATION_SPLIT)
    if not size:
        raise TetrarchiaError(f"behavior cloning needs at least 2 demonstrations; got {len(data)}")
    batch_size = min(config.batch_size, size)
    updates = config.epochs * (size // batch_size)
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, FINAL_LEARNING_RATE_FACTOR, max(updates, 1))
    for number, rows in enumerate(_minibatches(size, batch_size, config.epochs), start=1):
        loss = _loss(network, data, rows, config.vf_coef)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        on_progress(number / updates, loss.item())
    return accuracy(network, data, np.arange(size, len(data)))


def accuracy(network: Network, data: Demonstrations, rows: Rows) -> float:
    """Return the fraction of these decisions for which the network's most likely action is the expert's."""
    same = 0
    with torch.inference_mode():
        for some in np.array_split(rows, max(1, len(rows) // 1024)):
            same += int((_forward(network, data, some)[0].argmax(dim=1).cpu().numpy() == data.actions[some]).sum())
    return same / len(rows)


def _minibatches(size: int, batch_size: int, epochs: int) -> Iterator[Rows]:
    """Yield minibatches of random rows, epoch by epoch; rows that do not fill one are left out."""
    used = size // batch_size * batch_size
    for _ in range(epochs):
        yield from torch.randperm(size).numpy()[:used].reshape(-1, batch_size)


def _loss(network: Network, data: Demonstrations, rows: Rows, vf_coef: float) -> Tensor:
    """Return the policy loss, and the value loss if there are targets of a search."""
    logits, values = _forward(network, data, rows)
    if not len(data.targets):
        return cross_entropy(logits, network.tensor(data.actions[rows]))
    targets = data.targets[rows]
    probabilities = network.tensor(targets["probabilities"].copy())
    log_probs = log_softmax(logits, dim=1).gather(1, network.tensor(targets["actions"].copy()))
    policy_loss = -(probabilities * log_probs.masked_fill(probabilities == 0, 0)).sum(dim=1).mean()
    return policy_loss + vf_coef * mse_loss(values, network.tensor(targets["value"].copy()))


def _forward(network: Network, data: Demonstrations, rows: Rows) -> tuple[Tensor, Tensor]:
    """Return masked logits and values. Observations are computed when needed: a game record takes an eighth of their memory."""
    games, views = data.games[rows], data.views and data.views.select(rows)
    obs = views.observe(games, batch.agents_to_act(games)) if views else None
    logits, values = network(network.tensor(network.inputs(games, obs)))
    illegal = batch.legal_masks(games, views.message_tokens if views else 0)[:, : logits.shape[1]] == 0
    return logits.masked_fill(network.tensor(illegal), MASKED), values
