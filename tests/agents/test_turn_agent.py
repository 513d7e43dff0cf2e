"""Tests of the agent `ppo:candidates=N`, which plays the best turn found by its search."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from helpers.configurations import ONE_BY_ONE  # noqa: E402
from helpers.positions import position  # noqa: E402
from tetrarchia_agents import TeamPolicy, make_agent  # noqa: E402
from tetrarchia_agents.checkpoints import save_checkpoint  # noqa: E402
from tetrarchia_agents.network import NetworkConfig, make_network  # noqa: E402
from tetrarchia_agents.ppo import PPOAgent  # noqa: E402
from tetrarchia_env.batch import Games, is_won, legal_masks, new_games, step  # noqa: E402
from tetrarchia_env.constants import ACTIONS  # noqa: E402
from tetrarchia_env.errors import TetrarchiaError  # noqa: E402
from tetrarchia_env.options import Options  # noqa: E402

EVERY_ACTION = NetworkConfig(actions=ACTIONS, node_dim=8, encoder_layers=1, readout_dim=4, hidden_dim=32)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save a checkpoint for all actions with a non-uniform policy; return its path."""
    folder: Path = tmp_path_factory.mktemp("checkpoints") / "small"
    torch.manual_seed(1)
    network = make_network(EVERY_ACTION)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 2
    save_checkpoint(folder, network, EVERY_ACTION, {"training": {"timesteps": 1}})
    return str(folder)


def test_a_winning_turn_is_played_r9_1() -> None:
    secured = {
        "BRITANNIA": "constantius",
        "GERMANIA MAGNA": "constantius",
        "GAETVLIA": "maximian",
        "LIBYA": "maximian",
        "SARMATIA": "galerius",
    }
    game = position(emperor="galerius", tokens=secured, emperors={"galerius": "PERSIA"})
    masks = legal_masks(game)

    step(game, make_agent("ppo:candidates=4").act(game, masks, np.zeros(1, dtype=np.int64)), masks)

    assert is_won(game).all()


def play(agent: PPOAgent, games: Games, steps: int) -> list[list[int]]:
    """Return the actions of each step; `step` refuses illegal ones."""
    masks, env_ids = legal_masks(games), np.arange(len(games))
    team = TeamPolicy([agent] * 4, len(games))
    team.begin(env_ids, env_ids)
    played = []
    for _ in range(steps):
        live = np.flatnonzero(masks.any(axis=1))
        actions = np.zeros(len(games), dtype=np.int64)
        if len(live):
            actions[live] = team.act(games[live], masks[live], live)
        step(games, actions, masks)
        played.append(actions.tolist())
    return played


@pytest.mark.parametrize("rollout_turns", [0, 1])
def test_actions_depend_neither_on_the_batch_nor_on_earlier_games(saved: str, rollout_turns: int) -> None:
    agent = PPOAgent(saved, candidates=5, rollout_turns=rollout_turns)
    together = play(agent, new_games(Options(), range(6))[0], 25)

    alone = play(agent, new_games(Options(), range(3))[0], 25)

    assert [actions[:3] for actions in together] == alone


def test_the_games_are_not_changed(saved: str) -> None:
    games, masks = new_games(Options(level="4011"), range(2))
    before, legal = games.copy(), masks.copy()

    PPOAgent(saved, candidates=4).act(games, masks, np.arange(2))

    assert (games == before).all()
    assert (masks == legal).all()


def test_a_plan_is_followed_while_the_game_proceeds_as_planned(saved: str) -> None:
    """The RNG state is irrelevant until dice are rolled; an unplanned position triggers a new search."""
    agent, env_id = PPOAgent(saved, candidates=6), np.zeros(1, dtype=np.int64)
    game, masks = new_games(Options(level="4011"), [1])
    [plan] = agent.search.plan(game, masks)
    assert len(plan.actions) > 2

    first = int(agent.act(game, masks, env_id)[0])
    step(game, np.array([first]), masks)
    game["dice"] = 77
    followed, again = agent.act(game, masks, env_id)[0], agent.act(game, masks, env_id)[0]

    assert [first, followed] == plan.actions[:2]
    assert again == agent.search.plan(game, masks)[0].actions[0]


def test_begin_discards_the_plan(saved: str) -> None:
    agent, env_id = PPOAgent(saved, candidates=6), np.zeros(1, dtype=np.int64)
    game, masks = new_games(Options(level="4011"), [1])
    step(game, agent.act(game, masks, env_id), masks)
    game["dice"] = 77

    agent.begin(env_id)

    assert agent.act(game, masks, env_id)[0] == agent.search.plan(game, masks)[0].actions[0]


@pytest.mark.slow
@pytest.mark.parametrize("options", ONE_BY_ONE.values(), ids=ONE_BY_ONE)
def test_every_configuration_is_played_with_legal_actions(saved: str, options: Options) -> None:
    games, _ = new_games(options, range(3))
    play(PPOAgent(saved, candidates=3), games, 60)
    assert (games["turn"] > 0).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("candidates=-1", "ppo:candidates must be from 0 to 1024; got -1"),
        ("candidates=4:temperature=0", r"ppo:temperature must be a finite number above 0; got 0\.0"),
        ("temperature=nan", "ppo:temperature must be a finite number of at least 0; got nan"),
        ("candidates=4:temperature=warm", "ppo:temperature must be a number; got 'warm'"),
        ("candidates=4:chance_samples=0", "ppo:chance_samples must be from 1 to 32; got 0"),
        ("candidates=4:confirm_samples=33", "ppo:confirm_samples must be from 0 to 32; got 33"),
        ("candidates=4:margin=-1", r"ppo:margin must be a finite number of at least 0; got -1\.0"),
        ("candidates=4:rollout_turns=-1", "ppo:rollout_turns must be from 0 to 1024; got -1"),
        ("candidates=4:finalists=1", "ppo:finalists must be from 2 to 1024; got 1"),
        ("bc:candidates=4", "checkpoint 'bc' has no trained value function, .*"),
    ],
)
def test_invalid_options_are_refused(options: str, sentence: str) -> None:
    with pytest.raises(TetrarchiaError, match=f"^{sentence}$"):
        make_agent(f"ppo:{options}")
