"""Videos: readable files of the right length, never written partially."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_games import random_game
from tetrarchia_env.render import video as videos
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.video import save_video, video_format

pytest.importorskip("resvg_py")
image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("speed", [2.0, 4.0, 12.5])
def test_gif_has_the_frames_and_durations(tmp_path: Path, speed: float) -> None:
    frames = random_game()
    save_video(frames, tmp_path / "game.gif", speed)
    with image.open(tmp_path / "game.gif") as video:
        stills = [(video.info["duration"], np.asarray(video.convert("RGB"))) for _ in seek_each_frame(video)]
    assert [duration for duration, _ in stills] == [1000 / speed] * (len(frames) - 1) + [3000]
    assert_shows([pixels for _, pixels in stills], frames)
    assert (tmp_path / "game.gif").stat().st_size < 100_000 + 10_000 * len(frames)


def seek_each_frame(video: Any) -> Iterator[None]:
    for number in range(video.n_frames):
        video.seek(number)
        yield


@pytest.mark.parametrize("speed", [2.0, 12.5, 0.25])
def test_mp4_has_the_frames_and_duration(tmp_path: Path, speed: float) -> None:
    av = pytest.importorskip("av")
    frames = random_game()[:8]
    save_video(iter(frames), tmp_path / "game.MP4", speed)
    with av.open(str(tmp_path / "game.MP4")) as video:
        stream = video.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt, stream.average_rate) == ("h264", "yuv420p", speed)
        assert video.duration / 1e6 == pytest.approx((7 + max(round(3 * speed), 1)) / speed, abs=0.01)
        stills = [still.to_ndarray(format="rgb24") for still in video.decode(stream)]
    assert len(stills) == 7 + videos.last_frame_repeats(speed)
    assert_shows(stills, [*frames, *[frames[-1]] * (videos.last_frame_repeats(speed) - 1)])


def assert_shows(stills: list[Any], frames: list[Frame]) -> None:
    """Check that each still is closer to the picture of its frame than to that of the previous one."""
    pictures = [videos.draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice, width=videos.WIDTH).astype(int) for frame in frames]
    for still, picture in zip(stills, pictures, strict=True):
        assert abs(still - picture).mean() < 2.5
    for still, (one, other) in zip(stills[1:], itertools.pairwise(pictures), strict=True):
        assert (one == other).all() or abs(still - other).mean() < abs(still - one).mean()


@pytest.mark.parametrize("kind", ["gif", "mp4"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_interrupted_video_leaves_no_partial_file(tmp_path: Path, kind: str, error: type[BaseException]) -> None:
    def interrupted() -> Iterator[Frame]:
        yield from random_game()[:4]
        raise error

    path = tmp_path / f"game.{kind}"
    with pytest.raises(error):
        save_video(interrupted(), path)
    assert list(tmp_path.iterdir()) == []
    path.write_text("an older video")
    with pytest.raises(error):
        save_video(interrupted(), path)
    assert [(file, file.read_text()) for file in tmp_path.iterdir()] == [(path, "an older video")]


@pytest.mark.parametrize("name", ["game.avi", "game", "gif", "game.gif.txt"])
def test_unknown_file_extension_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be named"):
        video_format(Path(name))
    with pytest.raises(ValueError, match="must be named"):
        save_video(random_game(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert (video_format(Path("game.gif")), video_format(Path("a.b/GAME.MP4"))) == ("gif", "mp4")


def test_video_without_frames_or_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one frame"):
        save_video([], tmp_path / "game.gif")
    with pytest.raises(ValueError, match="there is no folder"):
        save_video(random_game(), tmp_path / "nowhere" / "game.gif")
