"""Tests of agent fingerprints in result files: another version of an agent cannot continue a file."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tetrarchia_agents import make_agent
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.result_files import load_match

SPEC = match_spec("random", 6)


def test_match_has_the_fingerprint_of_each_agent() -> None:
    assert match_spec("random,greedy", 1).fingerprints == {name: fingerprint(make_agent(name)) for name in ("random", "greedy")}
    assert all(len(one) == 12 for one in SPEC.fingerprints.values())


@pytest.mark.parametrize("kept", [3, 7])
def test_file_of_another_version_of_an_agent_is_refused(tmp_path: Path, kept: int) -> None:
    file = tmp_path / "run.jsonl"
    play_match(SPEC, file, workers=1)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))
    with pytest.raises(TetrarchiaError, match=r"games of another version of random .*, now changed\): choose another file or delete"):
        play_match(replace(SPEC, fingerprints={"random": "changed"}), file, workers=1)
    assert len(load_match(file, unfinished_ok=True).games) == kept - 1
