"""Masked PPO with TorchRL on `vector_env`, with one policy for all four Emperors. Takes less than a minute.

The mask of the observation is passed to TorchRL's MaskedCategorical. PettingZooWrapper works too, but is slower
(docs/libraries/torchrl.md). Train longer, on full games: `python examples/libraries/torchrl_ppo.py --timesteps 5000000 --level 5300`.
"""

import argparse
from typing import Any

import torch
from end_game import Counts, best, measure, random_policy
from four_borders import FOUR_BORDERS, BorderReward, Recorded
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from tetrarchia_env import vector_env
from tetrarchia_env.constants import BASE_ACTIONS
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.observation import SIZE

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value


class Logits(nn.Module):
    """Network that returns logits and mask in the format of MaskedCategorical."""

    def __init__(self) -> None:
        super().__init__()
        self.network = MLP(SIZE, BASE_ACTIONS, num_cells=[128, 128], activation_class=nn.Tanh)

    def forward(self, obs: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits and the mask."""
        return self.network(obs), mask.bool()


def make_actor() -> ProbabilisticActor:
    """Return an actor that samples legal actions only."""
    logits = TensorDictModule(Logits(), in_keys=["observation", "action_mask"], out_keys=["logits", "mask"])
    return ProbabilisticActor(logits, in_keys=["logits", "mask"], distribution_class=MaskedCategorical, return_log_prob=True)


def make_env(num_envs: int, reward: Recorded, rules: dict[str, Any]) -> GymWrapper:
    """Return the environment; TorchRL resets finished games itself ("Disabled"), and an illegal action is an error."""
    games = vector_env(num_envs, actions="base", autoreset_mode="Disabled", illegal="raise", reward=reward, **rules)
    return GymWrapper(games, categorical_action_encoding=True)


def count(counts: Counts, data: TensorDict) -> None:
    """Count the steps and rewards of a batch."""
    chosen = data["action_mask"].gather(-1, data["action"].unsqueeze(-1))
    counts.steps += data.numel()
    counts.illegal += int((chosen == 0).sum())
    counts.fake += int((data["action_mask"].sum(-1) == 0).sum())
    counts.learned += float(data["next", "reward"].sum(dtype=torch.float64))


def update(loss: ClipPPOLoss, optimizer: torch.optim.Optimizer, data: TensorDict, epochs: int, minibatch: int) -> None:
    """Train with PPO (Schulman et al. 2017, arXiv:1707.06347) for some epochs on one batch."""
    for _ in range(epochs):
        for rows in torch.randperm(len(data)).split(minibatch):
            losses = loss(data[rows])
            optimizer.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()


def train(options: argparse.Namespace, rules: dict[str, Any]) -> tuple[nn.Module, Counts]:
    """Train; return the network of the policy and the counts."""
    torch.manual_seed(options.seed)
    reward, counts = Recorded(ShapedReward(GAMMA) if options.level else BorderReward()), Counts()
    actor = make_actor()
    critic = ValueOperator(MLP(SIZE, 1, num_cells=[128, 128], activation_class=nn.Tanh), in_keys=["observation"])
    advantage, loss = GAE(gamma=GAMMA, lmbda=0.95, value_network=critic), ClipPPOLoss(actor, critic, entropy_coeff=0.01)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    env = make_env(options.num_envs, reward, rules)
    env.set_seed(options.seed)
    reward.given = 0.0  # discard the steps in which TorchRL inspected the environment
    frames = {"frames_per_batch": options.batch_size, "total_frames": options.timesteps}
    for data in Collector(env, actor, **frames, auto_register_policy_transforms=False):
        count(counts, data)
        print(f"{counts.steps:,} steps, mean reward a step {data['next', 'reward'].mean():.3f}", flush=True)
        with torch.no_grad():
            advantage(data)
        update(loss, optimizer, data.reshape(-1), options.epochs, options.minibatch_size)
    counts.given = reward.given
    return actor.module[0].module.network, counts


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--level", help="learn whole games of this level instead of the last four borders")
    parser.add_argument("--timesteps", type=int, default=16_384, help="decisions to learn from")
    parser.add_argument("--num-envs", type=int, default=32, help="games at once")
    parser.add_argument("--batch-size", type=int, default=1024, help="decisions an update")
    parser.add_argument("--minibatch-size", type=int, default=128, help="decisions a gradient step")
    parser.add_argument("--epochs", type=int, default=4, help="passes over a batch")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    return parser.parse_args()


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    options = parse()
    torch.set_num_threads(1)  # the network is too small to benefit from more threads
    rules: dict[str, Any] = {"level": options.level} if options.level else {"initial_states": [FOUR_BORDERS]}
    network, counts = train(options, rules)
    print(f"random: {measure(random_policy(), **rules)}")
    print(f"after {counts.steps:,} steps: {measure(best(network), **rules)}")
    print(counts)


if __name__ == "__main__":
    main()
