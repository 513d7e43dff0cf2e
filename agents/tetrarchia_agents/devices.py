"""The device of a network; importing this module needs no torch."""

from typing import TYPE_CHECKING, Literal, get_args

from tetrarchia_env.errors import TetrarchiaError

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda"]


def find_device(name: str) -> "torch.device":
    """Return a device of this machine.

    Args:
        name: "cpu", "cuda", or "auto": CUDA if PyTorch finds a GPU, else the CPU.

    Raises:
        TetrarchiaError: If the name is unknown, or PyTorch finds no GPU for "cuda".
    """
    import torch

    if name not in get_args(Device):
        raise TetrarchiaError(f"device must be one of {', '.join(get_args(Device))}; got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise TetrarchiaError("device cuda is not available: PyTorch finds no GPU, or is a build without CUDA; use cpu or auto")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")
