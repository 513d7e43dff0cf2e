"""AgileRL's PPO on `vector_env` with the mask in the info, where AgileRL reads it. Takes less than two minutes.

One policy plays all four Emperors. If the mask were in the observation (our default), AgileRL would treat it as an input of the network
and choose illegal actions. Evolutionary training (`train_on_policy` with mutations) works with the same environment.
"""

import argparse
from typing import Any

import numpy as np
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts
from end_game import END_GAME, Counts, Policy, measure, random_policy
from gymnasium.vector import AutoresetMode, VectorWrapper

from tetrarchia_env import vector_env

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value
NETWORK = {"encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [64]}}


class Counted(VectorWrapper):
    """Vector wrapper that sums the rewards and counts the illegal actions."""

    def __init__(self, env: Any, counts: Counts) -> None:
        super().__init__(env)
        self.counts = counts

    def step(self, actions: Any) -> Any:
        """Play one action in each game."""
        result = self.env.step(actions)
        self.counts.given += result[1].sum()
        self.counts.illegal += int(result[4]["illegal_action"].sum())
        return result


def train(steps: int, num_envs: int, seed: int, counts: Counts) -> PPO:
    """Alternate rollouts and updates, as AgileRL's `train_on_policy` does for each agent of its population."""
    rules = {"initial_states": [END_GAME], "reward": "shaped", "gamma": GAMMA}
    env = Counted(vector_env(num_envs, mask="info", actions="base", autoreset_mode=AutoresetMode.SAME_STEP, **rules), counts)
    agent = PPO(
        env.single_observation_space,
        env.single_action_space,
        net_config=NETWORK,
        share_encoders=False,
        num_envs=num_envs,
        learn_step=32 * num_envs,
        batch_size=512,
        update_epochs=8,
        lr=1e-3,
        gamma=GAMMA,
        gae_lambda=1.0,
        ent_coef=0.03,
        target_kl=0.02,  # with AgileRL's defaults of the last three options only half of the runs learn
    )
    obs, info = env.reset(seed=seed)
    done, scores = [False] * num_envs, [0.0] * num_envs
    while counts.steps < steps:
        _, obs, done, scores, info = collect_rollouts(agent, env, last_obs=obs, last_done=done, last_scores=scores, last_info=info)
        mend_advantages(agent, obs, info, done)
        count(agent, counts)
        agent.learn()
    return agent


def mend_advantages(agent: PPO, obs: Any, info: dict[str, Any], done: Any) -> None:
    """Recompute the advantages, because AgileRL 2.58 applies the end-of-game flags one step late.

    Without this, the final reward would reach only the last action, which would also be credited with the value of the next game.
    """
    ends = agent.rollout_buffer.buffer["dones"]
    ends[1:] = ends[:-1].clone()
    _, _, _, values = agent.get_action(obs, action_mask=info["action_mask"])
    agent.rollout_buffer.compute_returns_and_advantages(values, done)


def count(agent: PPO, counts: Counts) -> None:
    """Count the steps and rewards that the learner receives."""
    kept = agent.rollout_buffer.buffer
    counts.steps += kept["rewards"].numel()
    counts.learned += float(kept["rewards"].sum())
    counts.fake += int((~kept["action_masks"].bool().any(dim=-1)).sum())


def policy_of(agent: PPO) -> Policy:
    """Return a policy that samples actions as in training."""
    width = int(agent.action_space.n)
    return lambda obs, masks, agents: agent.get_action(obs, action_mask=masks[:, :width])[0]


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timesteps", type=int, default=60_000, help="decisions to learn from")
    parser.add_argument("--num-envs", type=int, default=64, help="played side by side")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    np.random.seed(options.seed)  # noqa: NPY002 (AgileRL shuffles with the global generator)
    torch.set_num_threads(1)  # the network is too small to benefit from more threads
    counts = Counts()
    agent = train(options.timesteps, options.num_envs, options.seed, counts)
    print(f"random: {measure(random_policy())}")
    print(f"after {counts.steps:,} steps: {measure(policy_of(agent))}")
    print(counts)


if __name__ == "__main__":
    main()
