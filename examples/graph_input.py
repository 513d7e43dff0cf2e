"""Input of a graph neural network: the board as edges, the observation as node features. Takes seconds.

Needs only NumPy. If PyTorch is installed, one step of message passing computes a logit for every move.
"""

from importlib.util import find_spec

import numpy as np

from tetrarchia_env import BOARD, vector_env
from tetrarchia_env.board import BROKEN
from tetrarchia_env.constants import MOVE, SPACES
from tetrarchia_env.observation import BY_SPACE

# Constant in all games: each link in both directions, whether it is broken, and the coasts of each space.
edges = np.stack(np.nonzero(BOARD.links))
broken = BOARD.links[edges[0], edges[1]] == BROKEN
coasts = (BOARD.coasts[:, None] >> np.arange(len(BOARD.zones))) & 1

# Variable: the first parts of the observation have one number per space, the others are global features.
envs, rng = vector_env(16, level="4211"), np.random.default_rng(0)
obs, _ = envs.reset(seed=0)
for _ in range(12):  # random actions, to leave the initial position
    obs, *_ = envs.step((rng.random(obs["action_mask"].shape) * obs["action_mask"]).argmax(axis=1))
names = [name for name, (rows, _) in BY_SPACE.items() for _ in range(rows)]
by_space, whole = np.split(obs["observation"], [len(names) * SPACES], axis=1)
by_space = by_space.reshape(-1, len(names), SPACES).transpose(0, 2, 1)
nodes = np.concatenate([by_space, np.broadcast_to(coasts, (envs.num_envs, *coasts.shape))], axis=2, dtype=np.float32)

for what, array in {"edges": edges, "broken": broken, "nodes": nodes, "whole": whole}.items():
    print(f"{what:8}{array.dtype!s:9}{array.shape}")
print("\nThe space of the acting Emperor in the first game, its neighbours, and their features:")
space = int(np.argmax(nodes[0, :, names.index("figure")]))
for there in [space, *edges[1, edges[0] == space]]:
    marks = [name for name, value in zip(names, nodes[0, there], strict=False) if value]
    print(f"  {BOARD.names[there]:20}{', '.join(marks) or 'nothing'}")

if find_spec("torch"):
    import torch

    torch.manual_seed(0)
    size = nodes.shape[2]
    message, update, policy_head = torch.nn.Linear(size + 1, 32), torch.nn.Linear(size + 32, 32), torch.nn.Linear(32, 1)
    features, (source, target) = torch.from_numpy(nodes), torch.from_numpy(edges)
    kinds = torch.from_numpy(broken.astype(np.float32)).expand(len(nodes), -1).unsqueeze(2)
    messages = torch.relu(message(torch.cat([features[:, source], kinds], dim=2)))  # along each edge
    received = torch.zeros(len(nodes), SPACES, 32).index_add(1, target, messages)  # summed at the target of each edge
    logits = policy_head(torch.relu(update(torch.cat([features, received], dim=2)))).squeeze(2)  # one per space to move to
    legal = torch.from_numpy(obs["action_mask"][:, MOVE : MOVE + SPACES]).bool()
    print(f"\nOne untrained step of message passing: {tuple(logits.shape)} logits, of which {int(legal.sum())} belong to legal moves")
