"""The gain of better turns: positions, gains of candidate turns, and the table."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

from helpers.positions import ALL_BUT_PERSIA, position
from tetrarchia_agents import make_agent
from tetrarchia_agents.ppo import PPOAgent
from tetrarchia_env.batch import Games, Masks, is_won, legal_masks
from tetrarchia_env.constants import END
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval import improvement
from tetrarchia_eval.improvement import Improvement, PlayedGame, improvement_table, measure, play_turns, turn_gains
from tetrarchia_eval.result_files import read_json
from tetrarchia_eval.statistics import Estimate


def ends_its_turn(games: Games, masks: Masks) -> np.ndarray:
    """Return log probabilities of a policy that ends its turns, but sometimes plays something else."""
    legal = masks[:, :109] != 0
    likely = np.where(np.arange(109) == END, 0.6, 0.4 / legal.sum(axis=1, keepdims=True))
    return np.where(legal, np.log(likely), -np.inf).astype(np.float32)


def test_a_turn_that_wins_gains_what_the_policy_would_lose() -> None:
    game = position(emperor="galerius", tokens=ALL_BUT_PERSIA, emperors={"galerius": "PERSIA"})
    search = replace(PPOAgent(candidates=32).search, prior_fn=ends_its_turn, value_fn=is_won, rollout_turns=400)

    [gain] = turn_gains(search, game, legal_masks(game))

    assert gain > 0.5


def test_there_is_no_gain_if_the_policy_plays_the_best_turn() -> None:
    game = position(emperor="galerius", tokens=ALL_BUT_PERSIA, emperors={"galerius": "PERSIA"})
    search = replace(PPOAgent(candidates=4).search, value_fn=is_won, rollout_turns=400)

    assert turn_gains(search, game, legal_masks(game)).tolist() == [0.0]


def test_positions_at_the_beginning_of_every_turn() -> None:
    agent = make_agent("ppo:ppo-small")
    assert isinstance(agent, PPOAgent)

    positions, masks, ended = play_turns(agent, "4200", range(3))

    for game, (turns, legal) in enumerate(zip(positions, masks, strict=True)):
        numbers = turns["turn"].tolist()
        assert numbers == sorted(set(numbers))
        assert ended["turn"][game] in (numbers[-1], numbers[-1] + 1)
        assert (legal == legal_masks(turns)).all()


@pytest.mark.slow
def test_the_command_adds_an_agent_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(improvement, "CANDIDATES", 2)
    monkeypatch.setattr(improvement, "TURNS_PER_GAME", 1)
    path = tmp_path / "kept.json"
    for level in ("4200", "5300", "4200"):
        monkeypatch.setattr(sys, "argv", ["improvement", str(path), "ppo:ppo-small", level, "2"])
        improvement.main()

    kept = read_json(path, list[Improvement])
    assert [(one.level, len(one.games)) for one in kept] == [("5300", 2), ("4200", 2)]
    assert all(len(game.gains) == 1 for one in kept for game in one.games)
    assert "gain per game" in capsys.readouterr().out


def test_table_of_gains() -> None:
    games = (PlayedGame(True, 10, (0.0, 0.02)), PlayedGame(False, 30, (0.01, 0.03)))
    assert [game.total_gain for game in games] == pytest.approx([0.1, 0.6])

    [row] = improvement_table([Improvement("ppo", "0" * 12, "4222", 0, 32, games)]).rows

    assert row[:3] == ["ppo", "4222", 2]
    assert [cell.value for cell in row[5:] if isinstance(cell, Estimate)] == pytest.approx([0.35, 0.1, 0.6])


@pytest.mark.parametrize("agent", ["greedy", "ppo:candidates=2"])
def test_other_agents_are_refused(agent: str) -> None:
    with pytest.raises(TetrarchiaError, match="checkpoint without search"):
        measure(agent, "4200", 1)


def test_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text("[{}]")
    with pytest.raises(TetrarchiaError, match="cannot be read"):
        read_json(tmp_path / "kept.json", list[Improvement])


@pytest.mark.parametrize("words", [[], ["kept.json", "ppo"], ["kept.json", "ppo", "4200", "some"]])
def test_wrong_arguments_show_the_usage(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["improvement", *words])
    with pytest.raises(SystemExit) as exiting:
        improvement.main()

    assert (exiting.value.code, "usage: " in capsys.readouterr().err) == (2, True)
