"""Proximal policy optimization with invalid action masking: `Learner.train_iteration` is one iteration.

Schulman et al., Proximal policy optimization algorithms (2017); Schulman et al., High-dimensional continuous control using generalized
advantage estimation (ICLR 2016); Huang and Ontanon, A closer look at invalid action masking in policy gradient algorithms (2022).
Rollouts, advantages and updates are bit-identical to those of sb3-contrib's MaskablePPO, except for the control variate.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy, mse_loss
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from tetrarchia_agents import make_agent
from tetrarchia_agents.devices import find_device
from tetrarchia_agents.network import Network, log_probabilities, make_network
from tetrarchia_agents.values import GAMMA, WIN, shaped_reward
from tetrarchia_env import batch
from tetrarchia_env.envs.batched_games import BatchedGames
from tetrarchia_env.envs.rewards import BordersReward, ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import SIZE
from tetrarchia_train.config import TrainConfig, rules_label
from tetrarchia_train.curriculum import Curriculum
from tetrarchia_train.distributed import broadcast, data_parallel, rank
from tetrarchia_train.metrics import RolloutStats
from tetrarchia_train.variance_reduction import ControlVariate, Floats

FIRST_SEED = 1 << 34  # different from the seeds of evaluations
ADAM_EPS = 1e-5
ADVANTAGE_EPS = 1e-8


class Learner:
    """A PPO learner: the games, the network, the optimizer and the counters of a training run in this process.

    Args:
        config: The configuration of the run over all processes; this one takes its share of environments and minibatches.
        network: Initial weights; default: random ones.
        seconds: Time already spent on a resumed run.
    """

    def __init__(self, config: TrainConfig, network: Network | None = None, seconds: float = 0.0) -> None:
        self.config, self.local = config, config.for_rank(rank())
        self._start = time.monotonic() - seconds
        self.num_timesteps = 0  # of this process
        self.reward = training_reward(config)
        self.games = make_games(self.local, self.reward)
        self.curriculum = Curriculum(config.curriculum_lists)
        self.games.begin(FIRST_SEED + (self.local.seed << 20) + np.arange(self.local.num_envs, dtype=np.uint64))
        torch.manual_seed(self.local.seed)
        self.network = make_network(config.network_config).to(find_device(config.network_device))
        self.network.load_state_dict(broadcast((network or self.network).state_dict()))
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, eps=ADAM_EPS, fused=True)
        self.average = AveragedModel(self.network, multi_avg_fn=get_ema_multi_avg_fn(config.ema_decay)) if config.ema_decay else None
        self.control_variate = ControlVariate(self.games, self.reward, config.chance_samples, self.value_fn)
        inputs = self.network.inputs(self.games.games[:1], self.games.obs[:1]).shape[1]
        self.rollout = Rollout.empty(self.local.n_steps, self.local.num_envs, inputs, config.network_config.actions)
        self.episode_starts = np.ones(self.local.num_envs, dtype=bool)
        self.stats = RolloutStats()

    @property
    def policy(self) -> Network:
        """The network to evaluate and to publish: the moving average of the weights, if there is one."""
        return self.network if self.average is None else cast(Network, self.average.module)

    @property
    def seconds(self) -> float:
        """Seconds of training, without the time between a stop and a resume."""
        return time.monotonic() - self._start

    @property
    def timesteps(self) -> int:
        """Decisions played so far by all processes."""
        return self.num_timesteps * self.config.processes

    @property
    def progress(self) -> float:
        """Fraction of the run that is done, by timesteps or by time, whichever is larger."""
        return self.config.progress(self.timesteps, self.seconds)

    def train_iteration(self) -> dict[str, float]:
        """Run one iteration of PPO and return its scalars by TensorBoard tag."""
        config, start, progress = self.config, self.seconds, broadcast(self.progress)
        learning_rate = linear_schedule(config.learning_rate, config.final_learning_rate, progress)
        ent_coef = linear_schedule(config.ent_coef, config.final_ent_coef, progress)
        self.reward.turn_discount = linear_schedule(config.turn_discount, config.final_turn_discount, progress)
        if isinstance(self.reward, BordersReward):
            border_progress = min(progress / config.border_fraction, 1.0) if config.border_fraction else 1.0
            self.reward.border = linear_schedule(config.border_coef, config.final_border_coef, border_progress)
        else:
            self.reward.begin(self.games.games)  # potentials depend on the discount
        with mixed_precision(config.precision, self.network.device.type):
            self.collect_rollout()
            self.compute_advantages()
            losses = self.update(learning_rate, ent_coef)
        stats, self.stats = self.stats, RolloutStats()
        self.curriculum.add_episodes(stats.episodes)
        self.curriculum.apply(self.games)
        return {
            **stats.scalars([rules_label(rules) for rules in config.rules]),
            **losses,
            "losses/explained_variance": self.rollout.explained_variance(),
            "charts/learning_rate": learning_rate,
            "charts/SPS": config.num_envs * config.n_steps / (self.seconds - start),
        }

    def collect_rollout(self) -> None:
        """Play `n_steps` in every environment with the current policy. A truncated game is rewarded like a lost one."""
        games, rollout = self.games, self.rollout
        for step in range(self.local.n_steps):
            obs, masks, before = self.network.inputs(games.games, games.obs), games.masks.astype(bool), games.games.copy()
            views = games.local.select(np.arange(len(before))) if games.local else None
            actions, log_probs, values = self.act(obs, masks)
            rollout.obs[step], rollout.masks[step], rollout.actions[step] = obs, masks, actions
            rollout.log_probs[step], rollout.values[step] = log_probs, values
            rollout.episode_starts[step] = self.episode_starts

            games.advance(actions)
            after = games.games.copy()
            rollout.turn_ends[step] = after["turn"] != before["turn"]
            games.begin_next(np.flatnonzero(games.episodes["ended"]))
            games.observe()
            rollout.rewards[step] = games.episodes["reward"] + self.control_variate.corrections(before, actions, after, views)
            self.episode_starts = games.episodes["ended"] != 0
            self.stats.add_step(before, actions, masks, games)
            self.num_timesteps += self.local.num_envs

    def act(self, obs: Floats, masks: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Sample actions from the policy; return them with their log-probabilities and the critic's values."""
        with torch.no_grad():
            logits, values = self.network(self.network.tensor(obs))
            log_probs = log_probabilities(logits, self.network.tensor(masks))
            actions = sample_actions(log_probs)
        log_prob = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
        return actions.cpu().numpy(), log_prob.cpu().numpy(), values.cpu().numpy()

    def compute_advantages(self) -> None:
        """Compute advantages by generalized advantage estimation, and returns."""
        config, rollout = self.local, self.rollout
        rollout.advantages[:] = self.generalized_advantages(config.gae_lambda)
        if config.value_lambda is None:
            np.add(rollout.advantages, rollout.values, out=rollout.returns)
        else:
            np.add(self.generalized_advantages(config.value_lambda), rollout.values, out=rollout.returns)

    def generalized_advantages(self, gae_lambda: float) -> Floats:
        """Return the advantages [steps, environments] for a lambda, which applies to each decision or to the last one of each turn."""
        rollout, gae = self.rollout, np.float32(0)
        with torch.no_grad():
            next_values = self.network.values(self.network.tensor(self.network.inputs(self.games.games, self.games.obs))).cpu().numpy()
        next_non_terminal = 1.0 - self.episode_starts.astype(np.float32)
        advantages = np.empty_like(rollout.advantages)
        for step in reversed(range(self.local.n_steps)):
            delta = rollout.rewards[step] + GAMMA * next_values * next_non_terminal - rollout.values[step]
            decay: Any = (
                np.where(rollout.turn_ends[step], np.float32(gae_lambda), np.float32(1)) if self.local.lambda_per == "turn" else gae_lambda
            )
            gae = delta + GAMMA * decay * next_non_terminal * gae
            advantages[step] = gae
            next_values, next_non_terminal = rollout.values[step], 1.0 - rollout.episode_starts[step]
        return advantages

    def value_loss(self, values: Tensor, returns: Tensor) -> Tensor:
        """Return the loss of the critic: squared error, or for a separate critic the cross-entropy of the discounted outcome."""
        if self.config.critic != "separate":
            return mse_loss(returns, values)
        return binary_cross_entropy(values / WIN, (returns / WIN).clamp(0, 1))

    def update(self, learning_rate: float, ent_coef: float) -> dict[str, float]:
        """Run `n_epochs` of minibatch updates with the clipped surrogate objective; return the mean losses by TensorBoard tag."""
        config, history = self.local, []
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        for _ in range(config.n_epochs):
            for data in self.rollout.minibatches(config.minibatch_size, self.network.device):
                logits, values = self.parallel_network(data.obs)
                log_probs = log_probabilities(logits, data.masks)
                entropy = -(log_probs.exp() * log_probs.masked_fill(~data.masks, 0.0)).sum(dim=1)  # avoid 0 * -inf = NaN
                log_prob = log_probs.gather(1, data.actions.unsqueeze(1)).squeeze(1)

                advantages = (data.advantages - data.advantages.mean()) / (data.advantages.std() + ADVANTAGE_EPS)
                log_ratio = log_prob - data.log_probs
                ratio = log_ratio.exp()
                clipped = ratio.clamp(1 - config.clip_range, 1 + config.clip_range)
                policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
                value_loss = self.value_loss(values, data.returns)
                entropy_loss = -entropy.mean()
                loss = policy_loss + ent_coef * entropy_loss + config.vf_coef * value_loss

                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), config.max_grad_norm)
                self.optimizer.step()
                if self.average is not None:
                    self.average.update_parameters(self.network)
                with torch.no_grad():
                    approx_kl, clip_fraction = (ratio - 1 - log_ratio).mean(), ((ratio - 1).abs() > config.clip_range).float().mean()
                history.append([one.item() for one in (policy_loss, value_loss, entropy_loss, approx_kl, clip_fraction)])
        names = ("policy_loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction")
        return {f"losses/{name}": float(mean) for name, mean in zip(names, np.mean(history, axis=0), strict=True)}

    @cached_property
    def parallel_network(self) -> nn.Module:
        """The network, whose gradients are averaged over all processes."""
        return data_parallel(self.network, all_used=self.config.network_config.uses_all_weights)

    def pretrain_critic(self, on_progress: Callable[[float], None]) -> None:
        """Fit only the critic on rollouts of the initial policy, so that its first values do not degrade a cloned policy.

        Args:
            on_progress: Called with the progress, 0 to 1.
        """
        config = self.local
        optimizer = torch.optim.Adam(self.network.value_parameters(), lr=config.critic_learning_rate)
        self.network.train_value_only(True)
        network = data_parallel(self.network, all_used=config.network_config.uses_all_weights)
        for number in range(config.critic_rollouts):
            self.collect_rollout()
            self.compute_advantages()
            for _ in range(config.n_epochs):
                for data in self.rollout.minibatches(config.minibatch_size, self.network.device):
                    optimizer.zero_grad()
                    self.value_loss(network(data.obs)[1], data.returns).backward()
                    optimizer.step()
            on_progress((number + 1) / config.critic_rollouts)
        self.network.train_value_only(False)
        self.stats, self.num_timesteps = RolloutStats(), 0

    def value_fn(self, games: batch.Games, obs: Floats) -> Floats:
        """Return the critic's value of each position, of which these are the observations."""
        with torch.inference_mode():
            values: Floats = self.network.values(self.network.tensor(self.network.inputs(games, obs))).cpu().numpy()
        return values


@dataclass(frozen=True)
class Minibatch:
    """A minibatch of decisions of a rollout."""

    obs: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor


@dataclass(frozen=True)
class Rollout:
    """The decisions of a rollout in arrays [steps, environments, ...], which the next rollout reuses."""

    obs: NDArray[np.float32]
    masks: NDArray[np.bool_]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    values: NDArray[np.float32]
    rewards: NDArray[np.float32]
    episode_starts: NDArray[np.float32]
    turn_ends: NDArray[np.bool_]
    advantages: NDArray[np.float32]
    returns: NDArray[np.float32]

    @classmethod
    def empty(cls, n_steps: int, num_envs: int, inputs: int, actions: int) -> "Rollout":
        """Return a rollout with uninitialized values."""
        shape = (n_steps, num_envs)
        log_probs, values, rewards, episode_starts, advantages, returns = np.empty((6, *shape), dtype=np.float32)
        return cls(
            obs=np.empty((*shape, inputs), np.float32),
            masks=np.empty((*shape, actions), np.bool_),
            actions=np.empty(shape, np.int64),
            log_probs=log_probs,
            values=values,
            rewards=rewards,
            episode_starts=episode_starts,
            turn_ends=np.empty(shape, np.bool_),
            advantages=advantages,
            returns=returns,
        )

    def minibatches(self, size: int, device: torch.device | str = "cpu") -> Iterator[Minibatch]:
        """Yield all decisions in random order, `size` at a time, on a device."""
        arrays = (self.obs, self.masks, self.actions, self.log_probs, self.advantages, self.returns)
        flat = [torch.from_numpy(array).flatten(0, 1) for array in arrays]
        for rows in torch.randperm(self.actions.size).split(size):
            yield Minibatch(*(array.index_select(0, rows).to(device) for array in flat))

    def explained_variance(self) -> float:
        """Return the fraction of the returns' variance that the values explain; NaN if the returns are constant."""
        variance = np.var(self.returns)
        return float(1 - np.var(self.returns - self.values) / variance) if variance else float("nan")


def make_games(config: TrainConfig, reward: ShapedReward | BordersReward) -> BatchedGames:
    """Create the games of one process, divided among the rule sets.

    Raises:
        TetrarchiaError: If a rollout does not fit into the memory of this machine, or a partner cannot be made.
    """
    actions = config.network_config.actions
    local = config.network_config.local
    inputs = local.size + SIZE * (config.critic == "central")
    needed = config.num_envs * (config.n_steps * (4 * inputs + actions) + 4 * (4 * local.size + batch.GAME.itemsize))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else inf
    if needed > memory:
        raise TetrarchiaError(f"num_envs {config.num_envs} x n_steps {config.n_steps} needs {needed:.1e} bytes, more than this machine has")
    options, partners = config.game_options, [make_agent(name) for name in config.partner_list]
    return BatchedGames(
        config.num_envs, options, reward=reward, actions=config.actions, local=local, seat=config.seats or None, partners=partners or None
    )


def training_reward(config: TrainConfig) -> ShapedReward | BordersReward:
    """Return the reward at the beginning of a run."""
    if config.reward == "borders":
        return BordersReward(config.turn_discount, border=config.border_coef)
    return shaped_reward(config.turn_discount, config.shaping_coef)


def linear_schedule(first: float, last: float, progress: float) -> float:
    """Interpolate between two values by the progress of the run, 0 to 1."""
    return first + (last - first) * progress


def find_precision(precision: str, device_type: str = "cpu") -> str:
    """Return the precision of matrix products; "auto" is bfloat16 on processors that support it, elsewhere float32."""
    if precision != "auto":
        return precision
    if device_type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    is_supported = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)  # PyTorch has no public function
    return "bfloat16" if is_supported() else "float32"


def mixed_precision(precision: str, device_type: str = "cpu") -> AbstractContextManager[None]:
    """Return a context in which matrix products use bfloat16, if `find_precision` says so; sums and weights stay in float32.

    Micikevicius et al., Mixed precision training (ICLR 2018); Kalamkar et al., A study of BFLOAT16 for deep learning training (2019).
    """
    context: AbstractContextManager[None] = torch.autocast(
        device_type,
        torch.bfloat16,
        enabled=find_precision(precision, device_type) == "bfloat16",
        cache_enabled=False,  # cached weights would outlive their update
    )
    return context


def sample_actions(log_probs: Tensor) -> Tensor:
    """Sample an action per row by inverse transform sampling, which is several times faster than `torch.multinomial`.

    Random numbers are drawn on the CPU, whose generator is saved with the run.
    """
    sums = log_probs.double().exp().cumsum(dim=1)
    points = torch.rand(len(sums), 1, dtype=torch.float64).to(sums.device) * sums[:, -1:]
    return (sums > points).to(torch.uint8).argmax(dim=1)
