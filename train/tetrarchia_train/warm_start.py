"""The warm start of PPO: demonstrations of an expert and the cloning of its behaviour, each kept in the run's folder when it is done."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.progress import Progress

from tetrarchia_agents.cards import CARD, read_card
from tetrarchia_agents.checkpoints import checkpoint_folder, load_checkpoint, save_checkpoint
from tetrarchia_agents.network import Network, expand_action_head, make_network
from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir
from tetrarchia_train.behavior_cloning import CloningConfig, clone
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.demonstrations import (
    Demonstrations,
    collect_demonstrations,
    load_demonstrations,
    make_jobs,
    parts_folder,
    save_demonstrations,
)
from tetrarchia_train.held_out import eval_tasks, evaluate, win_rates
from tetrarchia_train.logs import Stopwatch

DEMONSTRATIONS, PARTS, BC = "demonstrations.npz", "demonstrations.parts", "bc"


def warm_start(config: TrainConfig, folder: Path, until: str, bar: Progress) -> Network | None:
    """The network to begin PPO with: cloned from the expert, now or before; without one the initial checkpoint, or none."""
    if is_cloned(folder):
        return _initial_network(folder / BC, config.network_config)
    network = _initial_network(config.init_checkpoint, config.network_config) if config.init_checkpoint else None
    if config.expert == "none":
        return network
    demonstrations = _demonstrations(config, folder, bar)
    if until == "demonstrations":
        return None
    return _clone(config, network or make_network(config.network_config), demonstrations, folder, bar)


def _initial_network(checkpoint: str | Path, network_config: NetworkConfig) -> Network:
    """The network of a checkpoint, made larger if the run has more actions."""
    loaded = load_checkpoint(checkpoint)
    if replace(loaded.config, actions=network_config.actions) != network_config or loaded.config.actions > network_config.actions:
        raise TetrarchiaError(f"checkpoint {checkpoint} has {loaded.config}, the options say {network_config}")
    return expand_action_head(loaded.network, network_config)


def _demonstrations(config: TrainConfig, folder: Path, bar: Progress) -> Demonstrations:
    """Those of a file, or new ones."""
    path = Path(config.demonstrations) if config.demonstrations else folder / DEMONSTRATIONS
    if config.demonstrations or path.is_file():
        shutil.rmtree(folder / PARTS, ignore_errors=True)
        return load_demonstrations(path, config.network_config.actions)
    task = bar.add_task(f"demonstrations of {config.expert}", total=config.num_demonstrations)
    whose = {name: getattr(config, name) for name in ("expert", "drawn_levels", "rules", "expert_noise", "seed", "target_temperature")}
    jobs = make_jobs(*whose.values())
    parts = parts_folder(folder / PARTS, whose)
    found = collect_demonstrations(
        jobs, config.num_demonstrations, config.demo_workers, lambda number: bar.update(task, completed=number), parts
    )
    save_demonstrations(found, path)
    shutil.rmtree(parts, ignore_errors=True)
    print(f"{config.expert} won {found.won} of {found.played} games ({found.won / found.played:.1%}), {len(found)} demonstrations kept")
    return found


def _clone(config: TrainConfig, network: Network, demonstrations: Demonstrations, folder: Path, bar: Progress) -> Network:
    """The network after behaviour cloning, kept as a checkpoint."""
    watch, task = Stopwatch(), bar.add_task("behaviour cloning")

    def tell(progress: float, loss: float) -> None:
        bar.update(task, completed=100 * progress, description=f"behaviour cloning {loss:.3f}")

    cloning = CloningConfig(config.bc_epochs, config.bc_batch_size, config.bc_learning_rate, config.vf_coef)
    accuracy = clone(network, demonstrations, cloning, tell)
    seconds = watch.seconds
    results = evaluate(network, eval_tasks(config.eval_levels, config.rules), config.n_eval_episodes)
    print(f"accuracy {accuracy:.1%} after {seconds:.0f} s; held-out win rates: {win_rates(results)}")
    made = {
        "init_checkpoint": config.init_checkpoint,
        "expert": config.expert,
        "num_demonstrations": len(demonstrations),
        "num_values": len(demonstrations.targets),
        "bc_accuracy": accuracy,
        "seconds": round(seconds),
        "win_rates": {one.label: one.win_rate for one in results},
        "n_eval_episodes": config.n_eval_episodes,
        "options": config.as_data(),
    }
    with atomic_dir(folder / BC) as draft:
        save_checkpoint(draft, network, config.network_config, {"training": made})
    return network


def is_cloned(folder: Path) -> bool:
    """Whether this stage is done: the card is written last, so that a folder without one was left half written."""
    return (folder / BC / CARD).is_file()


def warm_start_card(config: TrainConfig, folder: Path) -> dict[str, Any] | None:
    """What the card of the checkpoint that PPO began with says, but for its options."""
    start: str | Path = folder / BC if is_cloned(folder) else config.init_checkpoint
    if not start:
        return None
    made = read_card(checkpoint_folder(start)).get("training", {})
    return {name: value for name, value in made.items() if name != "options"}
