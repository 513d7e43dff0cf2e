"""A BenchMARL task, and short runs of MAPPO, IPPO and QMIX on it. Each takes less than two minutes.

In BenchMARL all agents act at every step. The three agents that do not act have a single legal action; it has probability 1 and causes no
gradient. Choose an algorithm with `--algorithm qmix`, train longer with `--timesteps`, and train on full games with `--level 5300`.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarl.algorithms import IppoConfig, MappoConfig, QmixConfig
from benchmarl.environments.pettingzoo.common import PettingZooClass
from benchmarl.experiment import Callback, Experiment, ExperimentConfig
from benchmarl.models.mlp import MlpConfig
from end_game import Counts, Policy, measure, random_policy
from four_borders import FOUR_BORDERS, RULES, BorderReward, FromFourBorders, Recorded
from tensordict import TensorDict
from torchrl.envs import EnvBase
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type

from tetrarchia_env import env
from tetrarchia_env.constants import EMPERORS
from tetrarchia_env.envs.parallel import TetrarchiaParallel
from tetrarchia_env.envs.rewards import ShapedReward

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value
GROUP = "emperors"
ALGORITHMS = {"mappo": MappoConfig, "ippo": IppoConfig, "qmix": QmixConfig}


class TetrarchiaTask(PettingZooClass):
    """BenchMARL task of this game; all four Emperors form one group, so that they share a policy and QMIX can mix them."""

    def get_env_fun(self, num_envs: int, continuous_actions: bool, seed: int | None, device: Any) -> Callable[[], EnvBase]:
        """Return a function that creates one game; BenchMARL runs several in parallel."""
        return lambda: PettingZooWrapper(self.make(), group_map={GROUP: list(EMPERORS)}, categorical_actions=True, seed=seed, device=device)

    def make(self) -> TetrarchiaParallel:
        """Return the parallel environment of the configuration."""
        level, reward = self.config["level"], Recorded(ShapedReward(GAMMA) if self.config["level"] else BorderReward())
        self.config["rewards"].append(reward)
        aec = env(level=level, reward=reward) if level else FromFourBorders(env(**RULES, reward=reward))
        return TetrarchiaParallel(aec)

    def supports_discrete_actions(self) -> bool:
        return True

    def max_steps(self, env: EnvBase) -> int:
        """Return the maximum number of steps of an evaluation episode."""
        return 10_000

    def has_render(self, env: EnvBase) -> bool:
        """Return False: rendering needs the extra `render`, whose version of av is newer than BenchMARL allows."""
        return False


class Count(Callback):
    """Callback that counts the collected steps and rewards."""

    def __init__(self, rewards: list[Recorded]) -> None:
        super().__init__()
        self.rewards, self.counts = rewards, Counts()

    def on_setup(self) -> None:
        """Discard the rewards of the steps in which TorchRL inspected the environment."""
        for reward in self.rewards:
            reward.given = 0.0

    def on_batch_collected(self, batch: TensorDict) -> None:
        """Count a batch; rows of waiting agents are fake only if they had a choice."""
        own, acting = batch[GROUP], batch[GROUP, "info", "agent"].long()
        masks, is_idle = own["action_mask"], acting.reshape(*batch.shape, len(EMPERORS)) != torch.arange(len(EMPERORS))
        paid = batch["next", GROUP, "reward"]
        self.counts.steps += batch.numel()
        self.counts.illegal += int((~masks.gather(-1, own["action"].unsqueeze(-1))).sum())
        self.counts.fake += int((masks.sum(-1) != 1)[is_idle].sum())
        self.counts.given = len(EMPERORS) * sum(reward.given for reward in self.rewards)
        self.counts.learned += float(paid.sum(dtype=torch.float64))
        print(f"{self.counts.steps:,} steps, mean reward a step {paid.mean():.3f}", flush=True)


def configure(options: argparse.Namespace, folder: str) -> ExperimentConfig:
    """Return BenchMARL's defaults, changed for a run of a few minutes."""
    config = ExperimentConfig.get_from_yaml()
    config.gamma, config.lr, config.max_n_frames = GAMMA, options.lr, options.timesteps
    config.on_policy_collected_frames_per_batch = config.off_policy_collected_frames_per_batch = options.batch_size
    config.on_policy_n_envs_per_worker = config.off_policy_n_envs_per_worker = 4
    config.on_policy_minibatch_size, config.on_policy_n_minibatch_iters = 128, 10
    config.off_policy_n_optimizer_steps, config.off_policy_train_batch_size, config.off_policy_memory_size = 60, 128, 20_000
    config.soft_target_update, config.hard_target_update_frequency = False, 60
    config.exploration_eps_end, config.exploration_anneal_frames = 0.05, options.timesteps // 2  # the default is for millions of frames
    config.evaluation, config.render, config.loggers, config.create_json, config.save_folder = False, False, [], False, folder
    return config


def train(options: argparse.Namespace, folder: str) -> tuple[Policy, Counts]:
    """Run the experiment; return the policy and the counts."""
    rewards: list[Recorded] = []
    count = Count(rewards)
    model = MlpConfig(num_cells=[128, 128], activation_class=torch.nn.Tanh, layer_class=torch.nn.Linear)
    experiment = Experiment(
        task=TetrarchiaTask("TETRARCHIA", {"level": options.level, "rewards": rewards}),
        algorithm_config=ALGORITHMS[options.algorithm].get_from_yaml(),
        model_config=model,
        critic_model_config=model,
        seed=options.seed,
        config=configure(options, folder),
        callbacks=[count],
    )
    experiment.run()
    return best_of(experiment.policy), count.counts


def best_of(policy: Any) -> Policy:
    """Return a policy that plays the acting agent's most probable action; the network sees only that agent's observation."""

    @torch.no_grad()
    def choose(obs: Any, masks: Any, agents: Any) -> Any:
        rows, legal = (torch.from_numpy(own)[:, None].expand(-1, len(EMPERORS), -1) for own in (obs, masks.astype(bool)))
        own = TensorDict({"observation": {"observation": rows}, "action_mask": legal}, rows.shape[:2])
        with set_exploration_type(ExplorationType.DETERMINISTIC):
            chosen = policy(TensorDict({GROUP: own}, [len(obs)]))
        return chosen[GROUP, "action"].numpy()[np.arange(len(obs)), agents]

    return choose


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--algorithm", choices=list(ALGORITHMS), default="mappo", help="of BenchMARL")
    parser.add_argument("--level", help="learn whole games of this level instead of the last four borders")
    parser.add_argument("--timesteps", type=int, default=8_000, help="decisions to learn from")
    parser.add_argument("--batch-size", type=int, default=500, help="decisions per iteration")
    parser.add_argument("--lr", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    return parser.parse_args()


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    options = parse()
    torch.set_num_threads(1)  # the networks are too small to benefit from more threads
    with tempfile.TemporaryDirectory() as folder:
        policy, counts = train(options, str(Path(folder)))
    rules: dict[str, Any] = {"level": options.level} if options.level else {"initial_states": [FOUR_BORDERS]}
    print(f"random: {measure(random_policy(), **rules)}")
    print(f"after {counts.steps:,} steps: {measure(policy, **rules)}")
    print(counts)


if __name__ == "__main__":
    main()
