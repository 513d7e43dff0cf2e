"""Tests of agent names, options and fingerprints, and of the assignment of agents to Emperors (R13.1)."""

import re
import subprocess
import sys
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path

import pytest

from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, TeamPolicy, assign_players, make_agent, make_agents
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.greedy import GreedyAgent
from tetrarchia_agents.planner import PlannerAgent
from tetrarchia_agents.random import RandomAgent
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.errors import TetrarchiaError

# Assignment of players to Emperors (R13.1)


@pytest.mark.parametrize(
    ("players", "emperors"),
    [("A", "AAAA"), ("AB", "AABB"), ("ABC", "AABC"), ("ABCD", "ABCD")],
)
def test_one_to_four_players_share_the_emperors_r13_1(players: str, emperors: str) -> None:
    """R13.1: two players control two Emperors each; of three players, the first controls Diocletian and Galerius."""
    assert "".join(assign_players(players)) == emperors


@pytest.mark.parametrize(
    ("names", "players", "kinds"),
    [
        ("greedy", None, [GreedyAgent] * 4),
        ("random,greedy", None, [RandomAgent, RandomAgent, GreedyAgent, GreedyAgent]),
        ("random,greedy", 2, [RandomAgent, RandomAgent, GreedyAgent, GreedyAgent]),
        ("random,greedy,planner", 3, [RandomAgent, RandomAgent, GreedyAgent, PlannerAgent]),
        ("random,greedy,planner,random", None, [RandomAgent, GreedyAgent, PlannerAgent, RandomAgent]),
    ],
)
def test_names_are_assigned_to_players_r13_1(names: str, players: int | None, kinds: list[type]) -> None:
    assert [type(agent) for agent in make_agents(names, players)] == kinds


def test_players_have_different_agents_r13_1() -> None:
    """R13.1: the Emperors of one player share an agent; each player has a separate agent."""
    assert [len({id(agent) for agent in make_agents("planner", players)}) for players in (None, 1, 2, 3, 4)] == [1, 1, 2, 3, 4]


# Agent names and options


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("random", RandomAgent()),
        ("greedy", GreedyAgent()),
        ("planner", PlannerAgent(beam=32, ends=16, attacks=4)),
        ("planner:64", PlannerAgent(beam=64)),
        ("planner:beam=64", PlannerAgent(beam=64)),
        ("planner:attacks=1:beam=4", PlannerAgent(beam=4, attacks=1)),
        ("planner:128:ends=128", PlannerAgent(beam=128, ends=128)),
    ],
)
def test_options_are_parsed_from_the_agent_name(text: str, agent: Agent) -> None:
    assert repr(make_agent(text)) == repr(agent)


@pytest.mark.parametrize(
    ("names", "players", "message"),
    [
        ("nero", None, "unknown agent 'nero': choose from random, greedy, planner"),
        ("", None, "unknown agent ''"),
        ("random,", None, "unknown agent ''"),
        ("random:5", None, "agent random has no option '5'"),
        ("random:beam=5", None, "agent random has no option 'beam'"),
        ("greedy:weights=x", None, "agent greedy has no option 'weights'"),
        ("planner:depth=3", None, "agent planner has no option 'depth'; its options are beam, ends, attacks"),
        ("planner:beam=wide", None, "planner:beam must be an integer; got 'wide'"),
        ("planner:beam=", None, "planner:beam must be an integer; got ''"),
        ("planner:ends=2.5", None, "planner:ends must be an integer; got '2.5'"),
        ("planner:beam=4:beam=5", None, "agent planner: option beam is given twice"),
        ("planner:beam=0", None, "planner:beam must be from 1 to 128; got 0"),
        ("planner:attacks=-1", None, "planner:attacks must be"),
        ("planner:ends=1025", None, "planner:ends must be"),
        ("random," * 4 + "random", None, "agents must be one to four names"),
        ("random,random", 3, "agents must be one name or 3 names"),
        ("random,random", 1, "agents must be one name or 1 names"),
        ("random", 5, "players must be 1 to 4; got 5"),
        ("random", 0, "players must be 1 to 4; got 0"),
    ],
)
def test_invalid_names_and_options_are_refused(names: str, players: int | None, message: str) -> None:
    with pytest.raises(TetrarchiaError, match=f"^{re.escape(message)}"):
        make_agents(names, players)


def test_a_team_must_have_four_agents() -> None:
    with pytest.raises(TetrarchiaError, match="agents must be four"):
        TeamPolicy([RandomAgent()] * 3, 1)
    with pytest.raises(TetrarchiaError, match="one to four players"):
        assign_players("ABCDE")


@pytest.mark.parametrize("agent_type", AGENTS.values(), ids=list(AGENTS))
def test_registered_options_match_the_fields_of_the_class(agent_type: AgentType) -> None:
    pytest.importorskip("torch")
    module, _, class_name = agent_type.class_path.partition(":")
    agent_class = getattr(import_module(module), class_name)
    assert list(agent_type.options) == [one.name for one in fields(agent_class) if one.init]


def test_importing_the_registry_does_not_import_numba_or_torch() -> None:
    script = "import sys; from tetrarchia_agents import AGENTS; print({'numba', 'torch'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip() == "set()"


# Fingerprints


class Forgetful(Agent):
    """Agent without memory, `begin` method and weights; plays the first legal action."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        actions: Actions = masks.argmax(axis=1)
        return actions


class Renamed(Forgetful):
    """Agent with another class name and the same choices."""


@pytest.mark.parametrize("agent", [PlannerAgent, GreedyAgent])
def test_fingerprint_depends_on_the_weights(agent: type[PlannerAgent] | type[GreedyAgent]) -> None:
    other = agent()
    other.weights["revolts"] += 1e-6
    assert fingerprint(other) != fingerprint(agent())


def test_fingerprint_depends_on_actions_and_not_on_the_class_name() -> None:
    assert fingerprint(PlannerAgent(beam=1, ends=1)) != fingerprint(PlannerAgent())
    assert fingerprint(Renamed()) == fingerprint(Forgetful())


@dataclass(frozen=True)
class Careful(Forgetful):
    """Agent with an option that does not change its choices, and a path that is excluded from the fingerprint."""

    margin: float = 0.5
    folder: str = field(default="here", metadata={"fingerprint": False})


def test_weights_digest_that_is_not_bytes_is_refused() -> None:
    class Text(GreedyAgent):
        def weights_digest(self) -> str:
            return "v1"

    with pytest.raises(TetrarchiaError, match=r"Text\.weights_digest\(\) must return bytes; got str"):
        fingerprint(Text())


def test_fingerprint_depends_on_options() -> None:
    assert fingerprint(Careful(margin=0.25)) != fingerprint(Careful())
    assert fingerprint(Careful(folder="there")) == fingerprint(Careful())


def test_search_options_change_the_fingerprint() -> None:
    pytest.importorskip("torch")
    names = ("ppo", "ppo:candidates=4", "ppo:candidates=8", "ppo:candidates=8:margin=0.03")
    assert len({fingerprint(make_agent(name)) for name in names}) == len(names)


def test_agents_have_different_fingerprints() -> None:
    prints = [fingerprint(agent) for agent in (RandomAgent(), GreedyAgent(), PlannerAgent(), Forgetful())]
    assert len(set(prints)) == 4
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in prints)


# User-defined agent classes


def test_a_user_class_is_found_by_module_and_class_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_first.py").write_text(
        "from dataclasses import dataclass\n"
        "from tetrarchia_env.agent import Agent\n"
        "@dataclass(frozen=True)\n"
        "class First(Agent):\n"
        "    share: float = 1.0\n"
        "    def act(self, games, masks, env_ids):\n"
        "        return masks.argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)

    agent = make_agent("own_first.First:share=0.5")

    assert (type(agent).__name__, agent.share) == ("First", 0.5)  # type: ignore[attr-defined]
    with pytest.raises(TetrarchiaError, match=r"agent own_first\.Last: there is no Last in .*own_first\.py"):
        make_agent("own_first.Last")
    with pytest.raises(TetrarchiaError, match=r"agent nowhere\.First: No module named 'nowhere'"):
        make_agent("nowhere.First")
