"""PPO (Schulman et al., Proximal policy optimization algorithms, 2017) with GAE (Schulman et al., High-dimensional continuous control
using generalized advantage estimation, ICLR 2016), as in sb3-contrib's MaskablePPO: `train_iteration` is one iteration of it.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from torch.nn.functional import mse_loss

from tetrarchia_agents.network import Network
from tetrarchia_agents.values import GAMMA, shaped_reward
from tetrarchia_env import batch
from tetrarchia_env.constants import ACTIONS
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.envs.sb3 import TetrarchiaVecEnv
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import SIZE
from tetrarchia_train.config import TrainConfig
from tetrarchia_train.distributed import ALONE, ProcessGroup
from tetrarchia_train.held_out import EvalResult, eval_tasks, evaluate
from tetrarchia_train.logs import RolloutStats, Stopwatch, log_eval
from tetrarchia_train.policy import NetworkPolicy, ReusedRolloutBuffer, mixed_precision
from tetrarchia_train.rule_sets import label, with_levels
from tetrarchia_train.variance_reduction import ControlVariate, Floats

FIRST_SEED = 1 << 34  # far from the seeds that agents are measured on


@dataclass
class Run:
    """A run under way: all that changes in it."""

    config: TrainConfig
    env: TetrarchiaVecEnv
    reward: ShapedReward
    model: MaskablePPO
    group: ProcessGroup = ALONE
    watch: Stopwatch = field(default_factory=Stopwatch)
    stats: RolloutStats = field(default_factory=RolloutStats)
    episode_starts: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.episode_starts = np.ones(self.env.num_envs, dtype=bool)
        self.control_variate = ControlVariate(self.env.batched, self.reward, self.config.chance_samples, self.value_fn)

    @property
    def timesteps(self) -> int:
        """Decisions played so far, by all processes."""
        return int(self.model.num_timesteps) * self.group.world_size

    @property
    def progress(self) -> float:
        """From 0 to 1, by steps or by minutes, whichever is further."""
        by_time = self.watch.seconds / 60 / self.config.max_minutes if self.config.max_minutes else 0.0
        return min(1.0, max(self.timesteps / self.config.total_timesteps, by_time))

    @property
    def network(self) -> Network:
        """What is being trained."""
        network: Network = self.model.policy.network
        return network

    def value_fn(self, obs: Floats) -> Floats:
        """The critic's value of each observation."""
        with torch.inference_mode():
            values: Floats = self.network.values(torch.from_numpy(obs)).numpy()
        return values


def train_iteration(run: Run) -> None:
    """One iteration of PPO: a rollout, then some epochs of minibatch updates from it."""
    config, model, began = run.config, run.model, run.watch.seconds
    progress = run.group.broadcast(run.progress)
    learning_rate = linear_schedule(config.learning_rate, config.final_learning_rate, progress)
    model.lr_schedule = lambda _: learning_rate
    model.ent_coef = linear_schedule(config.ent_coef, config.final_ent_coef, progress)
    run.reward.turn_discount = linear_schedule(config.turn_discount, config.final_turn_discount, progress)
    run.reward.begin(run.env.batched.games)  # their potentials by the new discount
    with mixed_precision(config.precision):
        collect_rollouts(run)
        model.train()  # n_epochs of minibatches with the clipped surrogate objective
    model.logger.record("time/fps", config.num_envs * config.n_steps / (run.watch.seconds - began))
    log_episodes(run)


def collect_rollouts(run: Run) -> None:
    """Fill the buffer with `n_steps` of every env by the policy as it is, then compute advantages by GAE.

    As SB3's method of this name, but rewards get the control variate, and a truncated game pays what a lost one does.
    """
    env, batched, model, buffer = run.env, run.env.batched, run.model, run.model.rollout_buffer
    model.policy.set_training_mode(False)
    buffer.reset()
    for _ in range(model.n_steps):
        obs, masks, before = batched.obs, env.action_masks(), batched.games.copy()
        with torch.no_grad():
            actions, values, log_probs = model.policy(torch.from_numpy(obs), action_masks=masks)
        env.step(actions.numpy())
        rewards = batched.episodes["reward"] + run.control_variate.corrections(before, actions.numpy())
        buffer.add(obs, actions.numpy(), rewards, run.episode_starts, values, log_probs, action_masks=masks)
        run.episode_starts = batched.episodes["ended"] != 0
        run.stats.add_step(before, actions.numpy(), masks, batched)
        model.num_timesteps += env.num_envs
    with torch.no_grad():
        last_values = model.policy.predict_values(torch.from_numpy(batched.obs))
    buffer.compute_returns_and_advantage(last_values, run.episode_starts)


def linear_schedule(first: float, last: float, progress: float) -> float:
    """From first to last as the run goes on from 0 to 1."""
    return first + (last - first) * progress


def log_episodes(run: Run) -> None:
    """What the episodes that ended since the last call were like."""
    stats, run.stats = run.stats, RolloutStats()
    stats.log(run.model.logger, [label(rules) for rules in run.config.rules])
    run.model.logger.dump(run.timesteps)


def pretrain_critic(run: Run, tell: Callable[[float], None]) -> None:
    """Roll out the policy as it is and fit the critic alone, so that a cloned policy is not spoiled."""
    optimizer = torch.optim.Adam(run.network.value_parameters(), lr=run.config.critic_learning_rate)
    run.group.average_gradients(optimizer)
    run.network.train_value_only(True)
    for number in range(run.config.critic_rollouts):
        collect_rollouts(run)
        for _ in range(run.config.n_epochs):
            for data in run.model.rollout_buffer.get(run.model.batch_size):
                optimizer.zero_grad()
                mse_loss(run.network(data.observations)[1], data.returns).backward()
                optimizer.step()
        tell((number + 1) / run.config.critic_rollouts)
    run.network.train_value_only(False)
    run.stats, run.model.num_timesteps = RolloutStats(), 0


def evaluate_run(run: Run) -> list[EvalResult]:
    """Win rates on held-out seeds, logged too."""
    config = run.config
    results = evaluate(run.network, eval_tasks(config.eval_levels, config.rules), config.n_eval_episodes)
    log_eval(run.model.logger, results)
    run.model.logger.dump(run.timesteps)
    return results


def new_run(config: TrainConfig, network: Network | None, logger: Logger, group: ProcessGroup = ALONE) -> Run:
    """A run at its beginning, with random weights or those given."""
    part = config.part(group.rank)
    reward = training_reward(config)
    env = make_env(part, reward)
    model = make_model(part, env)
    if network is not None:
        model.policy.network.load_state_dict(network.state_dict())
    group.sync_parameters(model.policy.network)
    run = Run(config, env, reward, model, group)
    env.seed(FIRST_SEED + (part.seed << 20))  # SB3 has given it the seed of the policy
    env.reset()
    connect(run, logger)
    return run


def training_reward(config: TrainConfig) -> ShapedReward:
    """As it is at the beginning of a run."""
    return shaped_reward(config.turn_discount, config.shaping_coef)


def make_env(config: TrainConfig, reward: ShapedReward) -> TetrarchiaVecEnv:
    """The games, shared out among the sets of rules."""
    _check_memory(config)
    rules = [with_levels(one, config.drawn_levels) for one in config.rules]
    return TetrarchiaVecEnv(config.num_envs, rules=rules, reward=reward, actions=config.actions, copy=False)


def _check_memory(config: TrainConfig) -> None:
    """That a rollout fits into this machine, before it is asked for."""
    needed = config.num_envs * (config.n_steps * (4 * SIZE + ACTIONS) + 4 * (4 * SIZE + batch.GAME.itemsize))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else inf
    if needed > memory:
        raise TetrarchiaError(f"num_envs {config.num_envs} x n_steps {config.n_steps} needs {needed:.1e} bytes, which this machine has not")


def make_model(config: TrainConfig, env: TetrarchiaVecEnv) -> MaskablePPO:
    """SB3's PPO with our network and buffer."""
    return MaskablePPO(
        NetworkPolicy,
        env,
        learning_rate=config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.n_epochs,
        gamma=GAMMA,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.ent_coef,
        vf_coef=config.vf_coef,
        max_grad_norm=config.max_grad_norm,
        rollout_buffer_class=ReusedRolloutBuffer,
        policy_kwargs={"network_config": config.network_config},
        seed=config.seed,
        device="cpu",
    )


def connect(run: Run, logger: Logger) -> None:
    """What a model needs after it was made or loaded."""
    run.model.set_logger(logger)
    run.group.average_gradients(run.model.policy.optimizer)
