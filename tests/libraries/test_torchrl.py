"""TorchRL on the vector API and on both of PettingZoo's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.library_examples import NOTHING_WRONG, counted, run_example, win_rates
from tetrarchia_env import env, parallel_env, raw_env, vector_env

pytest.importorskip("torchrl", minversion="0.14")  # BenchMARL brings an older one

pytestmark = pytest.mark.filterwarnings("ignore")  # of TorchRL about PettingZoo's version


@pytest.mark.slow
def test_torchrl_learns_the_last_borders(tmp_path: Path) -> None:
    printed = run_example("torchrl_ppo", tmp_path)

    before, after = win_rates(printed)
    assert before == 0
    assert after > 0.5
    assert counted(printed) == NOTHING_WRONG


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("make", [env, raw_env, parallel_env], ids=lambda make: make.__name__)
def test_torchrl_finds_specs_kept_in_both_apis_of_pettingzoo(make: Callable[..., Any], mask: str) -> None:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import check_env_specs

    wrapped = PettingZooWrapper(make(level="5000", mask=mask), use_mask=make is not parallel_env)

    check_env_specs(wrapped)
    assert wrapped.rollout(200, break_when_any_done=False).numel() == 200


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
def test_torchrl_finds_specs_kept_in_the_vector_api(mode: str, mask: str) -> None:
    from torchrl.envs.libs.gym import GymWrapper
    from torchrl.envs.utils import check_env_specs

    wrapped = GymWrapper(vector_env(4, level="5000", autoreset_mode=mode, mask=mask))

    check_env_specs(wrapped)
