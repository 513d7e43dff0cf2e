"""Agents by name: `random`, `planner:beam=64`, `my_module.MyAgent`; options stand after colons."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tetrarchia_agents.team_policy import PLAYERS, assign_players
from tetrarchia_env.agent import Agent
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import did_you_mean

# Where each agent is written: its class, whose fields are its options. Imported when asked for: some need heavy packages.
AGENTS = {
    "random": "tetrarchia_agents.random:RandomAgent",
    "greedy": "tetrarchia_agents.greedy:GreedyAgent",
    "planner": "tetrarchia_agents.planner:PlannerAgent",
    "ppo": "tetrarchia_agents.ppo:PPOAgent",
}


def make_agent(text: str) -> Agent:
    """The agent of a name with options, `name:option=value:...`; the first option's name may be left out.

    Anybody's own class is named by its module, in this folder or installed: `my_module.MyAgent`. The fields of a dataclass
    are its options.
    """
    name, *given = text.split(":")
    if name in AGENTS:
        return _made(_class_of(name), name, given)
    with _this_folder_last():
        return _own_agent(_own_class(name), name, given)


def _made(agent: Any, name: str, given: list[str]) -> Agent:
    """One of this class, with the options given."""
    options = {field.name: field for field in fields(agent) if field.init} if is_dataclass(agent) else {}
    chosen: dict[str, Any] = {}
    for option in given:
        key, value = option.split("=", 1) if "=" in option else (next(iter(options), ""), option)
        if key not in options:
            raise TetrarchiaError(
                f"agent {name} has no option {key or option!r}{did_you_mean(key, options)}: it has {', '.join(options) or 'none'}"
            )
        if key in chosen:
            raise TetrarchiaError(f"agent {name}: option {key} is given twice in {':'.join([name, *given])!r}")
        chosen[key] = _read(f"{name}:{key}", value, options[key].type)
    made: Agent = agent(**chosen)
    return made


def _class_of(name: str) -> Any:
    module, _, kind = AGENTS[name].partition(":")
    try:
        return getattr(import_module(module), kind)
    except ModuleNotFoundError as error:
        raise TetrarchiaError(f"agent {name} needs the package {error.name}: pip install 'tetrarchia[train]'") from None


def _own_class(name: str) -> Any:
    """Somebody's own class; what it is not is told before anything of it is called."""
    module, _, kind = name.rpartition(".")
    if not all(part.isidentifier() for part in name.split(".")) or not module:
        choices = f"choose from {', '.join(AGENTS)}, or name your own class: my_module.MyAgent"
        raise TetrarchiaError(f"unknown agent {name!r}{did_you_mean(name, AGENTS)}: {choices}")
    home = _own_module(module, name)
    agent = getattr(home, kind, None)
    if agent is None:
        raise TetrarchiaError(f"agent {name}: there is no {kind} in {getattr(home, '__file__', module)}{did_you_mean(kind, dir(home))}")
    if not isinstance(agent, type) or not callable(getattr(agent, "act", None)):
        raise TetrarchiaError(f"agent {name}: an agent must be a class with a method act, see tetrarchia_agents.Agent")
    return agent


def _own_module(module: str, name: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise TetrarchiaError(f"agent {name}: {error}") from error
    except (Exception, SystemExit) as error:  # whatever a stranger's module does when it is loaded
        raise TetrarchiaError(f"agent {name}: {module} cannot be loaded ({type(error).__name__}: {error})") from error


def _own_agent(agent: Any, name: str, given: list[str]) -> Agent:
    try:
        return _made(agent, name, given)
    except ValueError:
        raise
    except Exception as error:
        raise TetrarchiaError(f"agent {name} cannot be made ({type(error).__name__}: {error})") from error


@contextmanager
def _this_folder_last() -> Iterator[None]:
    """Modules are also looked for in the current folder, after all others: a file there takes no installed module's place."""
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.reverse()  # of two that are alike, the last one goes
        sys.path.remove(folder)
        sys.path.reverse()


def _read(option: str, value: str, kind: Any) -> Any:
    """An option's value as its field wants it."""
    kind = float if kind == float | None else kind
    if kind not in (int, float):
        return value
    try:
        return kind(value)
    except ValueError:
        raise TetrarchiaError(f"{option} is a {'whole ' if kind is int else ''}number, not {value!r}") from None


def make_agents(names: str, players: int | None = None) -> tuple[Agent, ...]:
    """R13.1: the agent of each Emperor, from one to four names with commas, a name for each player (or one for all)."""
    return assign_players([make_agent(name) for name in named(names, players)])


def named(names: str, players: int | None = None) -> list[str]:
    """The name of each player's agent."""
    given = names.split(",")
    if players is not None and players not in PLAYERS:
        raise TetrarchiaError(f"players: 1 to 4 share the four Emperors, not {players}")
    if len(given) not in (PLAYERS if players is None else (1, players)):
        wanted = "one to four names" if players is None else f"one name or {players}"
        raise TetrarchiaError(f"agents: give {wanted}, with commas, not {names!r}")
    return given * players if players is not None and len(given) == 1 else given
