"""Examples in docstrings: they run, and every public name has one."""

import doctest
import inspect
from importlib import import_module

import pytest

import tetrarchia_env

MODULES = {  # and the optional packages that their examples need
    "tetrarchia_env": (),
    "tetrarchia_env.batch": (),
    "tetrarchia_env.board": (),
    "tetrarchia_env.constants": (),
    "tetrarchia_env.game": (),
    "tetrarchia_env.envs.aec": (),
    "tetrarchia_env.envs.gymnasium": (),
    "tetrarchia_env.envs.infos": (),
    "tetrarchia_env.notation.actions": (),
    "tetrarchia_env.notation.replays": (),
    "tetrarchia_env.notation.restore": (),
    "tetrarchia_env.notation.snapshots": (),
    "tetrarchia_env.options": (),
    "tetrarchia_env.envs.rewards": (),
    "tetrarchia_env.envs.vector": (),
    "tetrarchia_env.tetrarchia_v0": ("stable_baselines3",),
    "tetrarchia_agents.registry": (),
    "tetrarchia_agents.rollouts": (),
    "tetrarchia_eval.statistics": (),
}


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    for package in MODULES[name]:
        pytest.importorskip(package)

    found = doctest.testmod(import_module(name))

    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", tetrarchia_env.__all__)
def test_public_name_has_an_example(name: str) -> None:
    thing = getattr(tetrarchia_env, name)

    assert ">>>" in inspect.getdoc(thing)  # type: ignore[operator]
    assert inspect.getmodule(thing if hasattr(thing, "__name__") else type(thing)).__name__ in MODULES  # type: ignore[union-attr]
