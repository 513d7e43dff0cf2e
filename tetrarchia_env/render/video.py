"""Videos of a game: GIF by Pillow, MP4 (H.264) by PyAV.

PyAV encodes in this process, so that an error is an exception and not the log of another program, and it can read videos back.
"""

import sys
from collections.abc import Iterable, Iterator, Sized
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import atomic_write
from tetrarchia_env.render.frames import Frame, check_speed
from tetrarchia_env.render.raster import Pixels, draw_rgb, optional
from tetrarchia_env.render.svg import height_of

WIDTH = 900
HEIGHT = height_of(WIDTH) // 2 * 2  # H.264 requires even numbers
LAST_FRAME_S = 3.0  # duration of the last picture
COLOURS = 255  # palette size of a GIF; entry 256 marks unchanged pixels
QUALITY = "20"  # H.264's crf: text stays sharp


def video_format(path: Path) -> str:
    """Return the video format of a file name.

    Args:
        path: `*.gif` or `*.mp4`.

    Returns:
        `gif` or `mp4`.

    Raises:
        TetrarchiaError: If the name has another ending.
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in WRITERS:
        raise TetrarchiaError(f"a video file must be named {' or '.join(f'*.{kind}' for kind in WRITERS)}; got {Path(path).name!r}")
    return ending


def check_video(path: Path) -> None:
    """Check that a video with this file name can be written.

    Args:
        path: `*.gif` or `*.mp4`.

    Raises:
        TetrarchiaError: If the name has another ending, or a package of the extra `render` is missing.
    """
    for name in NEEDED[video_format(path)]:
        optional(name)


def save_video(frames: Iterable[Frame], path: Path, speed: float = 2.0) -> None:
    """Write a video atomically.

    Args:
        frames: The frames, e.g. `game.frames()`.
        path: `*.gif` or `*.mp4`.
        speed: Actions per second.

    Raises:
        TetrarchiaError: If there are no frames, the speed or file name is not allowed, or a package of the extra `render` is missing.
    """
    write = WRITERS[video_format(path)]
    check_speed(speed)
    console = Console(stderr=True)
    with atomic_write(path) as draft, Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        total = len(frames) if isinstance(frames, Sized) else None
        write(_pictures(progress.track(frames, total=total, description="video")), draft, speed)


def _pictures(frames: Iterable[Frame]) -> Iterator[tuple[Pixels, bool]]:
    """Yield each picture and whether it is the last."""
    previous: Pixels | None = None
    for frame in frames:
        if previous is not None:
            yield previous, False
        previous = draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice, width=WIDTH)[:HEIGHT]
    if previous is None:
        raise TetrarchiaError("a video needs at least one frame")
    yield previous, True


def _write_gif(pictures: Iterator[tuple[Pixels, bool]], draft: Path, speed: float) -> None:
    """Write a GIF with the palette of the first picture, whose legend shows every piece; later pictures store only changes."""
    image = optional("PIL.Image")
    opening, is_last = next(pictures)
    palette = image.fromarray(opening).quantize(COLOURS)

    def still(picture: Pixels, is_last: bool) -> Any:
        reduced = image.fromarray(picture).quantize(palette=palette, dither=image.Dither.NONE)
        reduced.info["duration"] = 10 * round(100 * (LAST_FRAME_S if is_last else 1 / speed))
        return reduced

    others = (still(picture, is_last) for picture, is_last in pictures)
    shared = bytes(palette.getpalette())
    with draft.open("wb") as file:  # a file opened by Pillow would stay open after Ctrl-C
        still(opening, is_last).save(file, "GIF", save_all=True, append_images=others, palette=shared, optimize=True, loop=0)


def _write_mp4(pictures: Iterator[tuple[Pixels, bool]], draft: Path, speed: float) -> None:
    """Write an MP4 with one picture per action at a constant rate; the last one is repeated."""
    av = optional("av")
    with av.open(str(draft), "w", format="mp4", options={"movflags": "faststart"}) as container:
        stream = container.add_stream(
            "libx264", rate=Fraction(speed).limit_denominator(1000), options={"crf": QUALITY, "tune": "animation"}
        )
        stream.pix_fmt = "yuv420p"  # the format that every player supports
        stream.width, stream.height = WIDTH, HEIGHT
        for picture, is_last in pictures:
            for _ in range(last_frame_repeats(speed) if is_last else 1):
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def last_frame_repeats(speed: float) -> int:
    """Return how often an MP4 repeats its last picture."""
    return max(round(LAST_FRAME_S * speed), 1)


NEEDED = {"gif": ("resvg_py", "PIL.Image"), "mp4": ("resvg_py", "PIL.Image", "av")}
WRITERS = {"gif": _write_gif, "mp4": _write_mp4}
