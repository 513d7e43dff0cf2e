"""What a network is made of, told without torch."""

from dataclasses import dataclass

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS

KINDS = {
    "gnn": "message passing over the board's links, then a trunk that reads all spaces",
    "gnn-decoder": "the same, and message passing again from the trunk back to the spaces",
    "mlp": "two plain layers, to compare with",
}


@dataclass(frozen=True)
class NetworkConfig:
    """What a network is made of; a checkpoint's card keeps it."""

    kind: str = "gnn"  # one of KINDS
    actions: int = BASE_ACTIONS
    node_dim: int = 32  # features of a space in the message-passing layers
    encoder_layers: int = 2  # of message passing before the trunk
    readout_dim: int = 16  # features of each space that the trunk reads
    hidden_dim: int = 256  # of the trunk
    policies: int = 1  # 4: independent policies, one for each Emperor
    decoder_layers: int = 3  # of message passing after the trunk, of gnn-decoder only

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"network: the kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.actions not in (BASE_ACTIONS, ACTIONS):
            raise ValueError(f"network: actions are {BASE_ACTIONS} or {ACTIONS}, not {self.actions!r}")
        if self.policies not in (1, len(EMPERORS)):
            raise ValueError(f"network: policies are 1 or {len(EMPERORS)}, not {self.policies!r}")
        for name in ("node_dim", "encoder_layers", "readout_dim", "hidden_dim", "decoder_layers"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 4096:
                raise ValueError(f"network: {name} is a whole number from 1 to 4096, not {value!r}")
