"""Results tell of which version of an agent they are, and another one does not go on with them."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agents import Actions, Agent, Lanes, make_agent
from agents.table import fingerprint
from eval.arena import plan, run
from eval.results import load_run
from tetrarchia_env.batch import Games, Masks

PLAN = plan("random", 6)


@dataclass(frozen=True)
class Trained(Agent):
    """Made of a file."""

    weights: Path

    def act(self, games: Games, masks: Masks, lanes: Lanes) -> Actions:
        return masks.argmax(axis=1)

    def made_of(self) -> list[Path]:
        return [self.weights]


def test_a_plan_has_the_fingerprint_of_each_agent() -> None:
    assert plan("random,greedy", 1).fingerprints == {name: fingerprint(make_agent(name)) for name in ("random", "greedy")}
    assert all(len(one) == 12 for one in PLAN.fingerprints.values())


@pytest.mark.parametrize("kept", [3, 7])
def test_another_version_of_an_agent_does_not_go_on(tmp_path: Path, kept: int) -> None:
    """Neither with a part of a run nor with all of it."""
    file = tmp_path / "run.jsonl"
    run(PLAN, file, workers=1)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:kept]))
    with pytest.raises(ValueError, match=r"games of another version of random .*, now it is changed\): choose another file or delete"):
        run(replace(PLAN, fingerprints={"random": "changed"}), file, workers=1)
    assert len(load_run(file, unfinished_ok=True).games) == kept - 1


def test_a_fingerprint_is_of_the_class_and_of_what_it_names(tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    weights.write_text("1 2 3")
    first = fingerprint(Trained(weights=weights))
    assert first == fingerprint(Trained(weights=weights))
    assert first != fingerprint(Trained(weights=Path(__file__)))
    weights.write_text("1 2 4")
    assert fingerprint(Trained(weights=weights)) != first


def test_the_planner_is_made_of_its_search_but_not_of_the_tree() -> None:
    files = {file.name for name in ("planner", "greedy") for file in make_agent(name).made_of()}
    assert files >= {"choosing.py", "evaluation.py", "turn_plan.py", "weights.toml"}
    assert "tree.py" not in files
