"""PPO in plain PyTorch, as CleanRL writes it, on `vector_env`. Takes less than two minutes.

The names are CleanRL's. What differs from its `ppo.py`: the mask of the legal actions, games that end and restart in the same step
(with NEXT_STEP, Gymnasium's default, the step between two games would be a fake transition), and no discount. PPO: Schulman et al. 2017
(arXiv:1707.06347); masks: Huang and Ontañón 2020 (arXiv:2006.14171). Whole games: `--level 5300 --total-timesteps 20000000`.
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
    """The options, by CleanRL's names."""

    level: str = ""  # whole games of this level; if not given, the end-game
    total_timesteps: int = 60_000
    num_envs: int = 64
    num_steps: int = 32
    num_minibatches: int = 4
    update_epochs: int = 8
    learning_rate: float = 1e-3
    gamma: float = 1.0  # a win is a win, after however many decisions; the shaped reward is given the same
    gae_lambda: float = 0.95
    clip_coef: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    seed: int = 1


class Policy(nn.Module):
    """Actor and critic, each a small network of its own."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, actions))
        self.critic = nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
        nn.init.orthogonal_(self.actor[-1].weight, 0.01)

    def distribution(self, obs: Tensor, masks: Tensor) -> Categorical:
        """Chances of the legal actions; an illegal one has none, and gets no gradient."""
        return Categorical(logits=self.actor(obs).masked_fill(~masks, -1e8))

    def value(self, obs: Tensor) -> Tensor:
        """What is expected from here on."""
        return self.critic(obs).squeeze(-1)


class Rollout:
    """Return `num_steps` steps of all environments, and the state to continue from."""

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
        """Play on. The next observation may be another Emperor's: one policy plays all four, so it is the next one all the same."""
        for t in range(self.args.num_steps):
            self.obs[t] = torch.from_numpy(self.next["observation"])
            self.masks[t] = torch.from_numpy(self.next["action_mask"].astype(bool))
            chances = policy.distribution(self.obs[t], self.masks[t])
            self.actions[t] = chances.sample()
            self.logprobs[t], self.values[t] = chances.log_prob(self.actions[t]), policy.value(self.obs[t])
            self.next, rewards, terminated, truncated, infos = self.envs.step(self.actions[t].numpy())
            self._count(t, rewards, terminated | truncated, infos)
            self.rewards[t], self.ends[t] = torch.from_numpy(rewards), torch.from_numpy(terminated | truncated)
            for i in np.flatnonzero(truncated):  # not lost and not won: what was still to be expected is not 0
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
        """Generalized advantage estimation (Schulman et al. 2015, arXiv:1506.02438); a game's end cuts it."""
        found, last = torch.zeros_like(self.rewards), torch.zeros(self.args.num_envs)
        next_value = policy.value(torch.from_numpy(self.next["observation"]))
        for t in reversed(range(self.args.num_steps)):
            goes_on = 1 - self.ends[t]
            delta = self.rewards[t] + self.args.gamma * next_value * goes_on - self.values[t]
            found[t] = last = delta + self.args.gamma * self.args.gae_lambda * goes_on * last
            next_value = self.values[t]
        return found


def loss(args: Args, policy: Policy, batch: dict[str, Tensor], rows: Tensor) -> Tensor:
    """PPO's, for some rows of the rollout."""
    obs, masks, actions = batch["obs"][rows], batch["masks"][rows], batch["actions"][rows]
    chances, advantages = policy.distribution(obs, masks), batch["advantages"][rows]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    ratio = (chances.log_prob(actions) - batch["logprobs"][rows]).exp()
    gain = torch.min(ratio * advantages, ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef) * advantages).mean()
    error = 0.5 * (policy.value(obs) - batch["returns"][rows]).square().mean()
    return args.vf_coef * error - gain - args.ent_coef * chances.entropy().mean()


def update(args: Args, policy: Policy, optimizer: torch.optim.Optimizer, rollout: Rollout) -> None:
    """Some epochs over one rollout."""
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
    """The game to learn."""
    return {"actions": "base", **({"level": args.level} if args.level else {"initial_states": [END_GAME]})}


def train(args: Args) -> tuple[Policy, Counts]:
    """The whole run."""
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
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    for field in fields(Args):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default, help=" ")
    args = Args(**vars(parser.parse_args()))
    torch.set_num_threads(1)  # the network is small: more threads only wait for each other
    policy, counts = train(args)
    print(f"random: {measure(random_policy(), **rules(args))}")
    print(f"after {counts.steps:,} steps: {measure(best(policy.actor), **rules(args))}")
    print(counts)


if __name__ == "__main__":
    main()
