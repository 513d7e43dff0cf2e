"""PPO with action masks on RLlib's new API stack, with one shared policy or one per Emperor. Takes less than two minutes.

RLlib's PettingZooEnv passes observations only to the acting agent, so there are no fake transitions. RLlib accumulates the rewards of a
waiting agent until it acts again. The RLModule contains this project's network. A larger run with remote runners:
`python examples/libraries/rllib_ppo.py --policies four --num-env-runners 2 --level 5300 --timesteps 5000000 --network gnn`.
"""

import argparse
from pathlib import Path
from typing import Any

import ray
import torch
from end_game import Counts, best, measure, random_policy
from four_borders import FOUR_BORDERS, four_borders_env
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from tetrarchia_agents.network import make_network
from tetrarchia_agents.network_config import KINDS, NetworkConfig
from tetrarchia_env import env
from tetrarchia_env.constants import ACTIONS, EMPERORS

GAMMA = 1.0  # no discount, so that long games count as much as short ones; the shaped reward must use the same value
SHARED = "shared"


class Ledger(BaseWrapper):
    """Wrapper that records the acting agent and reward of each step, for comparison with the data that RLlib learns from."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game and clear the records."""
        super().reset(seed, options)
        self.entries: list[tuple[str, float]] = []

    def step(self, action: int | None) -> None:
        """Play one action; `None` removes an agent whose game is over."""
        agent = self.agent_selection
        super().step(action)
        if action is not None:
            self.entries.append((agent, self.unwrapped.rewards[agent]))

    def given(self) -> float:
        """Return the sum of the rewards of all agents, each from its first decision on."""
        agents = [agent for agent, _ in self.entries]
        return sum(reward for agent in set(agents) for _, reward in self.entries[agents.index(agent) :])


class MaskedNetwork(TorchRLModule, ValueFunctionAPI):
    """RLModule with the network of this project; illegal actions get a logit so low that they are never sampled."""

    def setup(self) -> None:
        """Create the network; RLlib adds its own options to `model_config`, so ours have a separate key."""
        self.network = make_network(NetworkConfig(**self.model_config["network"]))

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        obs = batch[Columns.OBS]
        logits, _ = self.network(obs["observation"])
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(obs["action_mask"] == 0, -1e8)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the value estimate of each row."""
        return self.network.values(batch[Columns.OBS]["observation"])


def make_env(config: dict[str, Any]) -> PettingZooEnv:
    """Return the environment; called in every runner."""
    level = config.get("level")
    return PettingZooEnv(Ledger(env(level=level, reward="shaped", gamma=GAMMA) if level else four_borders_env()))


def count(env_runner: Any, metrics_logger: Any, samples: list[Any], **_: Any) -> None:
    """Count the steps and rewards of one complete game that a runner sends to the learner."""
    ledger = env_runner.env.envs[0].unwrapped.env
    agents = [agent for game in samples for agent in game.agent_episodes.values()]
    learned_from = [(agent.get_observations(t), agent.get_actions(t)) for agent in agents for t in range(len(agent))]
    counted = {
        "steps": len(learned_from),
        "illegal": sum(not obs["action_mask"][action] for obs, action in learned_from),
        "fake": len(learned_from) - len(ledger.entries),
        "given": ledger.given(),
        "learned": sum(agent.get_return() for agent in agents),
    }
    for name, value in counted.items():
        metrics_logger.log_value(("counts", name), value, reduce="lifetime_sum")


def configure(options: argparse.Namespace) -> PPOConfig:
    """Return the configuration of PPO (Schulman et al. 2017, arXiv:1707.06347); the module applies the masks."""
    policies = list(EMPERORS) if options.policies == "four" else [SHARED]
    network = {"kind": options.network, "actions": ACTIONS, "hidden_dim": options.hidden_dim}
    return (
        PPOConfig()
        .environment("tetrarchia", env_config={"level": options.level})
        # Complete games, one at a time per runner: RLlib drops the last step of every waiting agent when it cuts a game, and with several
        # games at once it would prefer those that end first.
        .env_runners(num_env_runners=options.num_env_runners, num_envs_per_env_runner=1, batch_mode="complete_episodes")
        .multi_agent(policies=set(policies), policy_mapping_fn=lambda agent, *_, **__: agent if agent in policies else SHARED)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedNetwork, model_config={"network": network}))
        .training(
            train_batch_size_per_learner=options.batch_size,
            minibatch_size=128,
            num_epochs=10,
            lr=1e-3,
            gamma=GAMMA,
            use_kl_loss=False,
        )
        .callbacks(on_sample_end=count)
        .debugging(seed=options.seed)
    )


def train(options: argparse.Namespace) -> tuple[list[MaskedNetwork], Counts]:
    """Train; return the policies in turn order and the counts."""
    register_env("tetrarchia", make_env)
    algorithm = configure(options).build_algo()
    counts = Counts()
    while counts.steps < options.timesteps:
        result = algorithm.train()["env_runners"]
        counts = Counts(**{name: kind(result["counts"][name]) for name, kind in Counts.__annotations__.items()})
        print(f"{counts.steps:,} steps, mean return of the four together {result['episode_return_mean']:.2f}", flush=True)
    ids = EMPERORS if options.policies == "four" else [SHARED]
    policies = [algorithm.get_module(policy) for policy in ids]
    algorithm.stop()
    return policies, counts


def parse() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--policies", choices=["shared", "four"], default="shared", help="one for all Emperors, or one for each")
    parser.add_argument("--num-env-runners", type=int, default=0, help="processes that play; 0: this one")
    parser.add_argument("--address", help="of a Ray cluster that runs; else Ray is started here")
    parser.add_argument("--level", help="learn whole games of this level instead of the last four borders")
    parser.add_argument("--timesteps", type=int, default=8_000, help="decisions to learn from")
    parser.add_argument("--batch-size", type=int, default=500, help="decisions an update")
    parser.add_argument("--network", choices=list(KINDS), default="mlp", help="kind of network")
    parser.add_argument("--hidden-dim", type=int, default=64, help="its width")
    parser.add_argument("--seed", type=int, default=0, help="of training")
    return parser.parse_args()


def main() -> None:
    """Train a policy and print its win rate next to that of random play."""
    options = parse()
    torch.set_num_threads(1)  # the network is too small to benefit from more threads
    if options.address:
        ray.init(options.address, runtime_env={"working_dir": str(Path(__file__).parent)})  # makes these files available to the runners
    else:
        ray.init(num_cpus=1 + options.num_env_runners, include_dashboard=False)
    policies, counts = train(options)
    rules: dict[str, Any] = {"level": options.level} if options.level else {"initial_states": [FOUR_BORDERS]}
    print(f"random: {measure(random_policy(), **rules)}")
    print(f"after {counts.steps:,} steps: {measure(best(*(lambda obs, one=one: one.network(obs)[0] for one in policies)), **rules)}")
    print(counts)


if __name__ == "__main__":
    main()
