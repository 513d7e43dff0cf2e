"""The agents by name, and which player decides for which Emperor (R13.1).

To add an agent, write its class in a module of its own and add one entry to AGENTS. This module imports nothing heavy: commands
read the table for shell completion.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import import_optional
from tetrarchia_env.messages import did_you_mean

if TYPE_CHECKING:
    from tetrarchia_env.agent import Agent

Player = TypeVar("Player")

# R13.1: the player of each Emperor in turn order, by the number of players. Of three, the first plays Diocletian and Galerius; which of
# the two couples shares a player is the players' choice.
PLAYERS = {1: (0, 0, 0, 0), 2: (0, 0, 1, 1), 3: (0, 0, 1, 2), 4: (0, 1, 2, 3)}


@dataclass(frozen=True)
class AgentType:
    """One kind of agent, an entry of `AGENTS`.

    Attributes:
        name: The name, as `make_agent` takes it.
        help: How the agent chooses.
        class_path: "module:Class", imported on demand; the fields of the dataclass are the agent's options.
        options: Help by option, in the order of the fields.

    >>> AGENTS["planner"].options["beam"]
    'positions kept after each action'
    """

    name: str
    help: str
    class_path: str
    options: Mapping[str, str] = field(default_factory=dict)


#: The built-in agents by name.
AGENTS = {
    agent_type.name: agent_type
    for agent_type in (
        AgentType("random", "any legal action", "tetrarchia_agents.random:RandomAgent"),
        AgentType("greedy", "the action with the best resulting position", "tetrarchia_agents.greedy:GreedyAgent"),
        AgentType(
            "planner",
            "searches its own turn with a heuristic evaluation",
            "tetrarchia_agents.planner:PlannerAgent",
            {
                "beam": "positions kept after each action",
                "ends": "turn endings evaluated over the Barbarian phase",
                "attacks": "attacks whose results are planned further",
            },
        ),
        AgentType(
            "ppo",
            "a trained network; needs the extra agents",
            "tetrarchia_agents.ppo:PPOAgent",
            {
                "checkpoint": "a name in checkpoints/ or a folder",
                "candidates": "candidate turns to search; 0: no search",
                "temperature": "of sampling; 0 plays the most probable action",
                "chance_samples": "evaluations of a candidate with each of the 36 outcomes of two dice",
                "margin": "minimum advantage of another turn over the greedy one; a win is worth 2",
                "rollout_turns": "turns played by the policy before finalists are evaluated; 0: no rollouts",
                "finalists": "candidates evaluated by rollouts",
                "confirm_samples": "like chance_samples, for the last comparison with the greedy turn",
                "device": "of the network: cpu, cuda, or auto",
            },
        ),
        AgentType(
            "partner",
            "a fixed teammate with a style of its own, for ad hoc teamwork",
            "tetrarchia_agents.partners:PartnerAgent",
            {"name": "an entry of partners.toml, such as pacifist"},
        ),
    )
}


def make_agent(name: str) -> "Agent":
    """Return a new agent.

    Args:
        name: A name in AGENTS, or the path of your own class, `my_module.MyAgent`, in the current folder or an installed package.
            Options follow after colons, `planner:beam=64:ends=32`; the first option's name may be omitted, `planner:64`. The
            options of your own class are the fields of a dataclass.

    Raises:
        TetrarchiaError: There is no such agent or option, or a package or checkpoint is missing.

    >>> from tetrarchia_agents import make_agent
    >>> make_agent("planner:64")
    PlannerAgent(beam=64, ends=16, attacks=4)
    """
    word, *options = name.split(":")
    if word not in AGENTS:
        return _make_own(word, options)
    module, _, class_name = AGENTS[word].class_path.partition(":")
    return _make(getattr(import_optional(module, "agents", f"agent {word}"), class_name), word, options)


def make_agents(names: str, players: int | None = None) -> "tuple[Agent, Agent, Agent, Agent]":
    """Return the agent of each Emperor in turn order (R13.1).

    Args:
        names: One to four names separated by commas, one per player; or one name for all players.
        players: The number of players who share the Emperors, 1 to 4; by default the number of names.

    Returns:
        Four agents. The Emperors of one player have the same object, those of different players different objects.

    >>> from tetrarchia_agents import make_agents
    >>> make_agents("greedy,random")[1:3]
    (GreedyAgent(), RandomAgent())
    """
    east, caesar_east, caesar_west, west = assign_players([make_agent(name) for name in split_names(names, players)])
    return east, caesar_east, caesar_west, west


def split_names(names: str, players: int | None = None) -> list[str]:
    """Return the name of each player's agent, see `make_agents`."""
    given = names.split(",")
    if players is not None and players not in PLAYERS:
        raise TetrarchiaError(f"players must be 1 to 4; got {players}")
    if len(given) not in (PLAYERS if players is None else (1, players)):
        allowed = "one to four names" if players is None else f"one name or {players} names"
        raise TetrarchiaError(f"agents must be {allowed}, separated by commas; got {names!r}")
    return given * players if players is not None and len(given) == 1 else given


def assign_players(players: Sequence[Player]) -> tuple[Player, ...]:
    """Return the player of each Emperor in turn order (R13.1).

    Args:
        players: One to four players of any type.

    Raises:
        TetrarchiaError: There are more or fewer players.

    >>> assign_players(["Anna", "Bruno"])
    ('Anna', 'Anna', 'Bruno', 'Bruno')
    """
    if len(players) not in PLAYERS:
        raise TetrarchiaError(f"one to four players share the Emperors; got {len(players)}")
    return tuple(players[player] for player in PLAYERS[len(players)])


def _make(agent_class: Any, name: str, given: list[str]) -> "Agent":
    options = {field.name: field for field in fields(agent_class) if field.init} if is_dataclass(agent_class) else {}
    values: dict[str, Any] = {}
    for option in given:
        key, value = option.split("=", 1) if "=" in option else (next(iter(options), ""), option)
        if key not in options:
            allowed = f"its options are {', '.join(options)}" if options else "it has no options"
            raise TetrarchiaError(f"agent {name} has no option {key or option!r}{did_you_mean(key, options)}; {allowed}")
        if key in values:
            raise TetrarchiaError(f"agent {name}: option {key} is given twice in {':'.join([name, *given])!r}")
        values[key] = _parse(f"{name}:{key}", value, options[key].type)
    agent: Agent = agent_class(**values)
    return agent


def _parse(option: str, value: str, kind: Any) -> Any:
    if isinstance(kind, str):  # in a module with `from __future__ import annotations`
        kind = {"int": int, "float": float, "float | None": float}.get(kind)
    kind = float if kind == float | None else kind
    if kind not in (int, float):
        return value
    try:
        return kind(value)
    except ValueError:
        raise TetrarchiaError(f"{option} must be {'an integer' if kind is int else 'a number'}; got {value!r}") from None


def _make_own(name: str, options: list[str]) -> "Agent":
    """Make an agent of a user's class; whatever its code raises becomes one message."""
    module, _, class_name = name.rpartition(".")
    if not all(part.isidentifier() for part in name.split(".")) or not module:
        allowed = f"choose from {', '.join(AGENTS)}, or name your own class: my_module.MyAgent"
        raise TetrarchiaError(f"unknown agent {name!r}{did_you_mean(name, AGENTS)}: {allowed}")
    with _current_folder_last():
        try:
            source = import_module(module)
        except ModuleNotFoundError as error:
            raise TetrarchiaError(f"agent {name}: {error}") from error
        except (Exception, SystemExit) as error:
            raise TetrarchiaError(f"agent {name}: {module} cannot be imported ({type(error).__name__}: {error})") from error
        agent_class = getattr(source, class_name, None)
        if agent_class is None:
            path = getattr(source, "__file__", module)
            raise TetrarchiaError(f"agent {name}: there is no {class_name} in {path}{did_you_mean(class_name, dir(source))}")
        if not isinstance(agent_class, type) or not callable(getattr(agent_class, "act", None)):
            raise TetrarchiaError(f"agent {name} must be a class with a method act, see tetrarchia_agents.Agent")
        try:
            return _make(agent_class, name, options)
        except TetrarchiaError:
            raise
        except Exception as error:
            raise TetrarchiaError(f"agent {name} cannot be made ({type(error).__name__}: {error})") from error


@contextmanager
def _current_folder_last() -> Iterator[None]:
    """Search the current folder after all others, so that a file there does not hide an installed module."""
    folder = str(Path.cwd())
    sys.path.append(folder)
    try:
        yield
    finally:
        del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]
