"""Damaged files: replays, results, protocol results, boards, presets, checkpoints."""

import json
import random
import tempfile
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from helpers.mutations import NASTY, mutated, mutated_bytes, mutated_text
from helpers.random_games import EVERYTHING, random_replay
from tetrarchia_env.board import PACKAGED
from tetrarchia_env.board import load as load_board
from tetrarchia_env.notation import load_replay, play_replay
from tetrarchia_env.options import Options

FOLDER = Path(tempfile.mkdtemp(prefix="tetrarchia-fuzz-"))
RULES = (Options(), EVERYTHING, Options(variants=["imperivm"]), Options(scenario="carausian_revolt"), Options(modules=["pirates", "dux"]))


@cache
def replay_files() -> list[dict[str, Any]]:
    found = []
    for number, rules in enumerate(RULES):
        random_replay(rules, number, 40).save(FOLDER / "good.json")
        found.append(json.loads((FOLDER / "good.json").read_text()))
    return found


def write_mutated_json(path: Path, data: Any, chance: random.Random) -> None:
    text = json.dumps(data if chance.random() < 0.2 else mutated(data, chance))
    path.write_bytes(mutated_text(text, chance).encode(errors="replace") if chance.random() < 0.3 else text.encode(errors="replace"))


def replays(chance: random.Random) -> None:
    write_mutated_json(FOLDER / "game.json", chance.choice(replay_files()), chance)
    list(play_replay(load_replay(FOLDER / "game.json")))


@cache
def result_lines() -> list[Any]:
    spec = {
        "format": 1, "environment": "tetrarchia_v0", "arguments": {"variants": [], "max_turns": 400}, "levels": ["4200", "4211"],
        "agents": ["random"] * 4, "fingerprints": {"random": "0123456789ab"}, "games": 2, "first_seed": 7, "seed": 0,
        "versions": {"tetrarchia": "0.1.0"}, "machine": {"cores": 2},
    }  # fmt: skip
    game = {"outcome": "won", "score": 3, "turns": 30, "borders": 6, "decisions": [1, 2, 3, 4], "seconds": [0.1, 0.0, 1.0, 2.5]}
    return [spec, *({"level": level, "seed": seed} | game for level in ("4200", "4211") for seed in (7, 8))]


def results(chance: random.Random) -> None:
    from tetrarchia_eval.result_files import load_match

    lines = list(result_lines())
    at = chance.randrange(len(lines))
    lines[at] = mutated(lines[at], chance)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (FOLDER / "match.jsonl").write_bytes((mutated_text(text, chance) if chance.random() < 0.3 else text).encode(errors="replace"))
    for game in load_match(FOLDER / "match.jsonl", unfinished_ok=chance.random() < 0.5).games:
        assert 0 <= game.borders <= 6
        assert 0 <= game.turns <= 2**31
        assert -18 <= game.score <= 10
        assert all(0 <= seconds < 1e13 for seconds in game.seconds)


@cache
def protocol_result() -> dict[str, Any]:
    from helpers.made_up_results import made_up_result
    from tetrarchia_eval.protocol import result_text

    found: dict[str, Any] = json.loads(result_text(made_up_result("one", lambda case: 0.5, split="development")))
    return found


def protocol_results(chance: random.Random) -> None:
    from tetrarchia_eval.leaderboard import track_table
    from tetrarchia_eval.protocol import read_result

    write_mutated_json(FOLDER / "protocol.json", protocol_result(), chance)
    result = read_result(FOLDER / "protocol.json")
    for track in result.games:
        track_table([result], track, {}).markdown()


def boards(chance: random.Random) -> None:
    text = PACKAGED.read_text(encoding="utf-8")
    lines = text.split("\n")
    if chance.random() < 0.5:
        at = chance.randrange(len(lines))
        lines[at] = mutated_text(lines[at], chance)
        text = "\n".join(lines)
    else:
        text = mutated_text(text, chance)
    (FOLDER / "board.toml").write_bytes(text.encode(errors="replace"))
    load_board(FOLDER / "board.toml")


def presets(chance: random.Random) -> None:
    import yaml

    from tetrarchia_train.config import PRESETS, TrainConfig, read_preset

    preset = chance.choice(sorted(PRESETS.glob("*.yaml")))
    data = yaml.safe_load(preset.read_text()) or {}
    if chance.random() < 0.5:
        name = chance.choice(list(TrainConfig().as_data()))
        text = yaml.safe_dump({**data, name: chance.choice([value for value in NASTY if value != "\ud800"])})
    else:
        text = mutated_text(preset.read_text(), chance)
    (FOLDER / "some.yaml").write_bytes(text.encode(errors="replace"))
    config = read_preset(str(FOLDER / "some.yaml"))
    assert config.num_envs * config.n_steps <= 2**24


@cache
def checkpoint() -> tuple[dict[str, Any], bytes]:
    from tetrarchia_agents.checkpoints import CARD, WEIGHTS, save_checkpoint
    from tetrarchia_agents.network import NetworkConfig, make_network

    small = NetworkConfig(node_dim=8, encoder_layers=1, readout_dim=4, hidden_dim=32)
    save_checkpoint(FOLDER / "good", make_network(small), small, {"training": {}})
    return json.loads((FOLDER / "good" / CARD).read_text()), (FOLDER / "good" / WEIGHTS).read_bytes()


def damaged_table(content: bytes, chance: random.Random) -> bytes:
    """Return the content of a weights file with a damaged header table."""
    length = int.from_bytes(content[:8], "little")
    table = json.dumps(mutated(json.loads(content[8 : 8 + length]), chance)).encode(errors="replace")
    length_given = chance.choice([len(table), len(table), len(table), 2**63, 0, len(table) + 5])
    return length_given.to_bytes(8, "little") + table + content[8 + length :]


def checkpoints(chance: random.Random) -> None:
    import torch

    from tetrarchia_agents.checkpoints import CARD, WEIGHTS, load_checkpoint

    card, content = checkpoint()
    kind = chance.randrange(4)
    if kind == 0:
        content = damaged_table(content, chance)
    elif kind == 1:
        content = mutated_bytes(content, chance)
    elif kind == 2:
        card = card | {"network": mutated(card["network"], chance)}
    else:
        card = mutated(card, chance)
    folder = FOLDER / "damaged"
    folder.mkdir(exist_ok=True)
    if chance.random() < 0.9 and isinstance(card, dict):
        card = card | {"weights": sha256(content).hexdigest()}
    (folder / WEIGHTS).write_bytes(content)
    (folder / CARD).write_bytes(json.dumps(card).encode(errors="replace"))
    for weights in load_checkpoint(folder).network.parameters():
        assert torch.isfinite(weights).all()
