"""Play in the terminal: the user plays some or all Emperors, agents play the others. Also works on a pipe."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby, pairwise
from pathlib import Path
from textwrap import wrap

from tetrarchia_app.playing.choices import Choice, choices, links, parse_choice
from tetrarchia_app.terminal.printing import ending, turn_lines
from tetrarchia_app.terminal.streams import has_color, is_terminal, window_size
from tetrarchia_env.batch import Games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game, Policy
from tetrarchia_env.messages import did_you_mean, printable
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.text import draw_brief, draw_text

MIN_LOG_LINES = 4  # of the events below the board
MIN_COLUMNS, MIN_ROWS = 80, 24  # of the window
NO_BREAK = "\N{NO-BREAK SPACE}"
HELP = """\
  a number       play the action with this number; 0 ends the turn
  a text         play the action with this text, which may be abbreviated: move BELGICA, m belg, sec, dux att
  undo           undo your last action of this turn, unless dice were rolled since
  board          show the position again
  save FILE      save the game so far as a replay file
  quit           stop (as does the end of the input)
  On the board: [u] unrest, [R] revolt, (D) a token of diocletian, (d) printed in his capital, (*) in ROMA, * a border.
  Next to an action: its cost, and for a combat the chances to win, draw and lose."""


def parse_emperors(names: str) -> list[str]:
    """Return the Emperors of a comma-separated list or of "all" (R13.1)."""
    emperors = list(EMPERORS) if names == "all" else names.split(",")
    for name in emperors:
        if name not in EMPERORS:
            raise TetrarchiaError(f"unknown Emperor {name!r}{did_you_mean(name, EMPERORS)}: choose from {', '.join(EMPERORS)}, or all")
    return emperors


class Player:
    """The dialogue with the user.

    Args:
        game: The game to play.
        policies: Chooses the actions of each Emperor that the user does not play.
    """

    def __init__(self, game: Game, policies: Mapping[str, Policy]) -> None:
        self._game = game
        self._policies = policies
        self._shown = 0  # number of actions whose events were printed
        self._notice: list[str] = []  # lines to print before the next events

    def run(self) -> None:
        """Play until the end of the game, or until the user quits."""
        with suppress(ImportError):
            import readline  # noqa: F401  # adds arrow keys and a history to `input`
        while not self._game.is_over:
            policy = self._policies.get(self._game.agent)
            if policy is not None:
                self._game.play(policy(self._game))
            elif not self._ask():
                return
        self._game.view = None  # the game is over: show everything
        self._print(self._new_events(), [ending(self._game.snapshot())])

    def _ask(self) -> bool:
        """Read commands until the position changed or is to be shown again; return False if the user quits."""
        known = None
        if self._game.local.view_radius is not None:
            self._game.view = self._game.agent
            known = self._game.visible_position(self._game.agent)
        offered = choices(self._game.position, known, self._game.local.message_tokens)
        below = [*last_messages(self._game), *self._link_lines(known), *menu(offered, window_size()[0])]
        self._print(self._new_events(), below)
        snapshot = self._game.snapshot()
        points = f", {snapshot['ip']} IP" if snapshot["phase"] == "roman" else ""
        while True:
            try:
                typed = input(f"{self._game.agent}{points} > ").strip()
            except EOFError:
                print()
                return False
            command, _, rest = typed.partition(" ")
            if command in ("quit", "q"):
                return False
            if command == "board" or (command == "undo" and self._undo()):
                return True
            if command in ("?", "help"):
                print(HELP)
            elif command == "save":
                self._save(rest.strip())
            elif command not in ("", "undo") and self._play(typed, offered):
                return True

    def _play(self, typed: str, offered: Sequence[Choice]) -> bool:
        try:
            choice = parse_choice(offered, typed)
        except TetrarchiaError as error:
            print(f"  {printable(error)}")
            return False
        self._game.play(choice.action)
        return True

    def _undo(self) -> bool:
        undone = self._game.frame(len(self._game.moves))
        if not self._game.undo():
            print("  nothing to undo: dice were rolled, or the turn has just begun")
            return False
        self._shown = len(self._game.moves)
        self._notice = [f"  undone: {undone.action}"]
        return True

    def _save(self, name: str) -> None:
        try:
            if not name:
                raise TetrarchiaError("save needs a file name: save game.json")
            self._game.replay().save(Path(name).expanduser())
            print(f"  saved: {printable(name)}")
        except OSError as error:
            print(f"  {printable(error.filename)}: {error.strerror}")
        except TetrarchiaError as error:
            print(f"  {printable(error)}")

    def _new_events(self) -> list[str]:
        """Return the lines about everything that happened since the last call."""

        def turn_and_actor(step: tuple[Frame, Frame]) -> tuple[int, bool]:
            before, after = step
            return before.snapshot["turn"], after.agent in self._policies

        steps = pairwise(self._game.frames(self._shown))
        lines, self._notice, self._shown = self._notice, [], len(self._game.moves)
        for (_, by_agent), group in groupby(steps, key=turn_and_actor):
            turn = list(group)
            lines += turn_lines(turn) if by_agent else (f"  {line}" for _, frame in turn for line in frame.story)
        return lines

    def _link_lines(self, known: Games | None) -> list[str]:
        """Return the neighbours of the Emperor's space, wrapped between names only."""
        neighbours = [link.replace(" ", NO_BREAK) for link in links(self._game.position if known is None else known)]
        if not neighbours:
            return []
        place = self._game.snapshot()["emperors"][self._game.agent]
        lines = wrap(f"from {place}: {', '.join(neighbours)}", window_size()[0], initial_indent="  ", subsequent_indent="    ")
        return [line.replace(NO_BREAK, " ") for line in lines]

    def _print(self, events: Sequence[str], below: Sequence[str]) -> None:
        """Print the board with the newest events below it, as many as fit into the window, and the older events above it."""
        width, height = window_size()
        events = [part for line in events for part in wrap(line, width, subsequent_indent="       ")]
        board = self._board(width, height - len(below) - min(len(events), MIN_LOG_LINES) - 1)
        room = max(height - len(board) - len(below) - 1, min(MIN_LOG_LINES, height // 6))
        warning = size_warning(len(board) + len(below) + 2, width, height) if is_terminal() else []
        print("\n".join([*events[:-room], *board, *events[-room:], *below, *warning]), flush=True)

    def _board(self, width: int, height: int) -> list[str]:
        """Return the board, or a list of its pieces if the window has fewer lines."""
        frame, color = self._game.frame(len(self._game.moves)), has_color()
        board = draw_text(frame.snapshot, colour=color, dice=frame.dice, width=width, height=1000).split("\n")
        if len(board) <= height or not is_terminal():
            return board
        return draw_brief(frame.snapshot, colour=color, dice=frame.dice, width=width, height=1000).split("\n")


def last_messages(game: Game) -> list[str]:
    """Return a line with the last token of each Emperor who said one (R14.7); none if there are no messages yet."""
    said = [f"{emperor} {token} ({age} turn{'s' * (age != 1)} ago)" for emperor, (token, age) in game.last_messages().items()]
    return [f"  last messages: {', '.join(said)}"] if said else []


def size_warning(lines: int, width: int, height: int) -> list[str]:
    """Return a line about the size of the window, if it is too small to show everything at once."""
    if width >= MIN_COLUMNS and height >= lines:
        return []
    return [f"(this needs a window of {max(width, MIN_COLUMNS)} x {max(lines, MIN_ROWS)}; yours is {width} x {height})"]


def menu(offered: Sequence[Choice], width: int) -> Iterator[str]:
    """Yield the choices: combats on a line each, the others in columns."""
    yield from (str(choice) for choice in offered if choice.odds)
    cells = [str(choice) for choice in offered if not choice.odds]
    column = max(map(len, cells), default=0) + 1
    rows = -(-len(cells) // max(width // column, 1))
    for row in range(rows):
        yield "".join(f"{cell:{column}}" for cell in cells[row::rows]).rstrip()
