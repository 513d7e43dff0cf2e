"""Tests of the study of local information (R14): groups with different information, mutual information, and shuffled messages."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from helpers.made_up_runs import match
from tetrarchia_app import cli
from tetrarchia_env import batch
from tetrarchia_env.agent import Agent, Observer
from tetrarchia_env.constants import ACTIONS, END
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.observation import OBSERVATION
from tetrarchia_env.options import Options
from tetrarchia_eval.groups import group_results
from tetrarchia_eval.local_information import (
    MessageObserver,
    MessageResults,
    RunMessages,
    add_messages,
    analyze_messages,
    entropy,
    exchange_tokens,
    gap_plot,
    gap_table,
    information_table,
    mutual_information,
    play_with_messages,
    shuffle_table,
)
from tetrarchia_eval.match import Match
from tetrarchia_eval.page import group_report
from tetrarchia_eval.result_files import load_match, read_json
from tetrarchia_eval.statistics import Estimate

LOCAL = LocalOptions(2, last_seen=True, message_tokens=3)
SHORT = Options(level="4211", max_turns=8)
RUNS = {"seed-1": "strong", "seed-2": "middling", "seed-3": "weak"}


class Speaker(Agent):
    """Says a token as early as possible, and then ends the turn."""

    needs = "observations"
    local = LOCAL

    def token(self, observation: np.ndarray) -> int:
        """Say 3 if there is a Revolt in view, else 1."""
        visible = observation[1344:1392]
        revolts = np.frombuffer(observation[:1344].tobytes(), OBSERVATION)["revolt"].ravel() * visible
        return 3 if revolts.any() else 1

    def act(self, observations: np.ndarray, masks: batch.Masks, env_ids: np.ndarray, /) -> np.ndarray:
        actions = masks.argmax(axis=1)
        for row, mask in enumerate(masks):
            if mask[ACTIONS]:
                actions[row] = ACTIONS + self.token(observations[row]) - 1
            elif mask[END]:
                actions[row] = END
        return actions


class Babbler(Speaker):
    """Says random tokens."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(1)

    def token(self, observation: np.ndarray) -> int:
        return int(self.rng.integers(1, 4))


def test_mutual_information_of_equal_and_independent_columns() -> None:
    values = np.array([0, 1, 2, 3] * 8)
    assert entropy(values) == mutual_information(values, values) == 2.0
    assert mutual_information(values, np.zeros(32, dtype=np.int64)) == 0.0
    assert mutual_information(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])) == 0.0


def test_exchanged_tokens_keep_their_emperor_and_their_order() -> None:
    """In game g Emperor e says 10 e + g twice, then once 10 e + g + 100."""
    rows = [(game, emperor, 10 * emperor + game + 100 * (number == 2)) for number in range(3) for game in range(4) for emperor in range(2)]
    said = dict(zip(("game", "emperor", "token"), np.array(rows).T, strict=True))

    tokens = exchange_tokens(said, np.random.default_rng(3))

    assert (tokens != said["token"]).any()
    for emperor in range(2):
        sequences = [tokens[(said["emperor"] == emperor) & (said["game"] == game)].tolist() for game in range(4)]
        assert sorted(sequences) == [[10 * emperor + game] * 2 + [10 * emperor + game + 100] for game in range(4)]


def test_tokens_about_the_surroundings_carry_information_and_random_ones_do_not() -> None:
    found = analyze_messages(Speaker(), SHORT, range(40), permutations=20)
    random = analyze_messages(Babbler(), SHORT, range(40), permutations=20)

    assert found.messages > 100
    assert found.information["Revolts"] == pytest.approx(found.entropy)  # the token is a function of the number of Revolts
    assert found.information["Revolts"] > found.permuted["Revolts"] + 0.3
    assert random.entropy == pytest.approx(np.log2(3), abs=0.05)
    assert max(abs(random.information[name] - random.permuted[name]) for name in random.information) < 0.05


def test_shuffled_messages_come_from_another_environment_and_the_sender_observes_its_own() -> None:
    games, masks = batch.new_games(SHORT, [1, 2], LOCAL.message_tokens)
    while not masks[:, ACTIONS].all():
        batch.step(games, np.where(masks[:, ACTIONS] == 0, masks.argmax(axis=1), END), masks)
    envs, shuffled, true = np.arange(2), MessageObserver(LOCAL, 2, np.random.default_rng(0)), Observer(LOCAL, 2)
    for observer in (shuffled, true):
        observer.update(games, envs, np.array([True, True]))
        observer.say(games, envs, np.array([ACTIONS, ACTIONS + 2]))

    own = shuffled.observe(games, envs)
    later = games.copy()
    later["emperor"] = 3 - games["emperor"]
    heard, expected = shuffled.observe(later, envs), true.observe(later, envs)

    assert own.tobytes() == true.observe(games, envs).tobytes()
    assert heard[:, -4:].tobytes() == expected[:, -4:].tobytes()  # the ages
    assert heard[:, -16:-4].tobytes() == expected[::-1, -16:-4].tobytes()  # the tokens
    assert shuffled.said["token"].tolist() == [1, 3]


def test_recording_does_not_change_the_games() -> None:
    played = play_with_messages(Speaker(), SHORT, [5, 6], LOCAL)
    assert played.won.tolist() == [False, False]
    assert set(played.said["game"]) == {0, 1}
    with pytest.raises(TetrarchiaError):
        play_with_messages(Speaker(), SHORT, [5, 6], LocalOptions(2))


def made_up_group(name: str, **local: object) -> dict[str, Match]:
    """Return self-play and cross-play of three runs with local information."""
    found = {}
    for one in RUNS:
        for other in RUNS:
            label = one if one == other else f"{one}+{other}"
            played = match((RUNS[one],) * 2 + (RUNS[other],) * 2, games=20)
            played.spec.arguments.update(local)
            found[f"results/local/{name}/{label}.jsonl"] = played
    return found


def test_groups_with_different_information_are_compared() -> None:
    pytest.importorskip("matplotlib")
    report = group_report(made_up_group("full") | made_up_group("near", view_radius=1, last_seen=True))

    rows = gap_table(report).rows

    assert [row[:5] for row in rows] == [["full", "full", "no", "0", 3], ["near", "1", "yes", "0", 3]]
    assert "view radius" not in report.title
    gap_plot(report)
    mixed = {f"mine/{Path(file).stem}": played for file, played in made_up_group("mine").items()}
    mixed["mine/seed-1"].spec.arguments.update(view_radius=2)
    with pytest.raises(TetrarchiaError):
        group_results(mixed)


def test_tables_have_a_mean_over_runs() -> None:
    run = RunMessages(2000, 1.5, {"armies": 0.5}, {"armies": 0.1}, 600, 500)
    kept = MessageResults("last-two", groups={"mine": {"seed-1": run, "seed-2": run}})

    information, shuffled = information_table(kept).rows, shuffle_table(kept).rows

    assert [row[1] for row in information] == ["seed-1", "seed-2", "mean"]
    assert information[0][2:] == [2.0, 1.5, 0.4]
    assert isinstance(shuffled[2][4], Estimate)
    assert shuffled[2][4].value == pytest.approx(0.1)


def local_checkpoints(folder: Path, local: LocalOptions) -> None:
    torch = pytest.importorskip("torch")
    from tetrarchia_agents.checkpoints import save_checkpoint
    from tetrarchia_agents.network import make_network
    from tetrarchia_agents.network_config import NetworkConfig

    sizes = {"node_dim": 8, "encoder_layers": 1, "readout_dim": 4, "hidden_dim": 32}
    config = NetworkConfig("gnn", local.actions, **sizes, **local.arguments())
    for seed in (1, 2, 3):
        torch.manual_seed(seed)
        save_checkpoint(folder / f"seed-{seed}" / "final", make_network(config), config, {"training": {}})


def test_groups_are_evaluated_with_the_information_of_their_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local_checkpoints(Path("runs/talk"), LOCAL)
    local_checkpoints(Path("runs/near"), LocalOptions(1))
    words = ["--group", "talk", "--group", "near", "--task", "last-border", "--games", "2", "--workers", "1", "--max-turns", "3"]

    with pytest.raises(SystemExit) as ended:
        cli.main(["eval", *words, "--cross-play", "--out", "kept"])

    assert not ended.value.code
    files = {path.relative_to("kept").as_posix(): load_match(path) for path in Path("kept").rglob("*.jsonl")}
    assert len(files) == 2 * 9
    assert {match.spec.local for name, match in files.items() if name.startswith("talk")} == {LOCAL}
    assert {match.spec.local for name, match in files.items() if name.startswith("near")} == {LocalOptions(1)}
    with pytest.raises(SystemExit) as ended:
        cli.main(["eval", *words, "--view-radius", "1"])
    assert ended.value.code == 2


def test_messages_of_a_group_are_added_to_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local_checkpoints(Path("runs/talk"), LOCAL)
    local_checkpoints(Path("runs/near"), LocalOptions(1))
    path = Path("kept/messages.json")
    path.parent.mkdir()
    path.write_bytes(msgspec.json.encode(MessageResults("last-border", games=2)))

    add_messages(path, "last-border", ["talk"])
    monkeypatch.setattr("tetrarchia_eval.local_information.analyze_messages", None)
    add_messages(path, "last-border", ["talk"])

    assert list(read_json(path, MessageResults).groups["talk"]) == ["seed-1", "seed-2", "seed-3"]
    monkeypatch.undo()
    for task, group in (("last-two", "talk"), ("last-border", str(tmp_path / "runs/near"))):
        with pytest.raises(TetrarchiaError):
            add_messages(tmp_path / path, task, [group])
