"""Minari datasets of games of `ppo` and `planner`, and a policy cloned from them. Takes less than two minutes.

The datasets contain the data of the Gymnasium API, with the action mask in the info of each step. Behaviour cloning: Pomerleau 1991. Record
more games with `--games 400 --level 4200`; `--keep` keeps the datasets in Minari's folder (`minari list local`).
"""

import argparse
import os
import tempfile

import gymnasium
import minari
import numpy as np
import torch
from end_game import Counts, Policy, best, measure, random_policy
from minari import DataCollector, MinariDataset
from torch import nn

import tetrarchia_env  # noqa: F401  (registers Tetrarchia-v0)
from tetrarchia_agents import TeamPolicy, make_agent, rollout

Decisions = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
NAME = "tetrarchia/{level}/{agent}-v0"
AUTHOR = "the one who runs this"  # Minari warns description datasets without an author
AGENTS = ("ppo", "planner")
ONLY = np.array([0])  # index of the environment's single game


def record(agent: str, level: str, games: int, counts: Counts) -> None:
    """Play games with an agent and save them as a Minari dataset."""
    env = DataCollector(gymnasium.make("Tetrarchia-v0", level=level, mask="info", illegal="raise"), record_infos=True)
    policy = TeamPolicy([make_agent(agent)] * 4, 1)
    for seed in range(games):
        policy.begin(ONLY, [seed])
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            action = policy.act(env.unwrapped.position, info["action_mask"][None], ONLY)[0]
            counts.illegal += 1 - int(info["action_mask"][action])
            _, reward, terminated, truncated, info = env.step(action)
            counts.given += reward
            over = terminated or truncated
    description = f"{games} games of {agent} at level {level} of TETRARCHIA, seeds from 0 on, with the legal actions in the infos"
    metadata = {"author": AUTHOR, "author_email": "none", "code_permalink": "examples/libraries/minari_clone.py", "eval_env": env.spec}
    env.create_dataset(NAME.format(level=level, agent=agent), algorithm_name=agent, description=description, **metadata)
    env.close()


def wins(agent: str, dataset: MinariDataset, level: str) -> str:
    """Compare the recorded wins with those of `rollout` on the same seeds; they must agree."""
    recorded = [episode.rewards[-1] == 1 for episode in dataset.iterate_episodes()]
    played = [result.won for result in rollout(agent, len(recorded), level=level)]
    same = sum(one == other for one, other in zip(recorded, played, strict=True))
    return f"{agent}: {sum(recorded)} of {len(recorded)} recorded games won; rollout wins {sum(played)} and agrees in {same}"


def decisions(dataset: MinariDataset, counts: Counts) -> list[Decisions]:
    """Return observations, masks and actions of each game, without the final observation and mask, which have no action."""
    games = []
    for episode in dataset.iterate_episodes():
        masks = episode.infos["action_mask"][:-1]
        games.append((torch.from_numpy(episode.observations[:-1]), torch.from_numpy(masks).bool(), torch.from_numpy(episode.actions)))
        counts.steps += len(masks)
        counts.fake += int((~masks.any(axis=1)).sum())
        counts.learned += episode.rewards.sum()
    return games


def joined(games: list[Decisions]) -> Decisions:
    """Concatenate the decisions of all games."""
    obs, masks, actions = (torch.cat(column) for column in zip(*games, strict=True))
    return obs, masks, actions


def clone(obs: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor, epochs: int) -> nn.Sequential:
    """Return a network trained to predict the recorded action among the legal ones."""
    network = nn.Sequential(nn.Linear(obs.shape[1], 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, masks.shape[1]))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, weight_decay=1e-5)
    for _ in range(epochs):
        for rows in torch.randperm(len(obs)).split(256):
            logits = network(obs[rows]).masked_fill(~masks[rows], -1e8)
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, actions[rows]).backward()
            optimizer.step()
    return network


def agreement(policy: Policy, obs: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor) -> str:
    """Return how often the policy chooses the recorded action, and how often random play would."""
    chosen = policy(obs.numpy(), masks.numpy().astype(np.int8), np.zeros(len(obs), dtype=np.int64))
    same, chance = (chosen == actions.numpy()).mean(), (1 / masks.sum(dim=1)).mean()
    return f"does the same in {same:.1%} of {len(obs):,} decisions of games it has not seen (by chance {chance:.1%})"


def main() -> None:
    """Record and load the datasets, clone a policy and measure it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=100, help="of each agent, a fifth of them to test the clone on")
    parser.add_argument("--level", default="5300", help="of the games")
    parser.add_argument("--epochs", type=int, default=8, help="over the dataset")
    parser.add_argument("--keep", action="store_true", help="keep the dataset")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the network is too small to benefit from more threads
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        if not options.keep:
            os.environ["MINARI_DATASETS_PATH"] = folder
        for agent in AGENTS:
            record(agent, options.level, options.games, counts)
        datasets = {agent: minari.load_dataset(NAME.format(level=options.level, agent=agent)) for agent in AGENTS}
        for agent, dataset in datasets.items():
            print(wins(agent, dataset, options.level))
        games = {agent: decisions(dataset, counts) for agent, dataset in datasets.items()}
    unseen = options.games // 5
    policy = best(clone(*joined([game for agent in AGENTS for game in games[agent][unseen:]]), options.epochs))
    print(f"clone {agreement(policy, *joined([game for agent in AGENTS for game in games[agent][:unseen]]))}")
    rules = {"level": options.level, "max_turns": 100}  # a clone may move back and forth forever
    print(f"random: {measure(random_policy(), games=200, **rules)}")
    print(f"clone of {counts.steps:,} steps: {measure(policy, games=200, **rules)}")
    print(counts)


if __name__ == "__main__":
    main()
