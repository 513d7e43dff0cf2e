"""The networks that learn the game: what an Emperor sees goes in, a number for each action and a value come out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from tetrarchia_env.board import BOARD, BROKEN, EMPERORS, NORMAL, SPACES
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS, DUX_DEPLOY, MOVE, ORDER
from tetrarchia_env.observation import BY_SPACE, OBSERVATION, SIZE

ROWS = sum(rows for rows, _ in BY_SPACE.values())  # numbers that the observation has for each space
NUMBERS = SIZE - ROWS * SPACES  # and beside them
POINTED = ((MOVE, 2), (DUX_DEPLOY, 3), (ORDER, 4))  # actions that name a space: where such blocks begin, and how many
CHOOSERS = ("choice", "query", "pointer")  # the layers that logits are proportional to
GOALS = 8  # numbers that the trunk tells each space
AT_ONCE = 256  # games that go through the network together: there and back 168 us a game; 1,024 at once, which no cache holds, 271
HARDLY = 0.01  # first weights of what chooses: a new network prefers next to nothing
NEVER = float("-inf")  # the logit of an illegal action: its probability is 0, however small the others are


@dataclass(frozen=True)
class Shape:
    """What a network is made of; a checkpoint's card keeps it."""

    kind: str = "graph"  # graph: layers over the board's links; goals: and back to the spaces; mlp: plain
    actions: int = BASE_ACTIONS
    width: int = 32  # numbers that stand for a space in the graph layers
    layers: int = 2  # of the graph, before the trunk
    reading: int = 16  # numbers of each space that the trunk reads
    hidden: int = 256  # width of the trunk
    policies: int = 1  # 4: each Emperor has a network of his own
    after: int = 3  # layers after the trunk, of goals only

    def __post_init__(self) -> None:
        if self.kind not in NETWORKS:
            raise ValueError(f"network: the kind is one of {', '.join(NETWORKS)}, not {self.kind!r}")
        if self.actions not in (BASE_ACTIONS, ACTIONS):
            raise ValueError(f"network: actions are {BASE_ACTIONS} or {ACTIONS}, not {self.actions!r}")
        if self.policies not in (1, len(EMPERORS)):
            raise ValueError(f"network: policies are 1 or {len(EMPERORS)}, not {self.policies!r}")
        for name in ("width", "layers", "reading", "hidden", "after"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 4096:
                raise ValueError(f"network: {name} is a whole number from 1 to 4096, not {value!r}")


class Network(nn.Module):
    """Gives logits and values for a batch of observations."""

    value_head: nn.Module

    def features(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The logits, and what the value is read from."""
        raise NotImplementedError

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """A row of logits, illegal actions included, and a value for each observation."""
        logits, trunk = self.features(seen)
        return logits, self.value_head(trunk).squeeze(-1)

    def values(self, seen: Tensor) -> Tensor:
        """The values alone."""
        values: Tensor = self(seen)[1]
        return values

    def value_parameters(self) -> list[nn.Parameter]:
        """Those that only the value depends on."""
        return list(self.value_head.parameters())

    def sharpen(self, factor: float) -> None:
        """Make every logit so many times as large: the best action becomes likelier and stays the best."""
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if set(name.split(".")) & set(CHOOSERS):
                    parameter.mul_(factor)

    def train_value_only(self, only: bool) -> None:
        """Hold all other parameters still, or let them go."""
        for parameter in self.parameters():
            parameter.requires_grad_(not only)
        for parameter in self.value_parameters():
            parameter.requires_grad_(True)


class PlainNetwork(Network):
    """Two layers over the whole observation, for comparison."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(SIZE, shape.hidden), nn.ReLU(), nn.Linear(shape.hidden, shape.hidden), nn.ReLU())
        self.choice = _hardly(nn.Linear(shape.hidden, shape.actions))
        self.value_head = _value_head(shape.hidden)

    def features(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The logits and the trunk."""
        trunk = self.trunk(seen)
        return self.choice(trunk), trunk


class BoardNetwork(Network):
    """What the networks that know the board share: the same layers for every space, messages along the links, a trunk that reads all.

    The spaces come first, then the games: so messages and layers are each one large product, with nothing to transpose
    in between. How much a space hears of another begins with the board's links and is learned.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.runs = [run for run in POINTED if run[0] < shape.actions]
        self.pointers = sum(kinds for _, kinds in self.runs)
        self.embedding = nn.Linear(ROWS, shape.width)
        self.of_numbers = nn.Linear(NUMBERS, shape.width, bias=False)
        self.places = nn.Parameter(torch.zeros(SPACES, 1, shape.width))
        self.layers = nn.ModuleList(MessageLayer(shape.width) for _ in range(shape.layers))
        self.reading = nn.Linear(shape.width, shape.reading)
        self.trunk = nn.Sequential(
            nn.Linear(SPACES * shape.reading + NUMBERS, shape.hidden), nn.ReLU(), nn.Linear(shape.hidden, shape.hidden), nn.ReLU()
        )
        self.choice = _hardly(nn.Linear(shape.hidden, shape.actions))
        self.value_head = _value_head(shape.hidden)

    def features(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """The logits and the trunk."""
        logits, trunks = zip(*map(self._features, torch.split(seen, AT_ONCE)), strict=True)
        return torch.cat(logits), torch.cat(trunks)

    def values(self, seen: Tensor) -> Tensor:
        """Without the pointers, which they do not need."""
        trunks = [self._trunk(some)[-1] for some in torch.split(seen, AT_ONCE)]
        values: Tensor = self.value_head(torch.cat(trunks)).squeeze(-1)
        return values

    def _features(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        spaces, read, trunk = self._trunk(seen)
        return self.choice(trunk) + self._spread(self._pointed(spaces, read, trunk).flatten(1)), trunk

    def _trunk(self, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What spaces are like, what is read of them ([games, spaces, reading]), and the trunk."""
        numbers = seen[:, ROWS * SPACES :]
        spaces = self._spaces(seen, numbers)
        read = relu(self.reading(spaces)).transpose(0, 1).contiguous()
        return spaces, read, self.trunk(torch.cat([read.flatten(1), numbers], dim=1))

    def _spaces(self, seen: Tensor, numbers: Tensor) -> Tensor:
        """[spaces, games, width]: what each space is like after hearing its neighbours."""
        rows = seen[:, : ROWS * SPACES].view(-1, ROWS, SPACES).permute(2, 0, 1).reshape(-1, ROWS)
        embedded = self.embedding(rows).view(SPACES, len(seen), -1)
        spaces: Tensor = relu(embedded + self.of_numbers(numbers) + self.places)
        for layer in self.layers:
            spaces = layer(spaces)
        return spaces

    def _pointed(self, spaces: Tensor, read: Tensor, trunk: Tensor) -> Tensor:
        """[games, pointers, spaces]: how much each kind of action that names a space likes each."""
        raise NotImplementedError

    def _spread(self, pointed: Tensor) -> Tensor:
        """The pointers' logits at the ids of their actions, 0 elsewhere."""
        parts, at = [], 0
        for begin, kinds in self.runs:
            part, pointed = pointed[:, : kinds * SPACES], pointed[:, kinds * SPACES :]
            parts.append(pad(part, (begin - at, 0)))
            at = begin + kinds * SPACES
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)


class GraphNetwork(BoardNetwork):
    """The trunk asks, and a space is liked that answers: the product of a query with what was read of it."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.query = _hardly(nn.Linear(shape.hidden, self.pointers * shape.reading))

    def _pointed(self, spaces: Tensor, read: Tensor, trunk: Tensor) -> Tensor:
        queries = self.query(trunk).view(len(read), self.pointers, -1)
        return torch.bmm(queries, read.transpose(1, 2))


class GoalNetwork(BoardNetwork):
    """The trunk tells the spaces what is wanted where, and they pass it on: so the first step of a way is liked for where it leads."""

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.wanted = nn.Linear(shape.hidden, shape.width, bias=False)  # everywhere
        self.goals = nn.Linear(shape.hidden, SPACES * GOALS)  # at each space
        self.of_goals = nn.Linear(GOALS, shape.width, bias=False)
        self.after = nn.ModuleList(MessageLayer(shape.width) for _ in range(shape.after))
        self.pointer = _hardly(nn.Linear(shape.width, self.pointers))

    def _pointed(self, spaces: Tensor, read: Tensor, trunk: Tensor) -> Tensor:
        goals = relu(self.goals(trunk)).view(len(read), SPACES, GOALS).transpose(0, 1)
        spaces = spaces + self.wanted(trunk) + self.of_goals(goals)
        for layer in self.after:
            spaces = layer(spaces)
        pointed: Tensor = self.pointer(spaces).permute(1, 2, 0)
        return pointed


class MessageLayer(nn.Module):
    """Each space adds what follows from itself and from what it hears."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hearing = nn.Parameter(links())
        self.own = nn.Linear(width, width)
        self.heard = nn.Linear(width, width, bias=False)

    def forward(self, spaces: Tensor) -> Tensor:
        """[spaces, games, width] to the same."""
        messages = (self.hearing @ spaces.flatten(1)).view_as(spaces)
        return spaces + relu(self.own(spaces) + self.heard(messages))


class FourNetworks(Network):
    """A network for each Emperor; the one who sees decides which."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.networks = nn.ModuleList(NETWORKS[shape.kind](shape) for _ in EMPERORS)

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Each row by the network of its Emperor."""
        parts = [(rows, *self.networks[emperor](seen[rows])) for emperor, rows in _rows_by_emperor(seen)]
        back = torch.cat([rows for rows, _, _ in parts]).argsort()
        return torch.cat([logits for _, logits, _ in parts])[back], torch.cat([values for _, _, values in parts])[back]

    def value_parameters(self) -> list[nn.Parameter]:
        """Those of all four."""
        return [parameter for name, parameter in self.named_parameters() if ".value_head." in name]


NETWORKS: dict[str, type[Network]] = {"graph": GraphNetwork, "goals": GoalNetwork, "mlp": PlainNetwork}


def make_network(shape: Shape) -> Network:
    """A new network with random weights from torch's generator."""
    return NETWORKS[shape.kind](shape) if shape.policies == 1 else FourNetworks(shape)


def grown(network: Network, shape: Shape) -> Network:
    """A network of this shape that knows what a network for fewer actions knows: the ids it has come first in both."""
    larger, known = make_network(shape), network.state_dict()
    with torch.no_grad():
        for name, weights in larger.state_dict().items():
            weights[: len(known[name])] = known[name]
    return larger


def log_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """The logarithms of a choice among the legal actions; an illegal one has probability 0."""
    return torch.log_softmax(logits.masked_fill(~legal, NEVER), dim=-1)


def links() -> Tensor:
    """[spaces, spaces] how much a space hears of another at first: links more than broken ones more than shared coasts; rows sum to 1."""
    coasts = (BOARD.coasts[:, None] & BOARD.coasts[None, :]) > 0
    strength = np.where(BOARD.links == NORMAL, 1.0, np.where(BOARD.links == BROKEN, 0.5, np.where(coasts, 0.1, 0.0)))
    np.fill_diagonal(strength, 0)
    return torch.tensor(strength / strength.sum(axis=1, keepdims=True), dtype=torch.float32)


def offset(part: str) -> int:
    """Where a part of the observation begins."""
    assert OBSERVATION.fields is not None
    return OBSERVATION.fields[part][1] // 4


def _rows_by_emperor(seen: Tensor) -> Iterator[tuple[int, Tensor]]:
    at = offset("identity")
    viewer = seen[:, at : at + len(EMPERORS)].argmax(dim=1)
    for emperor in range(len(EMPERORS)):
        rows = torch.nonzero(viewer == emperor).squeeze(1)
        if len(rows):
            yield emperor, rows


def _hardly(layer: nn.Linear) -> nn.Linear:
    with torch.no_grad():
        layer.weight.mul_(HARDLY)
        layer.bias.mul_(HARDLY)
    return layer


def _value_head(hidden: int) -> nn.Module:
    """Two layers, so that it can learn with the trunk held still."""
    return nn.Sequential(nn.Linear(hidden, 64), nn.ReLU(), nn.Linear(64, 1))
