"""Tests of fingerprints and environment digests in result files: another version of an agent or environment cannot continue a file."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tetrarchia_agents import make_agent
from tetrarchia_agents.fingerprint import fingerprint
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.match import spec_line
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


def test_file_of_another_environment_is_refused_and_one_without_digest_continues(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    for digest in ("0123456789abcdef", ""):
        file.write_text(spec_line(replace(SPEC, environment_digest=digest)), encoding="utf-8")
        if digest:
            with pytest.raises(TetrarchiaError, match=r"games of another environment \(digest 0123456789abcdef, now"):
                play_match(SPEC, file, workers=1)
        else:
            assert len(play_match(SPEC, file, workers=1).games) == 6
            assert load_match(file).spec.environment_digest == ""


@pytest.mark.parametrize("digest", ["0123", "0123456789ABCDEF", "none"])
def test_damaged_environment_digest_is_refused(tmp_path: Path, digest: str) -> None:
    (tmp_path / "run.jsonl").write_text(spec_line(replace(SPEC, environment_digest=digest)), encoding="utf-8")
    with pytest.raises(TetrarchiaError, match="environment_digest must be 16 hexadecimal digits"):
        load_match(tmp_path / "run.jsonl", unfinished_ok=True)
