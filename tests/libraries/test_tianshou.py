"""Tianshou on PettingZoo's AEC API."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.library_examples import EXAMPLES, check_training, run_example
from tetrarchia_env import raw_env
from tetrarchia_env.constants import OUTCOMES

pytest.importorskip("tianshou")


@pytest.fixture
def own_steps(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    from tianshou_ppo import own_steps

    return own_steps


@pytest.mark.slow
def test_tianshou_trains_four_policies(tmp_path: Path) -> None:
    check_training(run_example("tianshou_ppo", tmp_path, "--timesteps", "4000"))


def test_tianshou_reads_mask_agent_and_all_four_rewards() -> None:
    from tianshou.env import PettingZooEnv

    env = PettingZooEnv(raw_env(level="5000"))
    obs, _ = env.reset(seed=1)
    over = False
    while not over:
        assert any(obs["mask"])
        obs, rewards, terminated, truncated, info = env.step(int(np.flatnonzero(obs["mask"])[0]))
        over = terminated or truncated

    assert OUTCOMES[info["outcome"]] != "won"
    assert rewards == [-1.0] * 4


def test_each_agent_receives_all_rewards_until_it_acts_again(own_steps: Any) -> None:
    """Check two games of five and two steps: a transition ends at the agent's next step or at the end of the game."""
    from tianshou.data import Batch

    ends = np.array([False, False, False, False, True, False, True])
    batch = Batch(obs=Batch(agent_id=np.array(list("aababba"))), terminated=ends, truncated=np.zeros(7, dtype=bool))

    steps = {agent: tuple(part.tolist() for part in own_steps(batch, agent)) for agent in "abc"}

    assert steps == {"a": ([0, 1, 3, 6], [0, 2, 4, 6]), "b": ([2, 4, 5], [3, 4, 6]), "c": ([], [])}
