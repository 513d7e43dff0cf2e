"""`Tetrarchia-v0` in Gymnasium's registry and `tetrarchia-v0` in PettingZoo's; nothing is loaded until one is made."""

import gymnasium

GYMNASIUM_ID = "Tetrarchia-v0"
PETTINGZOO_ID = "tetrarchia-v0"


def register() -> None:
    """Tell Gymnasium, once."""
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="tetrarchia_env.gym_env:TetrarchiaEnv",
            vector_entry_point="tetrarchia_env.vector:TetrarchiaVector",
        )


def register_with_pettingzoo() -> None:
    """Tell PettingZoo, whose versions from 1.26 on have a registry."""
    import pettingzoo

    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", PETTINGZOO_ID, "tetrarchia_env.tetrarchia_v0:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "tetrarchia_env.tetrarchia_v0:parallel_env")
