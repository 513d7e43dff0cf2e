"""Training under Ray Train's TorchTrainer: its workers are the processes of one group, and it starts them again after a failure.

Ray (Moritz and others, OSDI 2018) gives them the variables of a launcher. What a run keeps is reported as Ray's checkpoint;
after a failure all workers begin anew and go on from the last one, which is exact.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_dir
from tetrarchia_env.schema import sanitize_line
from tetrarchia_eval.ray_cluster import check_nodes, connected, load_ray
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.distributed import TIMEOUT, follow, launched_group
from tetrarchia_train.logs import last_measured, progress_text, read_progress
from tetrarchia_train.resume import RESUME
from tetrarchia_train.run import OPTIONS, Learn, learn_here

RESTARTS = 3  # after so many failures in one command a person should look
NEWS = 2.0  # seconds between two looks at what was measured
STORAGE = "ray"  # in the run's folder: Ray's own files, its copy of what was kept last among them
ON_THE_WORKERS = ("tetrarchia_train.run", "ray.train.torch")


def learn_on_ray(address: str) -> Learn:
    """Training by the cluster at this address; a new one on this machine, or that of RAY_ADDRESS, if it is empty."""
    return partial(_learn, address)


def _learn(address: str, config: TrainConfig, folder: Path, until: str, command: str) -> Path:
    """The workers' run, to its last checkpoint."""
    folder, given = folder.absolute(), folder
    with connected(address, config.processes * config.threads):
        _check_room(config)
        check_nodes(ON_THE_WORKERS)
        goal = _fit({"config": config.as_data(), "folder": str(folder), "until": until, "command": command}, config, folder)
    shutil.rmtree(folder / STORAGE, ignore_errors=True)  # a copy of what the run's folder has
    return given / goal


def _check_room(config: TrainConfig) -> None:
    """Ray would wait for ever for processors that the cluster has not."""
    alive = [node["Resources"].get("CPU", 0) for node in load_ray().nodes() if node["Alive"]]
    room = sum(int(cpus // config.threads) for cpus in alive)
    if room < config.processes:
        needed = f"{config.processes} processes of {config.threads} threads"
        raise TetrarchiaError(f"ray: the cluster has processors for {room} of {needed}: give fewer --processes or --threads")


def _fit(task: dict[str, Any], config: TrainConfig, folder: Path) -> str:
    """The name of the checkpoint that the workers ended with."""
    from ray import train
    from ray.train.torch import TorchConfig, TorchTrainer

    trainer = TorchTrainer(
        _work,
        train_loop_config=task,
        torch_config=TorchConfig(backend="gloo", timeout_s=int(TIMEOUT.total_seconds())),
        scaling_config=train.ScalingConfig(num_workers=config.processes, resources_per_worker={"CPU": config.threads}),
        run_config=train.RunConfig(
            name=STORAGE,
            storage_path=str(folder),
            failure_config=train.FailureConfig(max_failures=RESTARTS),
            checkpoint_config=train.CheckpointConfig(num_to_keep=1),
        ),
    )
    shutil.rmtree(folder / STORAGE, ignore_errors=True)  # else Ray goes on from there, and not from what the run's folder has
    try:
        with _progress_told(folder):
            return str(trainer.fit().return_value)
    except train.TrainingFailedError as error:
        raise TetrarchiaError(_sentence(error)) from None


@contextmanager
def _progress_told(folder: Path) -> Iterator[None]:
    """Meanwhile, what rank 0 measures is printed where the command was typed."""
    ended = threading.Event()
    teller = threading.Thread(target=_tell, args=(folder, last_measured(folder), ended), daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def _tell(folder: Path, told: int, ended: threading.Event) -> None:
    """Each line once, also when a run was started again and measures again."""
    over = False
    while not over:
        over = ended.wait(NEWS)
        for line in read_progress(folder):
            if line["timesteps"] > told:
                told = line["timesteps"]
                print(progress_text(told, line["seconds"], line["win_rates"]), flush=True)


def _sentence(error: Any) -> str:
    """What the workers said, who were started again in vain."""
    told = [str(one) for one in getattr(error, "worker_failures", {}).values()]
    reason = sanitize_line((told or [str(error)])[0])
    return f"ray: training failed, {RESTARTS} times again ({reason}): go on from what was saved last with --resume"


def _work(task: dict[str, Any]) -> str:
    """What each worker does; the name of the run's last checkpoint."""
    config, folder = TrainConfig().changed(task["config"]), Path(task["folder"])
    with launched_group(_report) as group:
        if not group.is_rank_0:
            return Path(follow(group) or folder).name
        if not (folder / OPTIONS).is_file():
            raise TetrarchiaError(f"{folder} is not the same on {os.uname().nodename}: Ray needs it on a file system that all nodes share")
        _restore(folder)
        return learn_here(group, config, folder, task["until"], task["command"]).name


def _report(kept: Path) -> None:
    """All workers tell Ray together that the run was kept; rank 0, who has it, gives it."""
    from ray import train

    mine = train.get_context().get_world_rank() == 0
    train.report({}, checkpoint=train.Checkpoint.from_directory(str(kept)) if mine else None)


def _restore(folder: Path) -> None:
    """After a failure: the run's folder has Ray's last checkpoint again, whatever was written after it."""
    from ray import train

    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as kept, atomic_dir(folder / RESUME) as draft:
            shutil.copytree(kept, draft, dirs_exist_ok=True)
