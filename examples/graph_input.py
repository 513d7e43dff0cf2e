"""What a graph network eats: the board as edges, the observation as features of its nodes. Takes seconds.

Needs numpy alone; where torch is installed, a step of message passing gives a number to every move.
"""

from importlib.util import find_spec

import numpy as np

from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, BROKEN, SPACES
from tetrarchia_env.engine.actions import MOVE
from tetrarchia_env.observation import BY_SPACE
from tetrarchia_env.options import Options

# The same in every game: each link in both directions, whether it is broken, and who lies on which coast.
edges = np.stack(np.nonzero(BOARD.links))
broken = BOARD.links[edges[0], edges[1]] == BROKEN
coasts = (BOARD.coasts[:, None] >> np.arange(len(BOARD.zones))) & 1

# What changes: the first parts of the observation have one number for each space, the others are of the game as a whole.
games, masks = batch.new_games(Options(level="4211"), seeds=range(16))
batch.playout(games, masks, choosers=np.arange(1, 17, dtype=np.uint64), steps=12)  # some random actions, to have something to see
names = [name for name, (rows, _) in BY_SPACE.items() for _ in range(rows)]
seen = batch.observe(games)
of_spaces = seen[:, : len(names) * SPACES].reshape(-1, len(names), SPACES).transpose(0, 2, 1)
nodes = np.concatenate([of_spaces, np.broadcast_to(coasts, (len(games), *coasts.shape))], axis=2, dtype=np.float32)
whole = seen[:, len(names) * SPACES :]

for what, array in {"edges": edges, "broken": broken, "nodes": nodes, "whole": whole}.items():
    print(f"{what:8}{array.dtype!s:9}{array.shape}")
print("\nWhere the Emperor to act stands in the first game, the spaces linked to it, and what their features say:")
space = int(np.argmax(nodes[0, :, names.index("figure")]))
for there in [space, *edges[1, edges[0] == space]]:
    marks = [name for name, value in zip(names, nodes[0, there], strict=False) if value]
    print(f"  {BOARD.names[there]:20}{', '.join(marks) or 'nothing'}")

if find_spec("torch"):
    import torch

    torch.manual_seed(0)
    hear, think, wish = torch.nn.Linear(nodes.shape[2] + 1, 32), torch.nn.Linear(nodes.shape[2] + 32, 32), torch.nn.Linear(32, 1)
    features, (source, goal) = torch.from_numpy(nodes), torch.from_numpy(edges)
    kinds = torch.from_numpy(broken.astype(np.float32)).expand(len(games), -1).unsqueeze(2)
    messages = torch.relu(hear(torch.cat([features[:, source], kinds], dim=2)))  # along each edge
    heard = torch.zeros(len(games), SPACES, 32).index_add(1, goal, messages)  # added up at its goal
    moves = wish(torch.relu(think(torch.cat([features, heard], dim=2)))).squeeze(2)  # a number for each space: to move there
    legal = torch.from_numpy(masks[:, MOVE : MOVE + SPACES]).bool()
    print(f"\nOne untrained step of message passing: {tuple(moves.shape)} numbers, of which {int(legal.sum())} are of legal moves")
