"""Tests of untrusted presets: invalid, too large and too deeply nested values are refused quickly with a one-line error."""

import time
from pathlib import Path

import pytest

pytest.importorskip("yaml")

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_train.config import TrainConfig, read_options, read_preset

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "is not valid YAML: aliases such as *a are not allowed"),
        ("[" * 100_000, "is not valid YAML: it is nested too deeply"),
        ("rules: " + "{a: " * 5_000, "is not valid YAML: it is nested too deeply"),
        ("- " * 5_000, "is not valid YAML: it is nested too deeply"),
        ("seed: " + "9" * 5_000, "is not valid YAML: Exceeds the limit"),
        ("levels: 2001-13-45", "is not valid YAML: month must be in 1..12"),
        ("seed: !!python/object/apply:os.getcwd []", "is not valid YAML: could not determine a constructor"),
        ("num_envs: 1000000000000", "num_envs must be from 1 to 1048576; got 1000000000000"),
        ("processes: 1000000", "processes must be from 1 to 1024"),
        ("threads: 1000000", "threads must be from 1 to 1024"),
        ("demo_workers: 1000000", "demo_workers must be from 1 to 1024"),
        ("num_demonstrations: 100000000000", "num_demonstrations must be from 1 to 1000000000"),
        ("chance_samples: 100000", "chance_samples must be from 0 to 1024"),
        ("num_envs: 65536\nn_steps: 65536", "num_envs x n_steps must be at most 16777216"),
        ("learning_rate: .nan", "learning_rate must be from 1e-09"),
        ("turn_discount: 0", "training option turn_discount must be from 1e-09 to 1; got 0"),
        ("final_turn_discount: 0", "training option final_turn_discount must be from 1e-09 to 1; got 0"),
        ("ent_coef: .inf", "ent_coef must be from 0"),
        ("node_dim: 4096\nreadout_dim: 4096\nhidden_dim: 4096", "at most 100,000,000 weights"),
        ("encoder_layers: 100000", "encoder_layers must be from 1 to 64"),
        ("x" * 1_000 + ": 1", "unknown training option"),
        ("learning_rat: 1", "unknown training option 'learning_rat': choose from actions"),
        ("num_envs: many", "training option num_envs must be an integer from 1 to 1048576; got 'many'"),
        ("total_timesteps: -5", "training option total_timesteps must be from 1 to"),
        ("expert_noise: 2", "training option expert_noise must be from 0 to 1; got 2"),
        ("actions: some", "training option actions must be base or all; got 'some'"),
        ("levels: ['9999']", "level '9999'"),
        ("levels: 3.5", "training option levels"),
        ("levels: []", "training option levels must name at least one level"),
        ("rules: [dux]", "must be a list of rule sets"),
        ("rules: [{module: [dux]}]", "unknown argument 'module'"),
        ("network: deep", "network: kind must be one of gnn, gnn-decoder, mlp; got 'deep'"),
        ("minibatch_size: 1000", "multiple of minibatch_size"),
        ("task: last-one", "unknown task 'last-one'"),
        ("secured: [0, 6]", "secured[1] must be from 0 to 5; got 6"),
        ("revolts: some", "training option revolts must be numbers separated by commas; got 'some'"),
        ("curriculum: true", "training option curriculum needs several numbers"),
        ("[1, 2", "some.yaml is not valid YAML"),
        ("only text", "some.yaml must be a mapping of options"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_invalid_presets_are_refused(text: str, words: str) -> None:
    begun = time.process_time()
    with pytest.raises(TetrarchiaError) as refusal:
        TrainConfig().with_overrides(read_options(text, "some.yaml"))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 2_000
    assert time.process_time() - begun < 2


def test_the_error_names_an_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "large.yaml").write_text("#" * 2_000_000)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    for name, words in (("large.yaml", "larger than 1 MB"), ("bytes.yaml", "utf-8")):
        with pytest.raises(TetrarchiaError, match=rf"{name} cannot be read \(.*{words}"):
            read_preset(str(tmp_path / name))
