"""Tests of agents that receive observations instead of whole games, with full and with local information (R14)."""

from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
import pytest

from tetrarchia_agents import Agent, make_agent, rollout
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_agents.rollouts import play_games
from tetrarchia_env import Game, raw_env
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions
from tetrarchia_env.options import Options

LOCAL = LocalOptions(view_radius=1, last_seen=True)
INFORMATION = [FULL_INFORMATION, LocalOptions(view_radius=2), LOCAL]
RANDOM_FINGERPRINT = "bc866d8893de"  # as in the result files of results/


@dataclass
class Recorder(Agent):
    """Agent that records its calls and plays a legal action that depends on the observation."""

    needs: Any = "observations"
    local: LocalOptions | None = None
    calls: list[Any] = field(default_factory=list)

    def begin(self, env_ids: Any) -> None:
        self.calls.append(("begin", env_ids.tolist()))

    def act(self, observations: Any, masks: Any, env_ids: Any) -> Any:
        self.calls.append(("act", observations.copy(), env_ids.tolist()))
        return np.array([np.flatnonzero(mask)[int(1000 * row.sum()) % mask.sum()] for row, mask in zip(observations, masks, strict=True)])


@dataclass
class LastAction(Agent):
    """Agent that needs whole games and plays the last legal action."""

    def act(self, games: Any, masks: Any, env_ids: Any) -> Any:
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def observations_of(agent: Recorder) -> list[bytes]:
    """Return the observations that an agent received, in order."""
    return [row.tobytes() for name, *call in agent.calls if name == "act" for row in call[0]]


@pytest.mark.parametrize("local", INFORMATION, ids=lambda local: local.text)
def test_observations_are_those_of_the_environment(local: LocalOptions) -> None:
    """R14.6: all four Emperors remember after every action, also those of agents that need whole games."""
    agent, other, options = Recorder(), LastAction(), Options(level="4211", max_turns=12)
    env = raw_env(level="4211", max_turns=12, **local.arguments())
    env.reset(seed=5)
    expected = []
    while not any([*env.terminations.values(), *env.truncations.values()]):
        emperor = EMPERORS.index(env.agent_selection)
        obs = env.observe(env.agent_selection)
        if emperor < 2:
            expected.append(obs["observation"].tobytes())
            action = Recorder().act(obs["observation"][np.newaxis], obs["action_mask"][np.newaxis], np.zeros(1))[0]
        else:
            action = np.flatnonzero(obs["action_mask"])[-1]
        env.step(int(action))

    play_games(options, (agent, agent, other, other), [5], local=local, allow_full_information=True)

    assert len(expected) > 5
    assert observations_of(agent) == expected


def test_rollout_game_and_partners_play_the_same_game() -> None:
    rules: dict[str, Any] = {"level": "4211", "max_turns": 12, "view_radius": 1, "last_seen": True}
    agents = [Recorder() for _ in range(3)]
    rollout(agents[0], [6], **rules)
    game = Game(**rules, seed=6)
    while not game.is_over:
        game.play(game.ask(agents[1]))
    env = gymnasium.make("Tetrarchia-v0", **rules, seat="galerius", partners=agents[2])
    obs, _ = env.reset(seed=6)
    over = False
    while not over:
        mask = obs["action_mask"]
        action = Recorder().act(obs["observation"][np.newaxis], mask[np.newaxis], np.zeros(1))[0]
        obs, _, terminated, truncated, _ = env.step(int(action))
        over = terminated or truncated

    assert observations_of(agents[0]) == observations_of(agents[1])
    assert set(observations_of(agents[2])) < set(observations_of(agents[0]))


def test_games_have_ids_that_begin_announces() -> None:
    agent = Recorder()

    rollout(agent, 3, level="4200", max_turns=2, view_radius=0)

    assert agent.calls[0] == ("begin", [0, 1, 2])
    assert all(call[2] == [0, 1, 2] for call in agent.calls[1:3])


def test_games_do_not_depend_on_the_batch() -> None:
    together = rollout("random", 4, seed=3, level="4211", max_turns=8, view_radius=2, last_seen=True)
    alone = [rollout("random", [seed], level="4211", max_turns=8, view_radius=2, last_seen=True)[0] for seed in range(3, 7)]

    assert [(one.outcome, one.decisions) for one in together] == [(one.outcome, one.decisions) for one in alone]


def test_agents_that_need_games_are_refused_with_a_view_radius() -> None:
    with pytest.raises(TetrarchiaError, match="allow_full_information"):
        rollout("random,greedy", 1, level="4200", view_radius=2)
    assert rollout("random,greedy", 1, level="4200", max_turns=2, view_radius=2, allow_full_information=True)


@pytest.mark.parametrize("local", [FULL_INFORMATION, LocalOptions(view_radius=2)], ids=lambda local: local.text)
def test_agents_are_refused_with_other_observations_than_they_were_trained_with(local: LocalOptions) -> None:
    agent = Recorder(local=LOCAL)
    for play in (
        lambda: rollout(agent, 1, **local.arguments()),
        lambda: raw_env(seat="galerius", partners=agent, **local.arguments()),
    ):
        with pytest.raises(TetrarchiaError, match="view_radius=1, last_seen=True"):
            play()
    assert rollout(agent, 1, level="4200", max_turns=2, **LOCAL.arguments())


def test_an_unknown_need_is_refused() -> None:
    with pytest.raises(TetrarchiaError, match="needs must be"):
        rollout(Recorder(needs="pictures"), 1)


def test_random_plays_as_before() -> None:
    """The random agent receives observations; its choices are those of the kept result files."""
    assert fingerprint(make_agent("random")) == RANDOM_FINGERPRINT


def test_fingerprint_of_an_agent_with_local_information() -> None:
    assert fingerprint(Recorder(local=LOCAL)) == fingerprint(Recorder(local=LOCAL)) != fingerprint(Recorder())
