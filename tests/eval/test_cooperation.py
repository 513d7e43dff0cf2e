"""The tables and figures of docs/cooperation.md: teammates, cross-play and holders of the borders."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.cooperation import (
    BorderHolders,
    add_border_holders,
    border_bars,
    border_holders,
    border_maps,
    border_table,
    cross_play_report,
    teammate_table,
)
from tetrarchia_eval.match import Match
from tetrarchia_eval.result_files import read_json
from tetrarchia_eval.statistics import Estimate

GAMES = 6


def played(agents: str, folder: Path) -> Match:
    return play_match(match_spec(agents, GAMES, levels=["5300"]), folder / f"{agents}.jsonl", workers=1)


def test_teammate_table_compares_each_complete_line_up_with_the_agent_alone(tmp_path: Path) -> None:
    teams = [",".join("random" if seat == other else "greedy" for other in range(4)) for seat in range(4)]
    matches, alone = [played(team, tmp_path) for team in teams], played("greedy", tmp_path)

    table = teammate_table(matches, alone)

    [row] = table.rows
    rates = [sum(game.won for game in match.games) / GAMES for match in matches]
    own = sum(game.won for game in alone.games) / GAMES
    assert row[:2] == ["5300", "random"]
    assert [cell.value for cell in row[2:] if isinstance(cell, Estimate)] == pytest.approx([*rates, np.mean(rates), np.mean(rates) - own])
    assert teammate_table(matches[:3], alone).rows == []


def test_teammates_of_another_agent_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TetrarchiaError, match="must join greedy"):
        teammate_table([played("greedy,random,random,random", tmp_path)], played("greedy", tmp_path))


def test_cross_play_treats_agents_as_runs_of_a_group(tmp_path: Path) -> None:
    names = ("greedy", "random", "planner:4")
    teams = {one if one == other else f"{one}+{other}": f"{one},{other}" for one in names for other in names}

    report = cross_play_report({f"{name.replace(':', '-')}.jsonl": played(team, tmp_path) for name, team in teams.items()})

    [group] = report.cross_play_groups()
    assert len(group.runs) == 3
    assert len(group.pairs) == 6


def test_every_border_has_one_holder_in_a_won_game() -> None:
    held = border_holders("planner", "5300", range(4))

    won = held.any(axis=(1, 2))
    assert won.any()
    assert (held[won].sum(axis=1) == 1).all()


def test_holders_are_kept_and_only_missing_agents_are_played(tmp_path: Path) -> None:
    path = tmp_path / "borders.json"
    path.write_text('{"level": "5300", "games": 3, "won": {"planner": 7}, "holders": {}}')

    add_border_holders(path, ["planner", "random"])

    kept = read_json(path, BorderHolders)
    assert (kept.level, kept.games, kept.won) == ("5300", 3, {"planner": 7, "random": 0})
    assert kept.holders == {"random": dict.fromkeys(EMPERORS, [0] * 6)}


def test_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "borders.json").write_text('{"level": 5300}')

    with pytest.raises(TetrarchiaError, match="cannot be read"):
        read_json(tmp_path / "borders.json", BorderHolders)


def test_maps_show_the_holders_of_each_agent() -> None:
    holders = {emperor: [10 * (emperor == "galerius")] * 6 for emperor in EMPERORS}
    kept = BorderHolders(games=20, won={"one": 10, "two": 10}, holders={"one": holders, "two": holders})

    drawing = border_maps(kept)

    texts = [element.text for element in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("100%") == 12
    assert "two: 10 of 20 games won" in texts
    assert border_table(kept).rows[0][2:] == ["galerius 100%"] * 6


def test_bars_show_the_fraction_of_each_emperor() -> None:
    fractions = {"diocletian": 0, "galerius": 6, "constantius": 2, "maximian": 0}
    kept = BorderHolders(games=20, won={"one": 10}, holders={"one": {emperor: [count] * 6 for emperor, count in fractions.items()}})

    drawing = ElementTree.fromstring(border_bars(kept))

    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert [texts.count(words) for words in ("G 60%", "C", "M")] == [6, 7, 1]  # with the legend
