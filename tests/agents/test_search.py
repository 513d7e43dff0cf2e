"""Tests of the beam search and of the decisions of the planner and greedy agents."""

from typing import Any

import numpy as np
import pytest

from helpers.configurations import ONE_BY_ONE
from helpers.positions import legal, play, position
from tetrarchia_agents import Agent, TeamPolicy, make_agent
from tetrarchia_agents.greedy import GreedyAgent
from tetrarchia_agents.planner import PlannerAgent
from tetrarchia_agents.search.beam_search import (
    MAX_ENDS,
    SearchBuffers,
    add_end,
    keep_best,
    new_search_buffers,
    position_hash,
    search,
    take_action,
)
from tetrarchia_agents.search.chance import is_attack
from tetrarchia_env.batch import Games, legal_masks, new_games, playout, step
from tetrarchia_env.engine.actions import END
from tetrarchia_env.engine.state import MODULES, NOBODY, OVER, ROMAN, VARIANTS, WON
from tetrarchia_env.heuristic import load_weights
from tetrarchia_env.notation import action_text
from tetrarchia_env.options import Options

Changes = dict[str, Any]
WEIGHTS = load_weights()[0]
SMALL = "planner:beam=4:ends=2:attacks=1"
ENV_ID = np.zeros(1, dtype=np.int64)
STORMY: Changes = {
    "tokens": {"TINGITANA": "revolt", "BAETICA": "unrest", "DACIA": "revolt", "MOESIA SVPERIOR": "unrest", "SYRIA": "revolt"},
    "armies": [["SARMATIA", "IV", "army"], ["RHAETIA", "III", "army"]],
    "emperors": {"maximian": "PANNONIA SVPERIOR", "constantius": "MOESIA INFERIOR"},
}


def chosen(game: Games, agent: Agent) -> str:
    return action_text(int(agent.act(game.copy(), legal_masks(game), ENV_ID)[0]))


def play_turn(game: Games, agent: Agent) -> list[str]:
    """Play until the turn or the game ends; return the agent's actions."""
    turn, texts = int(game["turn"][0]), []
    while game["turn"][0] == turn and game["phase"][0] != OVER:
        texts.append(chosen(game, agent))
        play(game, texts[-1])
    return texts


def test_search_does_not_change_the_game() -> None:
    game = position(**STORMY)
    before = game.tobytes()
    PlannerAgent().act(game, legal_masks(game), ENV_ID)
    GreedyAgent().act(game, legal_masks(game), ENV_ID)
    assert game.tobytes() == before


# Beam search


def run_search(game: Games, beam: int = 32) -> tuple[SearchBuffers, int]:
    buffers = new_search_buffers()
    return buffers, int(search(game, 0, buffers, beam, WEIGHTS))


def test_turn_endings_are_reached_by_legal_actions() -> None:
    """R4: each ending starts with a legal action, never has negative IP and, without attacks, uses no dice."""
    game = position(tokens={"ASIA": "revolt", "GALATIA": "unrest"}, fleets=["AEGAEVM"])
    buffers, ends = run_search(game)
    assert ends > 100
    assert {action_text(int(first)) for first in buffers.end_firsts[:ends]} <= legal(game)
    assert (buffers.ends["ip"][:ends] >= 0).all()
    assert (buffers.ends["dice"][:ends] == game["dice"]).all()


def test_a_beam_of_one_contains_the_end_of_the_turn() -> None:
    game = position(tokens={"ASIA": "revolt"})
    buffers, ends = run_search(game, beam=1)
    assert ends > 0
    assert END in buffers.end_firsts[:ends]


def test_hashes_are_equal_only_for_equal_positions() -> None:
    """Different positions of a turn have different hashes."""
    games, masks = new_games(Options(level="4212", variants=VARIANTS, modules=MODULES), range(60))
    playout(games, masks, np.arange(1, 61, dtype=np.uint64), 25)
    met_again = 0
    for game in games[games["phase"] == ROMAN][:10]:
        children = [child for one in children_of(game) for child in [one, *children_of(one)] if child.passing == NOBODY]
        records, keys = {child.tobytes() for child in children}, {int(position_hash(child)) for child in children}
        assert len(records) == len(keys)
        met_again += len(children) - len(records)
    assert met_again > 100


def test_passing_is_part_of_the_hash_r4_3() -> None:
    """R4.3, R11.1: Diocletian and the Dux share GALATIA, and either of them may be the one passing."""
    last_emperor, last_dux = (position(rules={"modules": ["dux"]}, dux="ASIA") for _ in range(2))
    play(last_emperor, "dux move GALATIA", "move GALATIA")
    play(last_dux, "move GALATIA", "dux move GALATIA")
    assert legal(last_emperor) != legal(last_dux)
    assert position_hash(last_emperor[0]) != position_hash(last_dux[0])


def children_of(game: Any) -> list[Any]:
    """Return the positions after each legal action that rolls no dice."""
    children = []
    for action in np.flatnonzero(legal_masks(np.array([game]))[0]):
        if game.phase == ROMAN and action != END and not is_attack(int(action)):
            child = np.array([game])
            take_action(child[0], int(action))
            children.append(child[0])
    return children


def test_the_beam_keeps_the_best_distinct_positions() -> None:
    buffers = new_search_buffers()
    for place, (ip, value) in enumerate([(1, 0.3), (2, 0.5), (3, 0.1), (2, 0.5), (4, 0.9)]):
        buffers.children[place] = position(ip=ip)[0]
        buffers.child_values[place], buffers.child_firsts[place] = value, place
        buffers.child_hashes[place] = position_hash(buffers.children[place])
    assert keep_best(buffers, 5, 3) == 3
    assert buffers.beam["ip"][:3].tolist() == [4, 2, 1]
    assert keep_best(buffers, 5, 10) == 4


def test_a_full_buffer_replaces_the_worst_ending() -> None:
    buffers, games, ends = new_search_buffers(), position(), 0
    for value in range(MAX_ENDS):
        ends = add_end(buffers, ends, games, 0, value, -1, value / MAX_ENDS)
    assert add_end(buffers, ends, games, 0, 5000, -1, 0.5) == add_end(buffers, ends, games, 0, 6000, -1, -1.0) == MAX_ENDS
    assert set(buffers.end_firsts.tolist()) == {*range(1, MAX_ENDS), 5000}


# Decisions

BUT_LIBYA = {
    "GAETVLIA": "maximian",
    "BRITANNIA": "constantius",
    "GERMANIA MAGNA": "galerius",
    "SARMATIA": "galerius",
    "PERSIA": "constantius",
}
ON_LIBYA: Changes = {"tokens": BUT_LIBYA, "emperors": {"diocletian": "LIBYA"}}
SUPPORT = {"SYRIA": "diocletian", "CILICIA": "diocletian", "ASIA": "diocletian"}
WINS: dict[str, tuple[Changes, list[str]]] = {
    "at once": (ON_LIBYA | {"ip": 2}, ["secure"]),
    "three actions": (
        {"tokens": BUT_LIBYA | {"CYRENAICA": "revolt"}, "emperors": {"diocletian": "CYRENAICA"}},
        ["subdue", "move LIBYA", "secure"],
    ),
    "by sea": (
        {"tokens": BUT_LIBYA, "fleets": ["INTERNVM"], "ip": 6, "emperors": {"diocletian": "BITHYNIA"}},
        ["sail INTERNVM AEGAEVM", "move AEGYPTVS", "move LIBYA", "secure"],
    ),
    "five actions": (
        {
            "emperor": "maximian",
            "tokens": BUT_LIBYA | {"CYRENAICA": "revolt"},
            "emperors": {"maximian": "AEGYPTVS"},
            "ip": 7,
            "rules": {"variants": ["imperivm"]},
        },
        ["imperivm", "move CYRENAICA", "subdue", "move LIBYA", "secure"],
    ),
    "certain attack": (  # (1 + 3) x 2 is more than 6
        {
            "tokens": BUT_LIBYA | SUPPORT,
            "emperors": {"diocletian": "AEGYPTVS", "galerius": "CYRENAICA"},
            "armies": [["LIBYA", "VI", "army"]],
        },
        ["attack LIBYA", "secure"],
    ),
}


@pytest.mark.parametrize(("changes", "way"), WINS.values(), ids=WINS)
def test_the_planner_wins_in_this_turn_if_possible_r9_1(changes: Changes, way: list[str]) -> None:
    """R9.1: the win may take several actions, in any order, and an attack that cannot fail."""
    assert play(position(**changes), *way)["outcome"] == "won"
    game = position(**changes)
    texts = play_turn(game, PlannerAgent())
    assert (game["outcome"][0], game["turn"][0]) == (WON, 8)
    assert texts[-1] == "secure"


@pytest.mark.parametrize("name", ["greedy", "planner", SMALL])
def test_a_win_by_one_action_is_taken_r9_1(name: str) -> None:
    assert chosen(position(**ON_LIBYA), make_agent(name)) == "secure"


@pytest.mark.parametrize("name", ["greedy", "planner", SMALL])
def test_constantius_blocks_an_attack_that_would_lose_the_game(name: str) -> None:
    """R10.1, R9.2: a defeat in ROMA would lose the game."""
    game = position(rules={"variants": ["imperivm"]}, armies=[["ETRVRIA", "I", "army"]], emperors={"constantius": "ROMA"}, dice=(5, 6))
    assert play(game, "end")["phase"] == "block"
    assert chosen(game, make_agent(name)) == "block"


IMPERIVM: Changes = {"rules": {"variants": ["imperivm"]}}
PHASES: dict[str, tuple[Changes, tuple[int | None, ...], str | None]] = {
    "fleets": ({"phase": "fleets", "turn": 0, "ip": 0, "rules": {"level": "4200"}}, (), None),
    "arrival": ({"phase": "arrival", "emperors": {"diocletian": None}}, (), None),
    "boost": (IMPERIVM | {"emperor": "galerius", "armies": [["NORICVM", "III", "army"]]}, (2, 3), "attack NORICVM"),
    "block": (IMPERIVM | STORMY | {"armies": [["SARMATIA", "IV", "army"]]}, (None, None, 5, 6, 4), "end"),
}


@pytest.mark.parametrize("name", ["greedy", "planner", SMALL])
@pytest.mark.parametrize("phase", PHASES)
def test_actions_are_legal_in_every_phase(phase: str, name: str) -> None:
    """R2.6, R3.2, R10.1."""
    changes, dice, action = PHASES[phase]
    game = position(**changes, dice=dice)
    if action:
        assert play(game, action)["phase"] == phase
    assert chosen(game, make_agent(name)) in legal(game)


@pytest.mark.parametrize("name", ["greedy", SMALL])
@pytest.mark.parametrize("configuration", ONE_BY_ONE)
def test_actions_are_legal_in_every_configuration(configuration: str, name: str) -> None:
    """R10 to R12: an illegal action would be refused."""
    games, masks = new_games(ONE_BY_ONE[configuration], range(4))
    env_ids, team = np.arange(4), TeamPolicy([make_agent(name)] * 4, 4)
    team.begin(env_ids, env_ids)
    for _ in range(100):
        running, actions = np.flatnonzero(games["phase"] != OVER), np.zeros(4, dtype=np.int64)
        actions[running] = team.act(games[running], masks[running], running)
        step(games, actions, masks)
    assert team.decisions.sum() > 100


def test_deeper_search_wins_more_games() -> None:
    """Compare no search, a search of one action and a search of one turn at an easy level."""
    won = [games_won(name) for name in ("random", "greedy", "planner")]
    assert won == sorted(set(won))


def games_won(name: str) -> int:
    games, masks = new_games(Options(level="5300", max_turns=200), range(30))
    env_ids, team = np.arange(len(games)), TeamPolicy([make_agent(name)] * 4, len(games))
    team.begin(env_ids, env_ids)
    while len(running := np.flatnonzero(games["phase"] != OVER)):
        actions = np.zeros(len(games), dtype=np.int64)
        actions[running] = team.act(games[running], masks[running], running)
        step(games, actions, masks)
    return int((games["outcome"] == WON).sum())
