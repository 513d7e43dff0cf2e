"""The agent that looks several turns ahead."""

import numpy as np
import pytest

from helpers.configurations import ONE_BY_ONE
from helpers.positions import position
from tetrarchia_agents.mcts import MCTSAgent
from tetrarchia_agents.team_policy import TeamPolicy
from tetrarchia_env.batch import Games, legal_masks, new_games, rng_states, step
from tetrarchia_env.engine.state import OVER, WON
from tetrarchia_env.notation import action_id
from tetrarchia_env.options import Options

ENV_ID = np.zeros(1, dtype=np.int64)


def chosen(game: Games, agent: MCTSAgent) -> int:
    return int(agent.act(game, legal_masks(game), ENV_ID)[0])


def play_out(games: Games, agent: MCTSAgent, steps: int) -> None:
    """Illegal choices are refused by `step`."""
    masks, env_ids = legal_masks(games), np.arange(len(games))
    team = TeamPolicy([agent] * 4, len(games))
    team.begin(env_ids, env_ids)
    for _ in range(steps):
        live = np.flatnonzero(games["phase"] != OVER)
        actions = np.zeros(len(games), dtype=np.int64)
        if len(live):
            actions[live] = team.act(games[live], masks[live], live)
        step(games, actions, masks)


def one_border_left(rng: int) -> Games:
    """Galerius stands on the last border, but a Revolt in its region is in his way (R4.5); Diocletian can subdue it."""
    secured = {
        "BRITANNIA": "constantius",
        "GERMANIA MAGNA": "constantius",
        "GAETVLIA": "maximian",
        "LIBYA": "maximian",
        "SARMATIA": "galerius",
    }
    game = position(
        tokens=secured | {"SYRIA": "revolt"},
        emperors={"diocletian": "CILICIA", "galerius": "PERSIA", "constantius": "BRITANNIA", "maximian": "ROMA"},
    )
    game["dice"] = rng_states(np.array([rng], dtype=np.uint64))
    return game


@pytest.mark.parametrize("rng", range(5))
def test_prepares_the_win_that_the_next_emperor_makes(rng: int) -> None:
    """R4.5, R9.1: no single turn wins, two do."""
    game = one_border_left(rng)
    play_out(game, MCTSAgent(simulations=60), 12)
    assert game["outcome"][0] == WON
    assert game["turn"][0] == 9  # Diocletian's turn is finished, Galerius' is not


def test_attacks_go_into_the_tree() -> None:
    """R5: an army before ROMA that can only be stopped by an attack now."""
    game = position(emperor="maximian", ip=1, armies=[["ETRVRIA", "III", "army"]])
    assert chosen(game, MCTSAgent(simulations=60)) == action_id("attack ETRVRIA")


def test_same_rng_states_give_the_same_choices() -> None:
    games, masks = new_games(Options(), range(4))
    agent, env_ids = MCTSAgent(simulations=60), np.arange(4)
    for _ in range(6):
        once, again = agent.act(games.copy(), masks, env_ids), agent.act(games.copy(), masks, env_ids)
        assert (once == again).all()
        step(games, once, masks)


def test_neither_company_nor_a_game_before_changes_a_choice() -> None:
    games, masks = new_games(Options(level="4200"), range(3))
    agent = MCTSAgent(simulations=60)
    together = agent.act(games, masks, np.arange(3))
    alone = [agent.act(games[i : i + 1], masks[i : i + 1], ENV_ID)[0] for i in range(3)]
    assert together.tolist() == alone


def test_games_given_stay_as_they_are() -> None:
    games, masks = new_games(Options(level="4011"), range(2))
    before = games.copy()
    MCTSAgent(simulations=60).act(games, masks, np.arange(2))
    assert (games == before).all()


def test_nothing_of_the_dice_to_come_is_seen() -> None:
    """Two games that differ in nothing but the dice to come: the agent gets copies with new RNG states, and plays alike."""
    games, masks = new_games(Options(level="4011"), [5])
    both = np.concatenate([games, games])
    both["dice"][1] = rng_states(np.array([99], dtype=np.uint64))[0]
    choices = []
    for game in (both[:1], both[1:]):
        team = TeamPolicy([MCTSAgent(simulations=60)] * 4, 1)
        team.begin(ENV_ID, [5])
        choices.append(int(team.act(game, masks, ENV_ID)[0]))
    assert choices[0] == choices[1]


@pytest.mark.slow
@pytest.mark.parametrize("options", ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_plays_every_configuration(options: Options) -> None:
    games, _ = new_games(options, range(3))
    play_out(games, MCTSAgent(simulations=12, plans=3, beam=2), 60)
    assert (games["turn"] > 0).all()


def test_a_budget_of_time_is_spent_on_simulations() -> None:
    game, masks = new_games(Options(level="4011"), [1])
    action = MCTSAgent(time=0.01).act(game, masks, ENV_ID)[0]
    assert masks[0, action]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": 0.0}, "mcts:time is seconds above 0, not 0.0"),
        ({"time": float("nan")}, "mcts:time is seconds above 0, not nan"),
        ({"simulations": -1}, "mcts:simulations is from 0 on, not -1"),
        ({"plans": 0}, "mcts:plans is from 1 to 64, not 0"),
        ({"beam": 65}, "mcts:beam is from 1 to 64, not 65"),
        ({"exploration": -0.1}, "mcts:exploration is a number from 0 on, not -0.1"),
        ({"temperature": 0.0}, "mcts:temperature is a number above 0, not 0.0"),
        ({"trust": 0.0}, "mcts:trust is a number above 0, not 0.0"),
        ({"widening": 1.5}, "mcts:widening is from 0 to 1, not 1.5"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MCTSAgent(**options)  # type: ignore[arg-type]
