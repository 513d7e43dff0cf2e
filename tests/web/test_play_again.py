"""Playing again after the end of a game, without a browser."""

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from pathlib import Path

from helpers.random_games import random_replay
from helpers.web_server import serving
from tetrarchia_env.notation import replay_data
from tetrarchia_env.options import Options


@pytest.mark.parametrize("same_dice", [False, True])
def test_players_meet_again_in_one_new_room(tmp_path: Path, same_dice: bool) -> None:
    replay = random_replay(Options(level="4222"), 11, 1000)
    with serving(tmp_path) as server:
        first = server.connect(server.create_room("player 1", "player 2", "random", "random", replay=replay_data(replay)))
        second = server.connect(first.received["players"]["players"][1]["link"])
        first.send("play_again", same_dice=same_dice)
        redirect, invitation = first.wait_for("redirect")["url"], second.wait_for("next_room")["url"]
        second.send("play_again")

        assert second.wait_for("redirect")["url"] == invitation != redirect
        again, joined = server.connect(redirect), server.connect(invitation)
        assert again.received["players"]["you"] == 0
        assert joined.received["players"]["you"] == 1
        room = next(room for room in server.manager.rooms.values() if not room.game.is_over)
        assert room.game.options == replay.options
        assert (room.game.seed == replay.seed) == same_dice
        assert len(server.manager.rooms) == 2


def test_running_game_cannot_be_played_again(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        page = server.connect(server.create_room("player 1", "random", "random", "random", seed=5))
        assert "not over" in page.error("play_again")
