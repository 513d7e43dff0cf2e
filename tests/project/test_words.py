"""Words of our own that the field has better ones for stay out: of code, options, comments and pages."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = ("*.py", "*.md", "*.rst", "*.yaml", "*.toml")
LEFT_OUT = {"CHANGELOG.md", "tests/project/test_words.py"}  # what was before is told there
RECORDS = ("results/", "docs/trials/")  # files of runs as they were

# What was said, as a pattern of whole words, and what the field says.
WORDS = {
    r"luck\.py|train\.luck|rerolls": "variance_reduction.py, chance_samples",
    r"(?i:lessons)": "demonstrations",
    r"imitation(?! learning)": "behavior_cloning",
    r"hurry": "turn_discount",
    r"begin_alike": "sync_parameters",
    r"one_round|tell_games|learn_value|fading": "train_iteration, log_episodes, pretrain_critic, linear_schedule",
    r"gradient_norm|value_weight": "max_grad_norm, vf_coef",
    r"Shape(?=\()|hearing|heard|_hardly": "NetworkConfig, adjacency, message, small_init",
    r"FourNetworks|GoalNetwork": "IndependentPolicies, a name that says what the network is made of",
    r"Desk|key_of": "SearchBuffers, position_hash",
    r"come_to|Growth|surprises": "expand, residuals",
    r"Seats|agents[/.]seats|agents[/.]table": "TeamPolicy, registry",
    r"made_of": "a fingerprint of choices, and weights_digest",
    r"lanes": "env_ids",
    r"Wishes|Findings|(?:Played|Kept)(?=[(\[,|])|wording": "EvalConfig, EvalReport, GameResult, ResultFile, labels",
    r"cooperation with strangers|odd one out|odd_one_out|--partners": "cross-play, ad hoc teamwork",
    r"(?<!font-)(?i:faces?)": "environment APIs",
    r"OneGame|ManyGames|one_game|many_games": "BaseEnv, BatchedGames",
    r"_sit_down|_settle|start_share": "_start_episode, _sync_agents, initial_state_share",
    r"dice words?|choosers": "RNG state",
    r"draft_of|restoring": "atomic_write, restore",
}


def tracked_files() -> Iterator[str]:
    listed = subprocess.run(["git", "ls-files", *KINDS], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a clone of the repository")
    for name in listed.stdout.splitlines():
        if name not in LEFT_OUT and not name.startswith(RECORDS) and (ROOT / name).exists():
            yield name


@pytest.mark.parametrize("words", WORDS)
def test_the_field_has_a_better_word(words: str) -> None:
    pattern, found = re.compile(rf"(?<!\w)(?:{words})(?!\w)"), []
    for name in tracked_files():
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1):
            if match := pattern.search(line):
                found.append(f"{name}:{number}: {match[0]!r}")

    assert found == [], f"say instead: {WORDS[words]}"
