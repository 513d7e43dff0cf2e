"""A game in the terminal: forwards and backwards, by actions and by turns."""

import time
from collections.abc import Callable

from tetrarchia_app.terminal.printing import ending, print_game
from tetrarchia_app.terminal.streams import has_color, is_interactive, window_size
from tetrarchia_env.game import Game
from tetrarchia_env.render.frames import MAX_SPEED, MIN_SPEED
from tetrarchia_env.render.text import draw_brief, draw_text

FULL_WIDTH, FULL_HEIGHT = 100, 33  # of a window that shows the whole board and some events
MAX_LOG_LINES = 60
HELP = "space play/pause   <- -> action   up down turn   Home End   + - speed   12 Enter jump   q quit"


def view(game: Game, speed: float) -> None:
    """Show a game until the user quits; without a TTY print it without pausing.

    Args:
        game: The game; its `policy`, if any, plays the actions as they are shown.
        speed: Actions per second.
    """
    if not is_interactive():
        print_game(game)
        return
    from tetrarchia_app.terminal.screen import open_screen

    game.frame(1)  # errors and the compiler's message appear before the alternate screen
    viewer = Viewer(game, speed)
    with open_screen() as screen:
        screen.show(viewer.lines())
        while viewer.press(screen.key(viewer.timeout())):
            screen.show(viewer.lines())
    if viewer.frame.snapshot["outcome"] != "running":
        print(ending(viewer.frame.snapshot))


class Viewer:
    """The position in a game that is shown, and the effect of each key."""

    def __init__(self, game: Game, speed: float) -> None:
        self._game = game
        self._speed = speed
        self._typed = ""  # digits of an action to jump to
        self._last: int | None = None  # number of the last frame, once it was shown
        self._play(True)
        self.frame = game.frame(0)

    def timeout(self) -> float | None:
        """Return the seconds until the next action is to be shown; `None` if paused."""
        return max(0.0, self._due - time.monotonic()) if self._playing else None

    def press(self, key: str | None) -> bool:
        """Handle a key, or `None` if the timeout expired; return False to quit."""
        if key in ("q", "Q", "eof"):
            return False
        if key is None:
            self._go(self.frame.number + 1)
        elif key.isdecimal():
            self._typed += key
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key in _KEY_HANDLERS:
            _KEY_HANDLERS[key](self)
            self._typed = ""
        return True

    def lines(self) -> list[str]:
        """Return the board, the log and two status lines, as many lines as the window has."""
        width, height = window_size()
        room = max(height - 2, 1)
        draw = draw_text if height >= FULL_HEIGHT else draw_brief
        text = draw(self.frame.snapshot, colour=has_color(), story=self._log(), dice=self.frame.dice, width=width, height=room)
        board = text.split("\n")
        blank = [""] * (room - len(board))
        is_full = width >= FULL_WIDTH and height >= FULL_HEIGHT
        keys = HELP if is_full else f"q quit   ({FULL_WIDTH} x {FULL_HEIGHT} shows all)   {HELP}"
        return [*board, *blank, *(_status_line(words, width) for words in (self._state(), keys))][-height:]

    def _log(self) -> list[str]:
        """Return the events so far, those of the last action marked."""
        lines = [f"> {line}" for line in self.frame.story]
        for number in range(self.frame.number - 1, 0, -1):
            if len(lines) >= MAX_LOG_LINES:
                break
            lines = [*(f"  {line}" for line in self._game.frame(number).story), *lines]
        return lines

    def _state(self) -> str:
        if self._typed:
            return f"jump to action {self._typed}_"
        total = "" if self._last is None else f" of {self._last}"
        state = "the end" if self.frame.number == self._last else "playing" if self._playing else "paused"
        action = f": {self.frame.agent}, {self.frame.action}" if self.frame.action else ""
        return f"action {self.frame.number}{total}{action}   [{state}, {self._speed:g} per second]"

    def _play(self, playing: bool) -> None:
        self._playing = playing
        self._due = time.monotonic() + 1 / self._speed

    def _go(self, number: int) -> None:
        """Show this frame, or the last one; stop playing there."""
        self.frame = self._game.frame(max(number, 0))
        if self.frame.number < number or self.frame.snapshot["outcome"] != "running":
            self._last = self.frame.number
        self._play(self._playing and self._last != self.frame.number)

    def _step(self, number: int) -> None:
        self._playing = False
        self._go(number)

    def _next_turn(self) -> None:
        turn, number = self.frame.snapshot["turn"], self.frame.number + 1
        while self._game.frame(number).number == number and self._turn(number) == turn:
            number += 1
        self._step(number)

    def _previous_turn(self) -> None:
        """Go to the beginning of this turn, or from there to that of the previous one."""
        number = max(self.frame.number - 1, 0)
        turn = self._turn(number)
        while number > 0 and self._turn(number - 1) == turn:
            number -= 1
        self._step(number)

    def _turn(self, number: int) -> int:
        return int(self._game.frame(number).snapshot["turn"])

    def _change_speed(self, factor: float) -> None:
        self._speed = min(max(self._speed * factor, MIN_SPEED), MAX_SPEED)
        self._due = min(self._due, time.monotonic() + 1 / self._speed)

    def _jump(self) -> None:
        if self._typed:
            self._step(int(self._typed))

    def _to_end(self) -> None:
        self._game.play_to_end()
        self._step(len(self._game.moves) + 1)


def _status_line(words: str, width: int) -> str:
    return f"\x1b[7m{f' {words}'[:width]:{width}}\x1b[0m"


_KEY_HANDLERS: dict[str, Callable[[Viewer], None]] = {
    " ": lambda viewer: viewer._play(not viewer._playing),
    "right": lambda viewer: viewer._step(viewer.frame.number + 1),
    "left": lambda viewer: viewer._step(viewer.frame.number - 1),
    "enter": Viewer._jump,
    "escape": lambda viewer: None,
    "+": lambda viewer: viewer._change_speed(2),
    "-": lambda viewer: viewer._change_speed(1 / 2),
    **dict.fromkeys(("down", "n", "page down"), Viewer._next_turn),
    **dict.fromkeys(("up", "p", "page up"), Viewer._previous_turn),
    **dict.fromkeys(("home", "g"), lambda viewer: viewer._step(0)),
    **dict.fromkeys(("end", "G"), Viewer._to_end),
}
