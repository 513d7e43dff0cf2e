"""Examples in docstrings: they run, and every public name has one."""

import doctest
import inspect
from importlib import import_module
from types import ModuleType

import pytest

import tetrarchia_agents
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
    "tetrarchia_env.envs.sb3": ("stable_baselines3",),
    "tetrarchia_env.tetrarchia_v0": (),
    "tetrarchia_env.agent": (),
    "tetrarchia_agents.registry": (),
    "tetrarchia_agents.rollouts": (),
    "tetrarchia_eval.protocol": (),
    "tetrarchia_eval.run_statistics": (),
    "tetrarchia_eval.statistics": (),
}


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name: str) -> None:
    for package in MODULES[name]:
        pytest.importorskip(package)

    found = doctest.testmod(import_module(name))

    assert found.attempted > 0
    assert found.failed == 0


PUBLIC = [(package, name) for package in (tetrarchia_env, tetrarchia_agents) for name in package.__all__]
DATA = {"AGENTS", "Actions", "EnvIds"}  # a dictionary and type aliases


@pytest.mark.parametrize(("package", "name"), [pytest.param(*one, id=one[1]) for one in PUBLIC if one[1] not in DATA])
def test_public_name_documents_its_parameters_and_has_an_example(package: ModuleType, name: str) -> None:
    thing = getattr(package, name)
    text = inspect.getdoc(thing) or ""

    assert ">>>" in text
    if callable(thing) and name not in ("Agent", "TeamPolicy"):  # these document their methods
        assert "Args:" in text or "Attributes:" in text
    assert inspect.getmodule(thing if hasattr(thing, "__name__") else type(thing)).__name__ in MODULES  # type: ignore[union-attr]
