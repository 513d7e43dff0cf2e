"""Agents by name, with options and fingerprints; who plays whom (R13.1); the page about them."""

import re
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from tetrarchia_agents import AGENTS, Actions, Agent, EnvIds, TeamPolicy, assign_players, make_agent, make_agents
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.greedy import GreedyAgent
from tetrarchia_agents.planner import PlannerAgent
from tetrarchia_agents.random import RandomAgent
from tetrarchia_env.batch import Games, Masks

# R13.1


@pytest.mark.parametrize(
    ("players", "emperors"),
    [("A", "AAAA"), ("AB", "AABB"), ("ABC", "AABC"), ("ABCD", "ABCD")],
)
def test_one_to_four_players_share_the_emperors_r13_1(players: str, emperors: str) -> None:
    """R13.1: two have a couple each; of three, the player of Diocletian decides for his Caesar too."""
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
def test_a_name_for_each_player_r13_1(names: str, players: int | None, kinds: list[type]) -> None:
    assert [type(agent) for agent in make_agents(names, players)] == kinds


def test_players_of_one_name_are_agents_of_their_own_r13_1() -> None:
    """R13.1: one player's agent is the same for all his Emperors; another player has another."""
    assert [len({id(agent) for agent in make_agents("planner", players)}) for players in (None, 1, 2, 3, 4)] == [1, 1, 2, 3, 4]


# Names


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
def test_options_stand_after_colons(text: str, agent: Agent) -> None:
    assert repr(make_agent(text)) == repr(agent)


@pytest.mark.parametrize(
    ("names", "players", "sentence"),
    [
        ("nero", None, "unknown agent 'nero': choose from random, greedy, planner"),
        ("", None, "unknown agent ''"),
        ("random,", None, "unknown agent ''"),
        ("random:5", None, "agent random has no option '5': it has none"),
        ("random:beam=5", None, "agent random has no option 'beam': it has none"),
        ("greedy:weights=x", None, "agent greedy has no option 'weights': it has none"),
        ("planner:depth=3", None, "agent planner has no option 'depth': it has beam, ends, attacks"),
        ("planner:beam=wide", None, "planner:beam is a whole number, not 'wide'"),
        ("planner:beam=", None, "planner:beam is a whole number, not ''"),
        ("planner:ends=2.5", None, "planner:ends is a whole number, not '2.5'"),
        ("planner:beam=0", None, "planner:beam is from 1 to 128, not 0"),
        ("planner:attacks=-1", None, "planner:attacks is from 1 to 128, not -1"),
        ("planner:ends=1025", None, "planner:ends is from 1 to 128, not 1025"),
        ("random," * 4 + "random", None, "agents: give one to four names, with commas, not 'random,random"),
        ("random,random", 3, "agents: give one name or 3, with commas, not 'random,random'"),
        ("random,random", 1, "agents: give one name or 1, with commas, not 'random,random'"),
        ("random", 5, "players: 1 to 4 share the four Emperors, not 5"),
        ("random", 0, "players: 1 to 4 share the four Emperors, not 0"),
    ],
)
def test_a_mistake_is_one_sentence(names: str, players: int | None, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}") as mistake:
        make_agents(names, players)
    assert "\n" not in str(mistake.value)


def test_seats_are_four() -> None:
    with pytest.raises(ValueError, match=r"^four agents, one for each of diocletian, .*, not 3$"):
        TeamPolicy([RandomAgent()] * 3, 1)
    with pytest.raises(ValueError, match=r"^one to four players share the Emperors, not 5$"):
        assign_players("ABCDE")


@pytest.mark.parametrize("name", AGENTS)
def test_every_name_is_written_somewhere(name: str) -> None:
    """Without importing it: some need packages that are not always there."""
    module, _, kind = AGENTS[name].partition(":")
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    assert f"\nclass {kind}(Agent):" in Path(spec.origin).read_text(encoding="utf-8")


# Fingerprints


class Forgetful(Agent):
    """Has no memory, so no `begin`, and no weights."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        actions: Actions = masks.argmax(axis=1)
        return actions


class Renamed(Forgetful):
    """Another class, the same choices."""


@pytest.mark.parametrize("agent", [PlannerAgent, GreedyAgent])
def test_other_weights_make_another_agent(agent: type[PlannerAgent] | type[GreedyAgent]) -> None:
    other = agent()
    other.weights["revolts"] += 1e-6
    assert fingerprint(other) != fingerprint(agent())


def test_other_choices_make_another_agent_and_other_names_do_not() -> None:
    assert fingerprint(PlannerAgent(beam=1, ends=1)) != fingerprint(PlannerAgent())
    assert fingerprint(Renamed()) == fingerprint(Forgetful())


@dataclass(frozen=True)
class Careful(Forgetful):
    """Has options that do not matter in the fingerprint's positions, and a path that never matters."""

    margin: float = 0.5
    folder: str = field(default="here", metadata={"fingerprint": False})


def test_other_options_make_another_fingerprint() -> None:
    assert fingerprint(Careful(margin=0.25)) != fingerprint(Careful())
    assert fingerprint(Careful(folder="there")) == fingerprint(Careful())


def test_search_widths_have_different_fingerprints() -> None:
    pytest.importorskip("torch")
    names = ("ppo", "ppo:candidates=4", "ppo:candidates=8", "ppo:candidates=8:margin=0.03")
    assert len({fingerprint(make_agent(name)) for name in names}) == len(names)


def test_agents_have_fingerprints_of_their_own() -> None:
    prints = [fingerprint(agent) for agent in (RandomAgent(), GreedyAgent(), PlannerAgent(), Forgetful())]
    assert len(set(prints)) == 4
    assert all(re.fullmatch("[0-9a-f]{12}", one) for one in prints)


# A class of your own


def test_anybodys_own_class_is_named_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with pytest.raises(ValueError, match=r"agent own_first\.Last: there is no Last in .*own_first\.py"):
        make_agent("own_first.Last")
    with pytest.raises(ValueError, match=r"agent nowhere\.First: No module named 'nowhere'"):
        make_agent("nowhere.First")
