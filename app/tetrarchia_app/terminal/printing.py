"""A game as plain lines: for pipes and files, and for what stays in the terminal afterwards."""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from tetrarchia_env.board import BOARD, EMPERORS, ROMAN_PROVINCES
from tetrarchia_env.game import Game
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.frames import Frame

TOLD_BY_RESULT = ("attack", "dux attack", "secure", "boost", "block", "accept")  # the text alone does not say what came of it


def print_game(game: Game) -> None:
    """A line for each turn and its events below it, as they come, then how it ended."""
    for _, steps in groupby(pairwise(game.frames()), key=lambda step: step[0].snapshot["turn"]):
        for line in turn_lines(list(steps)):
            print(line)
        print(end="", flush=True)
    print(f"\n{ending(game.snapshot())}", flush=True)


def turn_lines(steps: Iterable[tuple[Frame, Frame]]) -> Iterator[str]:
    """What was decided in a turn, in one line, and what happened by itself; a step is a frame and the next."""
    steps = list(steps)
    start = steps[0][0].snapshot
    decisions = "; ".join(_decision(start["emperor"], frame) for _, frame in steps)
    yield f"{start['turn'] + 1:4} {start['emperor']}: {decisions}"
    yield from (f"       {line}" for _, frame in steps for line in news(frame))


def _decision(emperor: str, frame: Frame) -> str:
    return f"{frame.action}" if frame.agent == emperor else f"({frame.agent}: {frame.action})"


def news(frame: Frame) -> tuple[str, ...]:
    """The events that the action's own text does not tell."""
    return frame.story if str(frame.action).startswith(TOLD_BY_RESULT) else frame.story[1:]


def ending(final: Snapshot) -> str:
    """How a game stands or ended, in one sentence."""
    secured = sum(final["tokens"].get(name) in EMPERORS for name in BOARD.names[ROMAN_PROVINCES:])
    return f"{final['outcome']} after {final['turn']} turns: {secured} of 6 borders secured, score {final['score']}"
