"""TorchRL on the vector API and both PettingZoo APIs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.library_examples import check_training, run_example
from tetrarchia_env import env, parallel_env, raw_env, vector_env

pytest.importorskip("torchrl", minversion="0.14")  # BenchMARL installs an older version

pytestmark = pytest.mark.filterwarnings("ignore")  # TorchRL warns about PettingZoo's version


@pytest.mark.slow
def test_torchrl_trains(tmp_path: Path) -> None:
    check_training(run_example("torchrl_ppo", tmp_path, "--timesteps", "3072"))


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("make", [env, raw_env, parallel_env], ids=lambda make: make.__name__)
def test_torchrl_checks_specs_of_both_pettingzoo_apis(make: Callable[..., Any], mask: str) -> None:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
    from torchrl.envs.utils import check_env_specs

    wrapped = PettingZooWrapper(make(level="5000", mask=mask), use_mask=make is not parallel_env)

    check_env_specs(wrapped)
    assert wrapped.rollout(200, break_when_any_done=False).numel() == 200


@pytest.mark.parametrize("mask", ["observation", "info"])
@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
def test_torchrl_checks_specs_of_the_vector_api(mode: str, mask: str) -> None:
    from torchrl.envs.libs.gym import GymWrapper
    from torchrl.envs.utils import check_env_specs

    wrapped = GymWrapper(vector_env(4, level="5000", autoreset_mode=mode, mask=mask))

    check_env_specs(wrapped)


@pytest.mark.parametrize("mask", ["observation", "info"])
def test_torchrl_registers_the_infos_of_a_single_game_automatically(mask: str) -> None:
    import gymnasium
    from torchrl.envs.libs.gym import GymWrapper
    from torchrl.envs.utils import check_env_specs

    wrapped = GymWrapper(gymnasium.make("Tetrarchia-v0", level="5000", mask=mask)).auto_register_info_dict()

    check_env_specs(wrapped)
    assert {"turn", "score", "outcome", "agent", "illegal_action", "action_mask"} <= set(wrapped.rollout(5).keys())
