"""A game as plain lines, for pipes, files and the end of a session in the terminal."""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from tetrarchia_env.game import Game
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.render.frames import UNSEEN_ACTION, Frame
from tetrarchia_env.render.labels import secured_borders

# Actions whose first event is printed too: the action itself does not say whether it succeeded.
UNCERTAIN_ACTIONS = ("attack", "dux attack", "secure", "boost", "block", "accept", UNSEEN_ACTION)


def print_game(game: Game) -> None:
    """Print a line for each turn with its events below, as they happen, and the result."""
    for _, steps in groupby(pairwise(game.frames()), key=lambda step: step[0].snapshot["turn"]):
        for line in turn_lines(steps):
            print(line)
        print(end="", flush=True)
    print(f"\n{ending(game.snapshot())}", flush=True)


def turn_lines(steps: Iterable[tuple[Frame, Frame]]) -> Iterator[str]:
    """Yield a line with the actions of a turn, then its events.

    Args:
        steps: Pairs of a frame and the next one.
    """
    steps = list(steps)
    turn, emperor = steps[0][0].snapshot["turn"], steps[0][0].snapshot["emperor"]
    shown = [frame for _, frame in steps if frame.action != UNSEEN_ACTION]
    actions = (f"{frame.action}" if frame.agent == emperor else f"({frame.agent}: {frame.action})" for frame in shown)
    yield f"{turn + 1:4} {emperor}: {'; '.join(actions)}".rstrip()
    for _, frame in steps:
        events = frame.story if str(frame.action).startswith(UNCERTAIN_ACTIONS) else frame.story[1:]
        yield from (f"       {line}" for line in events)


def ending(final: Snapshot) -> str:
    """Return the outcome, turns, borders and score of a position in one line."""
    return f"{final['outcome']} after {final['turn']} turns: {secured_borders(final)} of 6 borders secured, score {final['score']}"
