"""Tianshou's PPO on PettingZoo's AEC API, with one policy per Emperor. Takes less than two minutes.

Tianshou passes to each agent only the steps at which it acted, so an agent misses the rewards of other agents' actions: at the end of a
game, only the last acting agent learns the result. `OwnTransitions` corrects this.
"""

import argparse
from typing import Any

import numpy as np
import torch
from end_game import LEVEL, Counts, FromEndGame, best, measure, random_policy
from numpy.typing import NDArray
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOnPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import ActionReprNet
from torch import Tensor, nn

from tetrarchia_env import raw_env

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Return a small multilayer perceptron."""
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


class MaskedActor(ActionReprNet[Any]):
    """Actor that applies the action mask, because Tianshou's PPO does not."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.logits = network(inputs, actions)

    def forward(self, obs: Batch, state: Any = None, info: Any = None) -> tuple[Tensor, Any]:
        """Return the logits, very low for illegal actions."""
        legal = torch.as_tensor(obs.mask, dtype=torch.bool)
        return self.logits(torch.as_tensor(obs.obs)).masked_fill(~legal, -1e8), state


class Critic(nn.Module):
    """Value network."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.value = network(inputs, 1)

    def forward(self, obs: Batch) -> Tensor:
        """Return one value per row."""
        return self.value(torch.as_tensor(obs.obs))


def own_steps(batch: Batch, agent: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the steps at which an agent acted, and for each the last step before it acts again or its game ends."""
    over = np.flatnonzero(batch.terminated | batch.truncated)
    acted = np.flatnonzero(batch.obs.agent_id == agent)
    end_of_game = over[np.searchsorted(over, acted)]
    return acted, np.minimum(np.append(acted[1:], len(batch)) - 1, end_of_game)


class OwnTransitions(MultiAgentOnPolicyAlgorithm):
    """Multi-agent algorithm in which an agent's transition has all rewards until it acts again, and its own next observation."""

    def __init__(self, counts: Counts, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.counts = counts

    def _preprocess_batch(self, batch: Any, buffer: Any, indices: NDArray[np.int64]) -> Any:
        return Batch({agent: self._of(agent, batch, buffer, indices) for agent in self._dispatcher.algorithms})

    def _of(self, agent: str, batch: Any, buffer: Any, indices: NDArray[np.int64]) -> Any:
        acted, until = own_steps(batch, agent)
        if not len(acted):
            return Batch()  # the agent did not act in any of these games
        own, sums = batch[acted], np.append(0.0, batch.rew[:, self._dispatcher.agent_idx[agent]].cumsum())
        own.rew = sums[until + 1] - sums[acted]
        own.obs_next, own.terminated, own.truncated = batch.obs_next[until], batch.terminated[until], batch.truncated[until]
        self._count(own)
        return self.get_algorithm(agent)._preprocess_batch(own, buffer, indices[until])

    def _count(self, own: Any) -> None:
        chosen = own.obs.mask[np.arange(len(own)), own.act]
        self.counts.steps += len(own)
        self.counts.illegal += int((~chosen).sum())
        self.counts.fake += int((~own.obs.mask.any(axis=1)).sum())
        self.counts.learned += own.rew.sum()


class Counted(FromEndGame):
    """Wrapper that sums the rewards of agents that have acted in the game; other agents have no transition to learn from."""

    def __init__(self, env: Any, counts: Counts) -> None:
        super().__init__(env)
        self.counts, self.acted = counts, set[str]()

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game."""
        super().reset(seed, options)
        self.acted = set()

    def step(self, action: int | None) -> None:
        """Play one action."""
        self.acted.add(self.agent_selection)
        super().step(action)
        self.counts.given += sum(self.rewards[agent] for agent in self.acted)


def learner(env: PettingZooEnv) -> PPO:
    """Return the PPO learner of one agent."""
    inputs, actions = env.observation_space["observation"].shape[0], int(env.action_space.n)
    policy = DiscreteActorPolicy(actor=MaskedActor(inputs, actions), action_space=env.action_space)
    optim = AdamOptimizerFactory(lr=1e-3)
    return PPO(policy=policy, critic=Critic(inputs), optim=optim, gamma=GAMMA, ent_coef=0.01, max_grad_norm=0.5, max_batchsize=4096)


def train(steps: int, num_envs: int, seed: int, counts: Counts) -> OwnTransitions:
    """Train with Tianshou's trainer on complete games, so that every agent's last step has its reward."""

    def make() -> PettingZooEnv:
        return PettingZooEnv(Counted(raw_env(level=LEVEL, reward="shaped", gamma=GAMMA), counts))

    env, envs = make(), DummyVectorEnv([make] * num_envs)
    algorithm = OwnTransitions(counts, algorithms=[learner(env) for _ in env.agents], env=env)
    collector = Collector[Any](algorithm, envs, VectorReplayBuffer(1000 * num_envs, num_envs))
    envs.seed(seed)
    params = OnPolicyTrainerParams(
        training_collector=collector,
        max_epochs=1,
        epoch_num_steps=steps,
        collection_step_num_env_steps=None,
        collection_step_num_episodes=2 * num_envs,
        batch_size=256,
        update_step_num_repetitions=8,
        multi_agent_return_reduction=lambda returns: returns.mean(axis=1),
        verbose=False,
        show_progress=False,
    )
    algorithm.run_training(params)
    return algorithm


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--timesteps", type=int, default=30_000, help="decisions to learn from")
    parser.add_argument("--num-envs", type=int, default=8, help="played side by side")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    np.random.seed(options.seed)  # noqa: NPY002 (Tianshou shuffles with the global generator)
    torch.set_num_threads(1)  # the networks are too small to benefit from more threads
    counts = Counts()
    algorithm = train(options.timesteps, options.num_envs, options.seed, counts)
    actors = [one.policy.actor.logits for one in algorithm._dispatcher.algorithms.values()]
    print(f"random: {measure(random_policy())}")
    print(f"after {counts.steps:,} steps: {measure(best(*actors))}")
    print(counts)


if __name__ == "__main__":
    main()
