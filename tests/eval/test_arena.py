"""Tests of the arena: games do not depend on chunks, workers and interruptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.witness import Witness
from tetrarchia_agents import AGENTS, Actions, Agent, AgentType, EnvIds, GameResult, make_agents
from tetrarchia_agents.rollouts import play_games
from tetrarchia_env.batch import Games, Masks
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.options import Options
from tetrarchia_eval import arena, workers
from tetrarchia_eval.arena import match_spec, play_match
from tetrarchia_eval.match import MatchSpec
from tetrarchia_eval.result_files import load_match
from tetrarchia_eval.workers import AgentCache

EVERYTHING = Options(level="4202", variants=["imperivm", "patres_patriae"], modules=["dux", "pirates", "goths"])
SPEC = match_spec("random", 6, levels=["4200", "4211"], first_seed=40, seed=3)


@dataclass(frozen=True)
class Cheat(Agent):
    """Agent that always chooses one fixed action, legal or not."""

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        return np.full(len(games), 454)


@pytest.fixture(autouse=True)
def register_test_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGENTS, "witness", AgentType("witness", "", f"{Witness.__module__}:Witness"))
    monkeypatch.setitem(AGENTS, "cheat", AgentType("cheat", "", f"{__name__}:Cheat"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture(scope="module")
def complete_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the complete result file of SPEC."""
    path = tmp_path_factory.mktemp("arena") / "whole.jsonl"
    play_match(SPEC, path, workers=1)
    return path


def without_durations(games: Sequence[GameResult]) -> list[GameResult]:
    """Return the games with their durations removed."""
    return [replace_fields(game, seconds=(0.0, 0.0, 0.0, 0.0)) for game in games]


def index_of(spec: MatchSpec, game: GameResult) -> int:
    return [spec.job(index) for index in range(spec.total)].index((game.level, game.seed))


def test_a_match_is_reproducible(file: Path, complete_file: Path) -> None:
    again = play_match(SPEC, file, workers=1)
    assert without_durations(again.games) == without_durations(load_match(complete_file).games)
    assert [(game.level, game.seed) for game in again.games] == [SPEC.job(index) for index in range(12)]
    assert len({game.steps for game in again.games}) > 1


def test_returned_match_equals_the_file(file: Path) -> None:
    assert play_match(SPEC, file, workers=1) == load_match(file)
    assert len(file.read_text().splitlines()) == 1 + 12


@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_games_do_not_depend_on_chunks(file: Path, complete_file: Path, chunk: int) -> None:
    assert without_durations(play_match(SPEC, file, workers=1, chunk=chunk).games) == without_durations(load_match(complete_file).games)


def test_games_do_not_depend_on_env_ids() -> None:
    agents = make_agents("random")
    forwards = play_games(EVERYTHING, agents, range(5), agents_seed=1)
    backwards = play_games(EVERYTHING, agents, [4, 3, 2, 1, 0], agents_seed=1)
    alone = [play_games(EVERYTHING, agents, seed, agents_seed=1)[0] for seed in range(5)]
    assert without_durations(forwards) == without_durations(alone)
    assert without_durations(backwards[::-1]) == without_durations(alone)


def test_agents_seed_changes_the_games() -> None:
    agents = make_agents("random")
    assert without_durations(play_games(Options(), agents, range(3), 1)) != without_durations(play_games(Options(), agents, range(3), 2))


def test_games_do_not_depend_on_workers(file: Path, complete_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "MAX_ALONE_CHUNK_S", -1.0)  # play no chunk in this process
    monkeypatch.setattr(arena, "MIN_POOL_WORK_S", -1.0)
    seen: list[GameResult] = []
    assert without_durations(play_match(SPEC, file, workers=2, chunk=2, progress=seen.extend).games) == without_durations(
        load_match(complete_file).games
    )
    assert without_durations(load_match(file).games) == without_durations(load_match(complete_file).games)
    assert sorted(index_of(SPEC, game) for game in seen) == list(range(12))


def test_error_in_a_worker_is_raised(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "MAX_ALONE_CHUNK_S", -1.0)
    monkeypatch.setattr(arena, "MIN_POOL_WORK_S", -1.0)
    with pytest.raises(TetrarchiaError, match=r"^unknown agent 'witness'"):  # registered only in this process
        play_match(match_spec("witness", 2), file, workers=2)
    assert load_match(file, unfinished_ok=True).games == ()


def test_illegal_action_is_refused(file: Path) -> None:
    with pytest.raises(TetrarchiaError, match=r"^action 454 is not legal"):
        play_match(match_spec("cheat", 2), file, workers=1)


@pytest.mark.parametrize("kept", [0, 1, 7, 11])
@pytest.mark.parametrize("half", [0, 1, 60])
def test_interrupted_match_is_continued(file: Path, complete_file: Path, kept: int, half: int) -> None:
    lines = complete_file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: 1 + kept]) + lines[1 + kept][:half])
    seen: list[Sequence[GameResult]] = []
    finished = play_match(SPEC, file, workers=1, chunk=3, progress=seen.append)
    assert finished == load_match(file)
    assert without_durations(finished.games) == without_durations(load_match(complete_file).games)
    assert file.read_bytes().startswith(b"".join(lines[: 1 + kept]))
    assert len(seen[0]) == kept
    assert sum(map(len, seen)) == 12


def test_ctrl_c_keeps_finished_games(file: Path, complete_file: Path) -> None:
    def interrupt(games: Sequence[GameResult]) -> None:
        if any(index_of(SPEC, game) == 4 for game in games):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(SPEC, file, workers=1, chunk=1, progress=interrupt)
    assert len(load_match(file, unfinished_ok=True).games) == 5
    assert without_durations(play_match(SPEC, file, workers=1).games) == without_durations(load_match(complete_file).games)


def test_finished_match_is_not_played_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = play_match(SPEC, file, workers=1)
    monkeypatch.setattr(workers, "play_chunk", None)
    assert play_match(SPEC, file, workers=1) == first


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (replace(SPEC, games=7), "it contains another match, with games 6, not 7: choose another file"),
        (replace(SPEC, seed=4, levels=("4200",)), r"with levels \('4200', '4211'\), not \('4200',\); seed 3, not 4"),
        (replace(SPEC, agents=("witness",) * 4, fingerprints={"witness": "0123456789ab"}), "with agents .*'random'.*, not .*'witness'"),
        (replace(SPEC, versions={"tetrarchia": "9.9"}), "with tetrarchia version '.*', not '9.9'"),
    ],
)
def test_file_of_another_match_is_refused(complete_file: Path, other: Any, message: str) -> None:
    before = complete_file.read_bytes()
    with pytest.raises(TetrarchiaError, match=message):
        play_match(other, complete_file, workers=1)
    assert complete_file.read_bytes() == before


def test_file_can_be_continued_on_another_machine(file: Path, complete_file: Path) -> None:
    file.write_bytes(b"".join(complete_file.read_bytes().splitlines(keepends=True)[:4]))
    elsewhere = replace(SPEC, machine={"cores": 64}, versions={**SPEC.versions, "python": "4.0"})
    assert without_durations(play_match(elsewhere, file, workers=1).games) == without_durations(load_match(complete_file).games)


def test_second_writer_is_refused(file: Path) -> None:
    def play_again(games: Sequence[GameResult]) -> None:
        if games and index_of(SPEC, games[-1]) + 1 < SPEC.total:
            with pytest.raises(TetrarchiaError, match=r"another process is writing to it"):
                play_match(SPEC, file, workers=1)

    assert play_match(SPEC, file, workers=1, chunk=1, progress=play_again) == load_match(file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games must be an integer of at least 1; got 0"),
        ({"agents": "sphinx"}, "unknown agent 'sphinx'"),
        ({"agents": "random,random", "players": 3}, "agents must be one name or 3"),
        ({"players": 5}, "players must be 1 to 4"),
        ({"levels": ["4200", "42"]}, "level must be four digits"),
        ({"levels": ["4300"], "modules": ["pirates"]}, "fewer than 3 fleets"),
        ({"levels": ["4200"], "scenario": "danube_wars"}, "sets the level and the modules"),
        ({"variants": ["solitaire"]}, "unknown variant 'solitaire'"),
        ({"first_seed": -1}, "first_seed must be an integer"),
    ],
)
def test_invalid_match_argument_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(TetrarchiaError, match=message):
        match_spec(**{"agents": "random", "games": 1, **arguments})


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"workers": 1.5}, {"chunk": 0}, {"chunk": "many"}])
def test_no_file_is_written_for_an_invalid_number(file: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(TetrarchiaError, match=rf"{next(iter(wrong))} must be an integer of at least 1"):
        play_match(SPEC, file, **wrong)
    assert not file.exists()


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TetrarchiaError, match=r"there is no folder"):
        play_match(SPEC, tmp_path / "none" / "run.jsonl")


def test_scenario_is_played_at_its_level(file: Path) -> None:
    scenario = Options(scenario="great_persian_war")
    played = play_match(match_spec("random", 2, scenario="great_persian_war"), file, workers=1)
    assert played.spec.levels == scenario.level_names == (played.games[0].level,)
    assert without_durations(played.games) == without_durations(play_games(scenario, make_agents("random"), range(2), 0))


@pytest.mark.parametrize(
    ("players", "names", "emperors"),
    [
        (1, "witness:a", "aaaa"),
        (2, "witness:a,witness:b", "aabb"),
        (3, "witness:a,witness:b,witness:c", "aabc"),
        (4, "witness:a,witness:b,witness:c,witness:d", "abcd"),
        (None, "witness:a,witness:b", "aabb"),
    ],
)
def test_players_are_assigned_to_emperors(players: int | None, names: str, emperors: str) -> None:
    """R13.1: the number of players determines the agent of each Emperor."""
    assert match_spec(names, 1, players=players).agents == tuple(f"witness:{name}" for name in emperors)
    assert len({id(agent) for agent in AgentCache().team(match_spec(names, 1, players=players).agents)}) == len(set(emperors))


def test_warm_up_round_is_not_in_the_file(file: Path) -> None:
    agent = Witness(notes=[])
    played = play_match(match_spec("witness", 1), file, workers=1, cache=AgentCache({"witness": agent})).games
    first, second = (place for place, note in enumerate(agent.notes) if note[0] == "begin")
    assert {int(games["max_turns"][0]) for _, games, _ in agent.notes[first + 1 : second]} == {4}
    assert {emperors[0] for _, _, emperors in agent.notes[first + 1 : second]} == {0, 1, 2, 3}
    assert played[0].steps == len(agent.notes[second + 1 :])


def test_win_rates_of_an_agent_object_by_task_are_returned() -> None:
    tasks = {"easy": Options(level="5300"), "imperivm": Options(variants=["imperivm"])}
    found = arena.win_rates(make_agents("greedy")[0], tasks, range(100, 110))
    games = play_games(tasks["easy"], make_agents("greedy"), range(100, 110))
    assert list(found) == ["easy", "imperivm"]
    assert (found["easy"].games, found["easy"].wins) == (10, sum(game.won for game in games))
    assert found["easy"].borders == pytest.approx(np.mean([game.borders for game in games]))
