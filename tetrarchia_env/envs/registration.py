"""`Tetrarchia-v0` in Gymnasium's registry and `tetrarchia-v0` in PettingZoo's; nothing is loaded until one is made."""

import sys

TYPE_CHECKING = False  # typing's own, and what stands below, would be loaded by every command before it can be stopped
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

GYMNASIUM_ID = "Tetrarchia-v0"
PETTINGZOO_ID = "tetrarchia-v0"


def register_soon() -> None:
    """Tell Gymnasium now if it is loaded, else as soon as it is: to load it here would cost every command and worker 0.2 s."""
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _WhenGymnasiumLoads) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenGymnasiumLoads())


def register() -> None:
    """Tell Gymnasium, once."""
    import gymnasium

    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            entry_point="tetrarchia_env.envs.gymnasium:TetrarchiaEnv",
            vector_entry_point="tetrarchia_env.envs.vector:TetrarchiaVector",
        )


def register_with_pettingzoo() -> None:
    """Tell PettingZoo, whose versions from 1.26 on have a registry."""
    import pettingzoo

    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", PETTINGZOO_ID, "tetrarchia_env.tetrarchia_v0:env")
        pettingzoo.register("parallel", PETTINGZOO_ID, "tetrarchia_env.tetrarchia_v0:parallel_env")


class _WhenGymnasiumLoads:
    """Finds Gymnasium as everybody does, and registers after it has loaded."""

    def find_spec(self, name: str, path: "Sequence[str] | None", target: "ModuleType | None" = None) -> "ModuleSpec | None":
        if name != "gymnasium":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: "ModuleType") -> None:
                load(module)
                register()

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
