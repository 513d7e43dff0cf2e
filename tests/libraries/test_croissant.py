"""Croissant metadata, validated and read by mlcroissant."""

from pathlib import Path

import pytest

from tetrarchia_eval.arena import match_spec
from tetrarchia_eval.dataset import iter_games, make_dataset, metadata_path

pytest.importorskip("mlcroissant")


@pytest.mark.filterwarnings("ignore")  # rdflib's own use of what it deprecates
def test_metadata_is_valid_and_describes_every_game(tmp_path: Path) -> None:
    import mlcroissant

    path = tmp_path / "games.jsonl.gz"
    make_dataset([match_spec("random,greedy", 2, levels=["4200", "4211"], first_seed=7)], path)
    metadata = mlcroissant.Dataset(jsonld=metadata_path(path))

    assert (metadata.metadata.issues.errors, metadata.metadata.issues.warnings) == (set(), set())
    for game, record in zip(iter_games(path), metadata.records("games"), strict=True):
        actions = [
            [emperor.decode(), text.decode()] for emperor, text in zip(record["games/emperors"], record["games/actions"], strict=True)
        ]
        assert actions == [list(action) for action in game.replay.actions]
        assert [agent.decode() for agent in record["games/agents"]] == list(game.agents)
        assert (record["games/level"].decode(), record["games/seed"]) == (game.level, game.replay.seed)
        assert (record["games/outcome"].decode(), record["games/turns"]) == (game.replay.final["outcome"], game.replay.final["turn"])
