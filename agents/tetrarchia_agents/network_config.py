"""What a network is made of, told without torch."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from tetrarchia_env.board import EMPERORS, SPACES
from tetrarchia_env.constants import ACTIONS, BASE_ACTIONS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import SIZE
from tetrarchia_env.schema import check_fields

KINDS = {
    "gnn": "message passing over the board's links, then a trunk that reads all spaces",
    "gnn-decoder": "the same, and message passing again from the trunk back to the spaces",
    "mlp": "two plain layers, to compare with",
}
Size = Annotated[int, Meta(ge=1, le=4096)]
Layers = Annotated[int, Meta(ge=1, le=64)]
MOST_WEIGHTS = 100_000_000  # 400 MB; the shipped networks have less than a million
if TYPE_CHECKING:
    Kind = str
    NumActions = int
    NumPolicies = int
else:
    Kind, NumActions, NumPolicies = Literal[tuple(KINDS)], Literal[BASE_ACTIONS, ACTIONS], Literal[1, len(EMPERORS)]


@dataclass(frozen=True)
class NetworkConfig:
    """What a network is made of; a checkpoint's card keeps it."""

    kind: Kind = "gnn"
    actions: NumActions = BASE_ACTIONS
    node_dim: Size = 32  # features of a space in the message-passing layers
    encoder_layers: Layers = 2  # of message passing before the trunk
    readout_dim: Size = 16  # features of each space that the trunk reads
    hidden_dim: Size = 256  # of the trunk
    policies: NumPolicies = 1  # 4: independent policies, one for each Emperor
    decoder_layers: Layers = 3  # of message passing after the trunk, of gnn-decoder only

    def __post_init__(self) -> None:
        check_fields(self, "network:")
        if self.about_weights > MOST_WEIGHTS:
            raise TetrarchiaError(f"network: it would have about {self.about_weights:,} weights, more than {MOST_WEIGHTS:,}")

    @property
    def about_weights(self) -> int:
        """How many weights its large layers have, so that nothing is made that no memory holds."""
        trunk = (SIZE + SPACES * self.readout_dim + self.hidden_dim + self.actions) * self.hidden_dim
        pointers = 16 * self.hidden_dim * self.readout_dim
        messages = (self.encoder_layers + self.decoder_layers) * 2 * self.node_dim**2
        return self.policies * (trunk + (0 if self.kind == "mlp" else pointers + messages))
