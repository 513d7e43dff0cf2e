"""PPO in plain PyTorch on `vector_env`, in the style of CleanRL. Takes less than two minutes.

The names are CleanRL's. Differences to its `ppo.py`: an action mask, autoreset in the same step (with NEXT_STEP, Gymnasium's default, the
reset step would be a fake transition), and no discount. PPO: Schulman et al. 2017 (arXiv:1707.06347); action masks: Huang and Ontañón 2020
(arXiv:2006.14171). Train on full games with `--level 5300 --total-timesteps 20000000`.
"""

import argparse
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from end_game import END_GAME, Counts, best, measure, random_policy
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import Tensor, nn
from torch.distributions import Categorical

from tetrarchia_env import vector_env


@dataclass(frozen=True)
class Args:
    """Options with the names of CleanRL."""

    level: str = ""  # full games of this level; if empty, the end-game
    total_timesteps: int = 60_000
    num_envs: int = 64
    num_steps: int = 32
    num_minibatches: int = 4
    update_epochs: int = 8
    learning_rate: float = 1e-3
    gamma: float = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    seed: int = 1


class Policy(nn.Module):
    """Actor and critic as two separate small networks."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, actions))
        self.critic = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
        nn.init.orthogonal_(self.actor[-1].weight, 0.01)

    def distribution(self, obs: Tensor, masks: Tensor) -> Categorical:
        """Return the distribution over legal actions; illegal actions have probability 0 and no gradient."""
        return Categorical(logits=self.actor(obs).masked_fill(~masks, -1e8))

    def value(self, obs: Tensor) -> Tensor:
        """Return the value estimate of each row."""
        return self.critic(obs).squeeze(-1)


class Rollout:
    """Buffer of `num_steps` steps of all environments, and the observation to continue from."""

    def __init__(self, args: Args, envs: Any, counts: Counts) -> None:
        self.args, self.envs, self.counts = args, envs, counts
        shape = (args.num_steps, args.num_envs)
        inputs, actions = envs.single_observation_space["observation"].shape[0], int(envs.single_action_space.n)
        self.obs, self.masks = torch.zeros(*shape, inputs), torch.zeros(*shape, actions, dtype=torch.bool)
        self.actions = torch.zeros(shape, dtype=torch.int64)
        self.logprobs, self.rewards, self.values, self.ends = (torch.zeros(shape) for _ in range(4))
        self.next = envs.reset(seed=args.seed)[0]
        self.sums = np.zeros(args.num_envs)

    @torch.no_grad()
    def collect(self, policy: Policy) -> None:
        """Play `num_steps` steps; one policy plays all four Emperors, so the acting agent may change between steps."""
        for t in range(self.args.num_steps):
            self.obs[t] = torch.from_numpy(self.next["observation"])
            self.masks[t] = torch.from_numpy(self.next["action_mask"].astype(bool))
            chances = policy.distribution(self.obs[t], self.masks[t])
            self.actions[t] = chances.sample()
            self.logprobs[t], self.values[t] = chances.log_prob(self.actions[t]), policy.value(self.obs[t])
            self.next, rewards, terminated, truncated, infos = self.envs.step(self.actions[t].numpy())
            self._count(t, rewards, terminated | truncated, infos)
            self.rewards[t], self.ends[t] = torch.from_numpy(rewards), torch.from_numpy(terminated | truncated)
            for i in np.flatnonzero(truncated):  # a truncated game has no result: bootstrap from the value
                self.rewards[t, i] += self.args.gamma * policy.value(torch.from_numpy(infos["final_obs"][i]["observation"]))

    def _count(self, t: int, rewards: Any, ends: Any, infos: dict[str, Any]) -> None:
        self.counts.steps += len(rewards)
        self.counts.illegal += int(infos["illegal_action"].sum())
        self.counts.fake += int((~self.masks[t].any(dim=1)).sum())
        self.sums += rewards
        if ends.any():
            self.counts.given += infos["episode"]["r"][ends].sum()
            self.counts.learned += self.sums[ends].sum()
            self.sums[ends] = 0.0

    @torch.no_grad()
    def advantages(self, policy: Policy) -> Tensor:
        """Return generalized advantage estimates (Schulman et al. 2015, arXiv:1506.02438), cut at the end of a game."""
        found, last = torch.zeros_like(self.rewards), torch.zeros(self.args.num_envs)
        next_value = policy.value(torch.from_numpy(self.next["observation"]))
        for t in reversed(range(self.args.num_steps)):
            goes_on = 1 - self.ends[t]
            delta = self.rewards[t] + self.args.gamma * next_value * goes_on - self.values[t]
            found[t] = last = delta + self.args.gamma * self.args.gae_lambda * goes_on * last
            next_value = self.values[t]
        return found


def loss(args: Args, policy: Policy, batch: dict[str, Tensor], rows: Tensor) -> Tensor:
    """Return the PPO loss of some rows of the rollout."""
    obs, masks, actions = batch["obs"][rows], batch["masks"][rows], batch["actions"][rows]
    chances, advantages = policy.distribution(obs, masks), batch["advantages"][rows]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = (chances.log_prob(actions) - batch["logprobs"][rows]).exp()
    gain = torch.min(ratio * advantages, ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef) * advantages).mean()
    error = 0.5 * (policy.value(obs) - batch["returns"][rows]).square().mean()
    return args.vf_coef * error - gain - args.ent_coef * chances.entropy().mean()


def update(args: Args, policy: Policy, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Train for `update_epochs` epochs on one rollout."""
    advantages = rollout.advantages(policy)
    kept = {"obs": rollout.obs, "masks": rollout.masks, "actions": rollout.actions, "logprobs": rollout.logprobs}
    batch = {name: values.flatten(0, 1) for name, values in kept.items()}
    batch |= {"advantages": advantages.flatten(), "returns": (advantages + rollout.values).flatten()}
    for _ in range(args.update_epochs):
        for rows in torch.randperm(len(batch["obs"])).chunk(args.num_minibatches):
            optimizer.zero_grad()
            loss(args, policy, batch, rows).backward()
            nn.utils.clip_grad_norm_(policy.parameters(), args.max_grad_norm)
            optimizer.step()


def rules(args: Args) -> dict[str, Any]:
    """Return the arguments of `vector_env` for the game to learn."""
    return {"actions": "base", **({"level": args.level} if args.level else {"initial_states": [END_GAME]})}


def train(args: Args) -> tuple[Policy, Counts]:
    """Train for `total_timesteps` steps; return the policy and the counts."""
    torch.manual_seed(args.seed)
    envs = RecordEpisodeStatistics(
        vector_env(args.num_envs, **rules(args), autoreset_mode=AutoresetMode.SAME_STEP, reward="shaped", gamma=args.gamma)
    )
    policy = Policy(envs.single_observation_space["observation"].shape[0], int(envs.single_action_space.n))
    optimizer = torch.optim.Adam(policy.parameters(), lr=args.learning_rate, eps=1e-5)
    counts = Counts()
    rollout = Rollout(args, envs, counts)
    while counts.steps < args.total_timesteps:
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - counts.steps / args.total_timesteps)
        rollout.collect(policy)
        update(args, policy, optimizer, rollout)
    return policy, counts


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for field in fields(Args):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default, help=" ")
    args = Args(**vars(parser.parse_args()))
    torch.set_num_threads(1)  # the network is too small to benefit from more threads
    policy, counts = train(args)
    print(f"random: {measure(random_policy(), **rules(args))}")
    print(f"after {counts.steps:,} steps: {measure(best(policy.actor), **rules(args))}")
    print(counts)


if __name__ == "__main__":
    main()
