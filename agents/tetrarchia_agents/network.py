"""Policy and value networks: from an observation to a logit for each action and a value.

Each space of the board is a node. Message passing over its links (Gilmer et al., Neural message passing for quantum chemistry, 2017)
is followed by a trunk that reads all nodes. `EncoderDecoderGNN` adds message passing from the trunk back to the nodes, as in
encode-process-decode networks (Battaglia et al., Relational inductive biases, deep learning, and graph networks, 2018). The logits of
actions that name a space are pointers to its node (Vinyals et al., Pointer networks, 2015).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import pad, relu

from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_agents.values import WIN
from tetrarchia_env.batch import Games, observe
from tetrarchia_env.board import BOARD, BROKEN, NORMAL
from tetrarchia_env.constants import DUX_DEPLOY, EMPERORS, MOVE, ORDER, SPACES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import BY_SPACE, SIZE, offset

NODE_FEATURES = sum(rows for rows, _ in BY_SPACE.values())  # per space
GLOBAL_FEATURES = SIZE - NODE_FEATURES * SPACES
POINTER_BLOCKS = ((MOVE, 2), (DUX_DEPLOY, 3), (ORDER, 4))  # actions that name a space: first id, and number of kinds in the block
CONTEXT_DIM = 8  # features sent from the trunk to each node
CHUNK_SIZE = 256  # games per pass, so that activations fit the cache: forward and backward 168 us per game, with 1,024 games 271 us
POLICY_INIT_SCALE = 0.01  # of the last layers of the policy, so that a new network is almost uniform
CRITIC_NODE_DIM, CRITIC_LAYERS = 32, 3  # of `GraphCritic`
MASKED = float("-inf")  # the logit of an illegal action


class Network(nn.Module):
    """Base class: logits and values of a batch of observations."""

    observation_size: int
    value_head: nn.Module
    policy_modules: tuple[str, ...] = ("policy_head",)  # that only the logits need

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return next(self.parameters()).device

    def tensor(self, array: NDArray[Any]) -> Tensor:
        """Return an array as a tensor on the network's device; on the CPU it shares the array's memory."""
        return torch.from_numpy(array).to(self.device)

    def features(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits and the input of the value head."""
        raise NotImplementedError

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return [batch, actions] logits, illegal actions included, and [batch] values."""
        logits, trunk = self.features(obs)
        return logits, in_float32(self.value_head, trunk).squeeze(-1)

    def logits(self, obs: Tensor) -> Tensor:
        """Return the logits only."""
        return self.features(obs)[0]

    def inputs(self, games: Games, obs: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return the input of the network for the Emperors to act.

        Args:
            games: The games.
            obs: Their observations, if they are known already; a network with local observations needs them.

        Raises:
            TetrarchiaError: The network needs local observations, and none are given.
        """
        if obs is not None:
            return obs
        if self.observation_size != SIZE:
            raise TetrarchiaError("this network was trained with local information: it needs observations, not whole games")
        return observe(games)

    def values(self, obs: Tensor) -> Tensor:
        """Return the values only."""
        values: Tensor = self(obs)[1]
        return values

    def value_parameters(self) -> list[nn.Parameter]:
        """Return the parameters of the value head."""
        return list(self.value_head.parameters())

    def train_value_only(self, only: bool) -> None:
        """Freeze all parameters but those of the value head, or unfreeze them."""
        for parameter in self.parameters():
            parameter.requires_grad_(not only)
        for parameter in self.value_parameters():
            parameter.requires_grad_(True)


class MLP(Network):
    """Two fully connected layers, as a baseline."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.observation_size = config.local.size
        self.trunk = _trunk(config.local.size, config.hidden_dim)
        self.policy_head = small_init(nn.Linear(config.hidden_dim, config.actions))
        self.value_head = _value_head(config.hidden_dim)

    def features(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        trunk = self.trunk(obs)
        return in_float32(self.policy_head, trunk), trunk


class BoardEncoder(Network):
    """Base class of the graph networks: shared layers for all spaces, messages along the links.

    Node tensors are [spaces, games, features], so that messages and layers are one matrix product each, without transposing. The
    adjacency is initialized with the board's links and learned. With local information (R14) `visible` and `age` are node features, and
    messages are global features.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.observation_size = config.local.size
        self.local_rows = 0 if config.view_radius is None else 1 + config.last_seen  # `visible` and `age`
        self.num_global_features = GLOBAL_FEATURES + config.local.message_size
        self.node_features = nn.Linear(NODE_FEATURES + self.local_rows, config.node_dim)
        self.global_features = nn.Linear(self.num_global_features, config.node_dim, bias=False)
        self.node_embedding = nn.Parameter(torch.zeros(SPACES, 1, config.node_dim))
        self.encoder = nn.ModuleList(MessageLayer(config.node_dim) for _ in range(config.encoder_layers))
        self.readout = nn.Linear(config.node_dim, config.readout_dim)

    def _encode_board(self, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the nodes [spaces, games, node_dim], their readout [games, spaces, readout_dim], and the global features."""
        rows, global_features = obs[:, : NODE_FEATURES * SPACES], obs[:, NODE_FEATURES * SPACES :]
        if self.local_rows:
            visible_end = SIZE + self.local_rows * SPACES
            rows = torch.cat([rows, obs[:, SIZE:visible_end]], dim=1)
            global_features = torch.cat([obs[:, NODE_FEATURES * SPACES : SIZE], obs[:, visible_end:]], dim=1)
        nodes = self._nodes(rows.reshape(len(obs), -1, SPACES), global_features)
        return nodes, relu(self.readout(nodes)).transpose(0, 1).contiguous(), global_features

    def _nodes(self, rows: Tensor, global_features: Tensor) -> Tensor:
        """Return [spaces, games, node_dim] nodes after message passing, from [games, features, spaces] rows."""
        own = self.node_features(rows.permute(2, 0, 1).reshape(-1, rows.shape[1])).view(SPACES, len(rows), -1)
        nodes: Tensor = relu(own + self.global_features(global_features) + self.node_embedding.to(own.dtype))
        for layer in self.encoder:
            nodes = layer(nodes)
        return nodes


class BoardNetwork(BoardEncoder):
    """Base class of the graph networks with a policy: a trunk reads all nodes."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.num_actions = config.actions
        self.pointer_blocks = [block for block in POINTER_BLOCKS if block[0] < config.actions]
        self.pointers = sum(kinds for _, kinds in self.pointer_blocks)
        self.trunk = _trunk(SPACES * config.readout_dim + self.num_global_features, config.hidden_dim)
        self.policy_head = small_init(nn.Linear(config.hidden_dim, config.actions))
        self.value_head = _value_head(config.hidden_dim)

    def features(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        logits, trunks = zip(*map(self._features, torch.split(obs, CHUNK_SIZE)), strict=True)
        return torch.cat(logits), torch.cat(trunks)

    def values(self, obs: Tensor) -> Tensor:
        trunks = [self._encode(chunk)[-1] for chunk in torch.split(obs, CHUNK_SIZE)]
        return in_float32(self.value_head, torch.cat(trunks)).squeeze(-1)

    def _features(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        nodes, readout, trunk = self._encode(obs)
        return in_float32(self.policy_head, trunk) + self._scatter(self._pointer_logits(nodes, readout, trunk).flatten(1)), trunk

    def _encode(self, obs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the nodes, their readout [games, spaces, readout_dim], and the trunk."""
        nodes, readout, global_features = self._encode_board(obs)
        return nodes, readout, self.trunk(torch.cat([readout.flatten(1), global_features.to(readout.dtype)], dim=1))

    def _pointer_logits(self, nodes: Tensor, readout: Tensor, trunk: Tensor) -> Tensor:
        """Return [games, pointers, spaces] logits of the actions that name a space."""
        raise NotImplementedError

    def _scatter(self, pointed: Tensor) -> Tensor:
        """Return the pointers' logits at the ids of their actions, 0 elsewhere."""
        parts, at = [], 0
        for begin, kinds in self.pointer_blocks:
            part, pointed = pointed[:, : kinds * SPACES], pointed[:, kinds * SPACES :]
            parts.append(pad(part, (begin - at, 0)))
            at = begin + kinds * SPACES
        logits = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        return pad(logits, (0, self.num_actions - at)) if at < self.num_actions else logits


class GraphCritic(BoardEncoder):
    """A value network without a policy: its trunk reads all nodes, and their mean and maximum over the spaces.

    The value is the reward for winning times the output of a sigmoid, to be trained by cross-entropy; see `values.WIN`.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(replace(config, node_dim=CRITIC_NODE_DIM, encoder_layers=CRITIC_LAYERS))
        pooled = 2 * CRITIC_NODE_DIM
        self.trunk = _trunk(SPACES * config.readout_dim + pooled + self.num_global_features, config.hidden_dim)
        self.value_head = _value_head(config.hidden_dim)

    def values(self, obs: Tensor) -> Tensor:
        trunk = torch.cat([self._trunk(chunk) for chunk in torch.split(obs, CHUNK_SIZE)])
        return WIN * torch.sigmoid(in_float32(self.value_head, trunk).squeeze(-1))

    def _trunk(self, obs: Tensor) -> Tensor:
        nodes, readout, global_features = self._encode_board(obs)
        pooled = [readout.flatten(1), nodes.mean(dim=0), nodes.amax(dim=0), global_features.to(readout.dtype)]
        return cast(Tensor, self.trunk(torch.cat(pooled, dim=1)))


class GNN(BoardNetwork):
    """Pointers are products of queries from the trunk with the nodes' readout."""

    policy_modules = ("policy_head", "query")

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.query = small_init(nn.Linear(config.hidden_dim, self.pointers * config.readout_dim))

    def _pointer_logits(self, nodes: Tensor, readout: Tensor, trunk: Tensor) -> Tensor:
        queries = self.query(trunk).view(len(readout), self.pointers, -1)
        return torch.bmm(queries, readout.transpose(1, 2)).float()


class EncoderDecoderGNN(BoardNetwork):
    """Message passing before and after the trunk: moves are valued by where they lead."""

    policy_modules = ("policy_head", "context", "broadcast", "context_features", "decoder", "pointer")

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.broadcast = nn.Linear(config.hidden_dim, config.node_dim, bias=False)  # the same for all nodes
        self.context = nn.Linear(config.hidden_dim, SPACES * CONTEXT_DIM)  # different for each node
        self.context_features = nn.Linear(CONTEXT_DIM, config.node_dim, bias=False)
        self.decoder = nn.ModuleList(MessageLayer(config.node_dim) for _ in range(config.decoder_layers))
        self.pointer = small_init(nn.Linear(config.node_dim, self.pointers))

    def _pointer_logits(self, nodes: Tensor, readout: Tensor, trunk: Tensor) -> Tensor:
        context = relu(self.context(trunk)).view(len(readout), SPACES, CONTEXT_DIM).transpose(0, 1)
        nodes = nodes + self.broadcast(trunk) + self.context_features(context)
        for layer in self.decoder:
            nodes = layer(nodes)
        return in_float32(self.pointer, nodes).permute(1, 2, 0)


class MessageLayer(nn.Module):
    """A residual layer: each node adds a function of itself and of its neighbors' messages."""

    def __init__(self, node_dim: int) -> None:
        super().__init__()
        self.adjacency = nn.Parameter(board_adjacency())
        self.own = nn.Linear(node_dim, node_dim)
        self.message = nn.Linear(node_dim, node_dim, bias=False)

    def forward(self, nodes: Tensor) -> Tensor:
        """Return the updated [spaces, games, node_dim] nodes."""
        neighbors = (self.adjacency @ nodes.flatten(1)).view_as(nodes)
        return nodes + relu(self.own(nodes) + self.message(neighbors))


class IndependentPolicies(Network):
    """One network per Emperor, selected by the observing Emperor."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.observation_size = config.local.size
        self.networks = nn.ModuleList(NETWORKS[config.kind](config) for _ in EMPERORS)

    def logits(self, obs: Tensor) -> Tensor:
        parts = [(rows, cast(Network, self.networks[emperor]).logits(obs[rows])) for emperor, rows in _rows_by_emperor(obs)]
        return torch.cat([logits for _, logits in parts])[torch.cat([rows for rows, _ in parts]).argsort()]

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        parts = [(rows, *self.networks[emperor](obs[rows])) for emperor, rows in _rows_by_emperor(obs)]
        back = torch.cat([rows for rows, _, _ in parts]).argsort()
        return torch.cat([logits for _, logits, _ in parts])[back], torch.cat([values for _, _, values in parts])[back]

    def value_parameters(self) -> list[nn.Parameter]:
        return [parameter for name, parameter in self.named_parameters() if ".value_head." in name]


class ActorCritic(Network):
    """Policies, and a critic with weights of its own."""

    critic: Network

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.observation_size = config.local.size
        self.actor = make_network(replace(config, critic="own"))
        for policy in self.actor.networks if isinstance(self.actor, IndependentPolicies) else [self.actor]:
            del policy.value_head

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        return self.logits(obs), self.values(obs)

    def logits(self, obs: Tensor) -> Tensor:
        return self.actor.logits(obs)

    def values(self, obs: Tensor) -> Tensor:
        return self.critic.values(obs)

    def value_parameters(self) -> list[nn.Parameter]:
        return list(self.critic.parameters())


class SeparateCritic(ActorCritic):
    """Policies with a `GraphCritic`, which reads the observation of the acting Emperor."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.critic = GraphCritic(config)


class CentralCritic(ActorCritic):
    """Policies with one critic for all Emperors that reads the full state (MAPPO; Yu et al., The surprising effectiveness of PPO in
    cooperative multi-agent games, NeurIPS 2022). The input is the agent's own observation followed by the state. With local information
    the critic also reads the blocks that follow the ordinary observation: view, ages and messages.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(config)
        self.critic = make_network(replace(config, critic="own", policies=1))
        for name in self.critic.policy_modules:
            delattr(self.critic, name)

    def inputs(self, games: Games, obs: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        state = observe(games, np.zeros(len(games), dtype=np.int64))
        return np.concatenate([super().inputs(games, obs), state], axis=1)

    def logits(self, obs: Tensor) -> Tensor:
        return super().logits(obs[:, : self.observation_size])

    def values(self, obs: Tensor) -> Tensor:
        state = obs[:, self.observation_size :]
        if self.observation_size > SIZE:
            state = torch.cat([state, obs[:, SIZE : self.observation_size]], dim=1)
        return super().values(state)


NETWORKS: dict[str, type[Network]] = {"gnn": GNN, "gnn-decoder": EncoderDecoderGNN, "mlp": MLP}
CRITICS: dict[str, type[ActorCritic]] = {"separate": SeparateCritic, "central": CentralCritic}


def make_network(config: NetworkConfig) -> Network:
    """Return a new network with random weights."""
    if config.critic != "own":
        return CRITICS[config.critic](config)
    return NETWORKS[config.kind](config) if config.policies == 1 else IndependentPolicies(config)


def expand_network(network: Network, config: NetworkConfig) -> Network:
    """Return a network with more actions, local information or a critic of its own, and the weights of this one.

    Weights of new inputs are 0, those of a new critic random.
    """
    larger, known = make_network(config), network.state_dict()
    target: nn.Module = larger.actor if isinstance(larger, ActorCritic) and not isinstance(network, ActorCritic) else larger
    with torch.no_grad():
        for name, weights in target.state_dict().items():
            if weights.ndim == 2 and weights.shape[1] > known[name].shape[1]:
                weights[:, known[name].shape[1] :] = 0
            weights[tuple(map(slice, known[name].shape))] = known[name]
    return larger


def log_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """Return the log probabilities of actions, -inf for illegal ones."""
    return torch.log_softmax(logits.masked_fill(~legal, MASKED), dim=-1)


def in_float32(layer: nn.Module, features: Tensor) -> Tensor:
    """Apply a layer in float32 even under torch.autocast, where small differences matter."""
    with torch.autocast("cuda" if features.is_cuda else "cpu", enabled=False):
        result: Tensor = layer(features.float())
    return result


def board_adjacency() -> Tensor:
    """Return the initial [spaces, spaces] adjacency: links 1, broken links 0.5, shared coasts 0.1; rows are normalized."""
    coasts = (BOARD.coasts[:, None] & BOARD.coasts[None, :]) > 0
    strength = np.where(BOARD.links == NORMAL, 1.0, np.where(BOARD.links == BROKEN, 0.5, np.where(coasts, 0.1, 0.0)))
    np.fill_diagonal(strength, 0)
    return torch.tensor(strength / strength.sum(axis=1, keepdims=True), dtype=torch.float32)


def small_init(layer: nn.Linear) -> nn.Linear:
    """Scale the weights of a layer by POLICY_INIT_SCALE and return it."""
    with torch.no_grad():
        layer.weight.mul_(POLICY_INIT_SCALE)
        layer.bias.mul_(POLICY_INIT_SCALE)
    return layer


def _rows_by_emperor(obs: Tensor) -> Iterator[tuple[int, Tensor]]:
    at = offset("identity")
    viewer = obs[:, at : at + len(EMPERORS)].argmax(dim=1)
    for emperor in range(len(EMPERORS)):
        rows = torch.nonzero(viewer == emperor).squeeze(1)
        if len(rows):
            yield emperor, rows


def _trunk(inputs: int, hidden_dim: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, hidden_dim), nn.ReLU())


def _value_head(hidden_dim: int) -> nn.Module:
    """Two layers, so that the value can be trained with the trunk frozen."""
    return nn.Sequential(nn.Linear(hidden_dim, 64), nn.ReLU(), nn.Linear(64, 1))
