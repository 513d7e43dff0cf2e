"""A show in the terminal: forwards, backwards, by actions and by turns."""

import time
from collections.abc import Callable

from tetrarchia_app.terminal.printing import ending, print_game
from tetrarchia_app.terminal.surroundings import is_interactive, wants_colour, window
from tetrarchia_env.game import Game
from tetrarchia_env.render.frames import MAX_SPEED, MIN_SPEED
from tetrarchia_env.render.text import draw_brief, draw_text

WIDTH, HEIGHT = 100, 33  # of a window that shows the board and a little of the story
LOG = 60  # lines of the past that are kept at hand
HELP = "space play/pause   <- -> action   up down turn   Home End   + - speed   12 Enter jump   q quit"


def view(game: Game, speed: float) -> None:
    """Show it to the person at the terminal until he quits; without one print it and wait for nothing."""
    if not is_interactive():
        print_game(game)
        return
    from tetrarchia_app.terminal.screen import open_screen

    game.frame(1)  # mistakes and the compiler's message come before the screen is taken
    viewer = Viewer(game, speed)
    with open_screen() as screen:
        screen.show(viewer.lines())
        while viewer.press(screen.key(viewer.wait())):
            screen.show(viewer.lines())
    if viewer.frame.snapshot["outcome"] != "running":
        print(ending(viewer.frame.snapshot))


class Viewer:
    """Where we are in a show, and what each key does about it."""

    def __init__(self, game: Game, speed: float) -> None:
        self._game = game
        self._speed = speed
        self._typed = ""
        self._last: int | None = None  # the number of the last frame, once it was seen
        self._play(True)
        self.frame = game.frame(0)

    def wait(self) -> float | None:
        """Seconds until the next action is to be shown; None: only a key goes on."""
        return max(0.0, self._due - time.monotonic()) if self._playing else None

    def press(self, key: str | None) -> bool:
        """What a key does, or the time that passed without one; whether to go on."""
        if key in ("q", "Q", "eof"):
            return False
        if key is None:
            self._go(self.frame.number + 1)
        elif key.isdecimal():
            self._typed += key
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key in _DEEDS:
            _DEEDS[key](self)
            self._typed = ""
        return True

    def lines(self) -> list[str]:
        """The board, what led here, and lines that tell the state and the keys, as many as the window has."""
        width, height = window()
        room = max(height - 2, 1)
        draw = draw_text if height >= HEIGHT else draw_brief
        board = draw(self.frame.snapshot, colour=wants_colour(), story=self._log(), dice=self.frame.dice, width=width, height=room).split(
            "\n"
        )
        blank = [""] * (room - len(board))
        keys = HELP if width >= WIDTH and height >= HEIGHT else f"q quit   ({WIDTH} x {HEIGHT} shows all)   {HELP}"
        return [*board, *blank, *(_bar(words, width) for words in (self._state(), keys))][-height:]

    def _log(self) -> list[str]:
        """The newest events marked, older ones before them."""
        lines = [f"> {line}" for line in self.frame.story]
        for number in range(self.frame.number - 1, 0, -1):
            if len(lines) >= LOG:
                break
            lines = [*(f"  {line}" for line in self._game.frame(number).story), *lines]
        return lines

    def _state(self) -> str:
        if self._typed:
            return f"jump to action {self._typed}_"
        total = "" if self._last is None else f" of {self._last}"
        doing = "the end" if self.frame.number == self._last else "playing" if self._playing else "paused"
        decided = f": {self.frame.agent}, {self.frame.action}" if self.frame.action else ""
        return f"action {self.frame.number}{total}{decided}   [{doing}, {self._speed:g} a second]"

    def _play(self, playing: bool) -> None:
        self._playing = playing
        self._due = time.monotonic() + 1 / self._speed

    def _go(self, number: int) -> None:
        """There, or to the last frame; nothing plays on after it."""
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
        """To the beginning of this turn, or from there to that of the one before."""
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

    def _to_end(self) -> None:
        self._game.play_to_end()
        self._step(len(self._game.moves) + 1)

    def _jump(self) -> None:
        if self._typed:
            self._step(int(self._typed))


def _bar(words: str, width: int) -> str:
    return f"\x1b[7m{f' {words}'[:width]:{width}}\x1b[0m"


_DEEDS: dict[str, Callable[[Viewer], None]] = {
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
    **dict.fromkeys(("end", "G"), lambda viewer: viewer._to_end()),
}
