"""The configuration of a network; needs no torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from tetrarchia_env.board import EMPERORS, SPACES
from tetrarchia_env.constants import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.actions import MAX_MESSAGE_TOKENS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.schema import validate_fields

KINDS = {
    "gnn": "message passing over the board's links, then a trunk that reads all spaces",
    "gnn-decoder": "like gnn, with message passing from the trunk back to the spaces",
    "mlp": "two fully connected layers, as a baseline",
}
Dimension = Annotated[int, Meta(ge=1, le=4096)]
NumLayers = Annotated[int, Meta(ge=1, le=64)]
NUM_ACTIONS = (BASE_ACTIONS, *range(ACTIONS, ACTIONS + MAX_MESSAGE_TOKENS + 1))
MAX_WEIGHTS = 100_000_000  # 400 MB; the shipped networks have less than a million
if TYPE_CHECKING:
    Kind = str
    Critic = str
    NumActions = int
    NumPolicies = int
else:
    Kind, NumActions, NumPolicies = Literal[tuple(KINDS)], Literal[NUM_ACTIONS], Literal[1, len(EMPERORS)]
    Critic = Literal["own", "separate", "central"]


@dataclass(frozen=True)
class NetworkConfig:
    """The kind, size and observations of a network, stored in the checkpoint's card."""

    kind: Kind = "gnn"
    actions: NumActions = BASE_ACTIONS
    node_dim: Dimension = 32  # features of a space in the message-passing layers
    encoder_layers: NumLayers = 2  # message-passing layers before the trunk
    readout_dim: Dimension = 16  # features of each space that the trunk reads
    hidden_dim: Dimension = 256  # of the trunk
    policies: NumPolicies = 1  # 4: independent policies, one for each Emperor
    decoder_layers: NumLayers = 3  # message-passing layers after the trunk, gnn-decoder only
    critic: Critic = "own"  # separate: a network of its own; central: one that reads the full state, for training only (MAPPO)
    view_radius: int | None = None  # of the observations (R14)
    last_seen: bool = False
    message_tokens: int = 0

    def __post_init__(self) -> None:
        validate_fields(self, "network:")
        if self.actions != (self.local.actions if self.message_tokens else min(self.actions, ACTIONS)):
            raise TetrarchiaError(f"network: {self.message_tokens} message tokens need {self.local.actions} actions; got {self.actions}")
        if self.approximate_size > MAX_WEIGHTS:
            raise TetrarchiaError(f"network: at most {MAX_WEIGHTS:,} weights are allowed; this one has about {self.approximate_size:,}")

    @property
    def local(self) -> LocalOptions:
        """The arguments of local information with which the network was trained."""
        return LocalOptions(self.view_radius, self.last_seen, self.message_tokens)

    @property
    def uses_all_weights(self) -> bool:
        """Whether every minibatch gives a gradient to every weight."""
        return self.policies == 1

    @property
    def approximate_size(self) -> int:
        """The number of weights of the large layers."""
        trunk = (self.local.size + SPACES * self.readout_dim + self.hidden_dim + self.actions) * self.hidden_dim
        pointers = 16 * self.hidden_dim * self.readout_dim
        messages = (self.encoder_layers + self.decoder_layers) * 2 * self.node_dim**2
        return (self.policies + (self.critic != "own")) * (trunk + (0 if self.kind == "mlp" else pointers + messages))
