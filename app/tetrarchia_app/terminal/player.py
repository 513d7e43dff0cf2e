"""A person at the terminal plays some of the Emperors, or all; agents play the others. Works on a pipe too."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import wrap

from tetrarchia_app.playing.choices import Choice, choices, chosen, links
from tetrarchia_app.terminal.printing import ending, turn_lines
from tetrarchia_app.terminal.surroundings import is_terminal, wants_colour, window
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game, Policy
from tetrarchia_env.messages import did_you_mean, printable
from tetrarchia_env.notation import save_replay
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.text import draw_brief, draw_text

FEWEST = 4  # lines of the story that stay below the board
WHOLE = "\N{NO-BREAK SPACE}"  # no line ends at it
COLUMNS, ROWS = 80, 24  # of the smallest window to play in
HELP = """\
  a number       do what stands beside it; 0 ends the turn
  a text         the same by words, their beginnings are enough: move BELGICA, m belg, sec, dux att
  undo           take back what you did in this turn, as long as no dice fell
  board          show everything again
  save FILE      keep the game so far as a replay file
  quit           stop (so does the end of the input)
  On the board: [u] unrest, [R] revolt, (D) a token of diocletian, (d) printed in his capital, (*) in ROMA, * a border.
  Beside an action: its cost, and for a fight the chances to win, draw and lose."""


def emperors_named(names: str) -> list[str]:
    """R13.1: those that the person plays, from names with commas or "all"."""
    given = list(EMPERORS) if names == "all" else names.split(",")
    for name in given:
        if name not in EMPERORS:
            raise TetrarchiaError(f"unknown Emperor {name!r}{did_you_mean(name, EMPERORS)}: choose from {', '.join(EMPERORS)}, or all")
    return given


class Player:
    """The talk with the person."""

    def __init__(self, game: Game, policies: Mapping[str, Policy]) -> None:
        self._game = game
        self._policies = policies  # of the agents; whom it does not name, the person plays
        self._told = 0  # the number of the last frame that was told
        self._taken_back: list[str] = []  # and what is to be told besides

    def run(self) -> None:
        """Play to the end of the game, or until the person stops."""
        with suppress(ImportError):
            import readline  # noqa: F401  # arrow keys and a memory for `input`
        while not self._game.is_over:
            if not self._decide():
                return
        self._print(self._news(), [ending(self._game.snapshot())])

    def _decide(self) -> bool:
        """One decision of whoever is to act; whether to go on."""
        policy = self._policies.get(self._game.agent)
        if policy is None:
            return self._ask()
        self._game.play(policy(self._game))
        return True

    def _ask(self) -> bool:
        """Until something was done, or the person stops."""
        offered = choices(self._game.position)
        self._print(self._news(), [*self._links(), *menu(offered, window()[0])])
        while (typed := self._read()) is not None:
            if typed and self._obey(typed, offered):
                return True
        return False

    def _read(self) -> str | None:
        """A line without its outer blanks; None to stop."""
        snapshot = self._game.snapshot()
        points = f", {snapshot['ip']} IP" if snapshot["phase"] == "roman" else ""
        try:
            typed = input(f"{self._game.agent}{points} > ").strip()
        except EOFError:
            print()
            return None
        return None if typed in ("quit", "q") else typed

    def _obey(self, typed: str, offered: Sequence[Choice]) -> bool:
        """Whether the position is to be shown again."""
        word, _, rest = typed.partition(" ")
        if word == "undo":
            return self._undo()
        if word in ("?", "help"):
            print(HELP)
        elif word == "save":
            self._save(rest.strip())
        elif word != "board":
            return self._play(typed, offered)
        return word == "board"

    def _play(self, typed: str, offered: Sequence[Choice]) -> bool:
        try:
            choice = chosen(offered, typed)
        except ValueError as error:
            print(f"  {printable(error)}")
            return False
        self._game.play(choice.action)
        return True

    def _undo(self) -> bool:
        undone = self._game.frame(len(self._game.moves))
        if not self._game.undo():
            print("  there is nothing to take back: dice have fallen, or the turn has just begun")
            return False
        self._told = len(self._game.moves)
        self._taken_back = [f"  taken back: {undone.action}"]
        return True

    def _save(self, name: str) -> None:
        try:
            if not name:
                raise TetrarchiaError("give the file a name: save game.json")
            save_replay(self._game.replay(), Path(name).expanduser())
            print(f"  saved: {printable(name)}")
        except OSError as error:
            print(f"  {printable(error.filename)}: {error.strerror}")
        except ValueError as error:
            print(f"  {printable(error)}")

    def _news(self) -> list[str]:
        """What happened since this was last asked."""
        steps = pairwise(self._game.frames(self._told))
        self._told = len(self._game.moves)
        lines, self._taken_back = self._taken_back, []
        for (_, by_agent), group in groupby(steps, key=self._kind):
            told = list(group)
            lines += turn_lines(told) if by_agent else (f"  {line}" for _, frame in told for line in frame.story)
        return lines

    def _kind(self, step: tuple[Frame, Frame]) -> tuple[int, bool]:
        before, after = step
        return before.snapshot["turn"], after.agent in self._policies

    def _links(self) -> list[str]:
        """Of the space on which he stands, for whoever does not know the map by heart."""
        ways = [way.replace(" ", WHOLE) for way in links(self._game.position)]
        place = self._game.snapshot()["emperors"][self._game.agent]
        lines = wrap(f"from {place}: {', '.join(ways)}", window()[0], initial_indent="  ", subsequent_indent="    ") if ways else []
        return [line.replace(WHOLE, " ") for line in lines]

    def _print(self, story: Sequence[str], below: Sequence[str]) -> None:
        """The board, with as much of the story below it as fits the window, the older part above it."""
        width, height = window()
        story = [part for line in story for part in wrap(line, width, subsequent_indent="       ")]
        board = self._board(width, height - len(below) - min(len(story), FEWEST) - 1)
        room = max(height - len(board) - len(below) - 1, min(FEWEST, height // 6))
        wish = size_wanted(len(board) + len(below) + 2, width, height) if is_terminal() else []
        print("\n".join([*story[:-room], *board, *story[-room:], *below, *wish]), flush=True)

    def _board(self, width: int, room: int) -> list[str]:
        """The whole one; in a window that has not so many lines, what lies and stands on it."""
        frame, colour = self._game.frame(len(self._game.moves)), wants_colour()
        board = draw_text(frame.snapshot, colour=colour, dice=frame.dice, width=width, height=1000).split("\n")
        if len(board) <= room or not is_terminal():
            return board
        return draw_brief(frame.snapshot, colour=colour, dice=frame.dice, width=width, height=1000).split("\n")


def size_wanted(lines: int, width: int, height: int) -> list[str]:
    """What to tell a person whose window does not show all of that at once."""
    if width >= COLUMNS and height >= lines:
        return []
    return [f"(this needs a window of {max(width, COLUMNS)} x {max(lines, ROWS)}; yours is {width} x {height})"]


def menu(offered: Sequence[Choice], width: int) -> Iterator[str]:
    """Fights with a line each, the rest in columns."""
    yield from (str(choice) for choice in offered if choice.odds)
    cells = [str(choice) for choice in offered if not choice.odds]
    column = max(map(len, cells), default=0) + 1
    rows = -(-len(cells) // max(width // column, 1))
    for row in range(rows):
        yield "".join(f"{cell:{column}}" for cell in cells[row::rows]).rstrip()
