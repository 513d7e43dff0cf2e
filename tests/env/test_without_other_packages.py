"""The environment package works when the other packages of the project are not installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OTHERS = ("tetrarchia_agents", "tetrarchia_eval", "tetrarchia_train", "tetrarchia_app")
BLOCKED = f"""
import sys
class Block:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {OTHERS}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Block)
import random
import gymnasium, numpy as np
import tetrarchia_env
assert {{name for name in sys.modules if name.startswith("tetrarchia")}} == {{"tetrarchia_env"}}
rng = random.Random(1)
def choose(mask): return int(rng.choice(np.flatnonzero(mask)))
"""
AEC = """
env.reset(seed=1)
for agent in env.agent_iter():
    obs, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else choose(obs["action_mask"]))
assert not env.agents
"""
GAMES = {
    "env": f"env = tetrarchia_env.env(level='4200')\n{AEC}",
    "raw_env": f"env = tetrarchia_env.raw_env(level='4200', render_mode='ansi')\n{AEC}\nassert env.render()",
    "parallel_env": """
env = tetrarchia_env.parallel_env(level="4200")
observations, _ = env.reset(seed=1)
while env.agents:
    observations, *_ = env.step({agent: choose(obs["action_mask"]) for agent, obs in observations.items()})
""",
    "gymnasium": """
env = gymnasium.make("Tetrarchia-v0", level="4200")
obs, _ = env.reset(seed=1)
ended = False
while not ended:
    obs, _, terminated, truncated, _ = env.step(choose(obs["action_mask"]))
    ended = terminated or truncated
""",
    "vector_env": """
env = tetrarchia_env.vector_env(2, level="4200")
obs, _ = env.reset(seed=1)
ended = np.zeros(2, dtype=bool)
while not ended.all():
    obs, _, terminated, truncated, _ = env.step(np.array([choose(mask) for mask in obs["action_mask"]]))
    ended |= terminated | truncated
""",
    "sb3_vec_env": """
env = tetrarchia_env.sb3_vec_env(2, level="4200", seed=1)
env.reset()
ended = np.zeros(2, dtype=bool)
while not ended.all():
    ended |= env.step(np.array([choose(mask) for mask in env.action_masks()]))[2]
""",
    "Game": """
game = tetrarchia_env.Game(level="4200", seed=1)
while not game.is_over:
    game.play(rng.choice(game.legal_actions))
assert tetrarchia_env.Game.from_replay(game.replay()).outcome == game.outcome
""",
}


@pytest.fixture(name="packages", scope="module")
def environment_package_only(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    shutil.copytree(ROOT / "tetrarchia_env", folder / "tetrarchia_env", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.parametrize("api", GAMES)
def test_game_is_played_without_the_other_packages(api: str, packages: Path) -> None:
    if api == "sb3_vec_env":
        pytest.importorskip("stable_baselines3")
    script = f"import sys\nsys.path.insert(0, {str(packages)!r})\n{BLOCKED}\n{GAMES[api]}\nprint(tetrarchia_env.__file__)"

    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=packages)

    assert run.returncode == 0, run.stderr
    assert Path(run.stdout.strip()).is_relative_to(packages)
