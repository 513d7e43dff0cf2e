"""A show as a film: GIF by Pillow, MP4 (H.264) by PyAV.

PyAV and not imageio-ffmpeg: both are alive and have wheels for every system, but PyAV encodes in this process, so that
an error is an exception and not the log of another program, and it can read films back.
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
from tetrarchia_env.render.optional import library
from tetrarchia_env.render.raster import Pixels, draw_rgb
from tetrarchia_env.render.svg import height_of

WIDTH = 900
HEIGHT = height_of(WIDTH) // 2 * 2  # H.264 wants even numbers
ENDING = 3.0  # seconds that the last picture stays
COLOURS = 255  # of a GIF; one more is for "as before"
QUALITY = "20"  # H.264's crf: text stays sharp


def film_ending(path: Path) -> str:
    """The kind of film that a file's name asks for."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in WRITERS:
        raise TetrarchiaError(f"a film is {' or '.join(f'name.{kind}' for kind in WRITERS)}, not {Path(path).name!r}")
    return ending


def check_film(path: Path) -> None:
    """ValueError, before the game, if a film of this name could not be made."""
    for name in NEEDED[film_ending(path)]:
        library(name)


def save_film(frames: Iterable[Frame], path: Path, speed: float = 2.0) -> None:
    """Write a film of so many actions a second, whole or not at all; the last picture stays longer."""
    write = WRITERS[film_ending(path)]
    check_speed(speed)
    console = Console(stderr=True)
    with atomic_write(path) as draft, Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        total = len(frames) if isinstance(frames, Sized) else None
        write(_pictures(progress.track(frames, total=total, description="film")), draft, speed)


def _pictures(frames: Iterable[Frame]) -> Iterator[tuple[Pixels, bool]]:
    """Each picture, and whether it is the last."""
    previous: Pixels | None = None
    for frame in frames:
        if previous is not None:
            yield previous, False
        previous = draw_rgb(frame.snapshot, story=frame.story, dice=frame.dice, width=WIDTH)[:HEIGHT]
    if previous is None:
        raise TetrarchiaError("a film needs at least one frame")
    yield previous, True


def _write_gif(pictures: Iterator[tuple[Pixels, bool]], draft: Path, speed: float) -> None:
    """All pictures have the palette of the first, where the legend shows every piece; of the others only changes are kept."""
    image = library("PIL.Image")
    opening, is_last = next(pictures)
    palette = image.fromarray(opening).quantize(COLOURS)

    def still(picture: Pixels, is_last: bool) -> Any:
        reduced = image.fromarray(picture).quantize(palette=palette, dither=image.Dither.NONE)
        reduced.info["duration"] = 10 * round(100 * (ENDING if is_last else 1 / speed))
        return reduced

    others = (still(picture, is_last) for picture, is_last in pictures)
    shared = bytes(palette.getpalette())
    with draft.open("wb") as file:  # Pillow leaves its own open at Ctrl-C
        still(opening, is_last).save(file, "GIF", save_all=True, append_images=others, palette=shared, optimize=True, loop=0)


def _write_mp4(pictures: Iterator[tuple[Pixels, bool]], draft: Path, speed: float) -> None:
    """One picture an action at a constant rate, the last one as often as it takes."""
    av = library("av")
    with av.open(str(draft), "w", format="mp4", options={"movflags": "faststart"}) as film:
        stream = film.add_stream("libx264", rate=Fraction(speed).limit_denominator(1000), options={"crf": QUALITY, "tune": "animation"})
        stream.pix_fmt = "yuv420p"  # the only one that every player knows
        stream.width, stream.height = WIDTH, HEIGHT
        for picture, is_last in pictures:
            for _ in range(held(speed) if is_last else 1):
                film.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        film.mux(stream.encode())


def held(speed: float) -> int:
    """How many times an MP4 has its last picture."""
    return max(round(ENDING * speed), 1)


NEEDED = {"gif": ("resvg_py", "PIL.Image"), "mp4": ("resvg_py", "PIL.Image", "av")}
WRITERS = {"gif": _write_gif, "mp4": _write_mp4}
