"""What the page is shown: positions in the replay page's own drawing, entries of the log, choices, players."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tetrarchia_app.playing.previews import previews
from tetrarchia_app.web.room import Room
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.events import Piece
from tetrarchia_env.game_analysis import GameAnalysis, percent, split_sentence
from tetrarchia_env.notation import fast_view, snapshot
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.page import words
from tetrarchia_env.render.shapes import Part
from tetrarchia_env.render.svg import pieces
from tetrarchia_env.render.thoughts import curve, marks, thoughts

Data = dict[str, Any]
PARTS: dict[Part, int] = {}  # every piece at its place that was ever sent, with its number: at most some thousand
DRAWINGS: list[str] = []  # of each, by its number


class Shown:
    """A position as every page shows it, drawn once; drawings that a page does not know yet come along with it, by number."""

    def __init__(self, frame: Frame) -> None:
        self._pieces = [_numbered(part) for part in pieces(frame.snapshot)]
        self._words = {place: "".join(parts) for place, parts in words(frame).items()}

    def view(self, known: set[int]) -> Data:
        """For a page that knows these drawings."""
        fresh = {number: DRAWINGS[number] for number in self._pieces if number not in known}
        known.update(fresh)
        return {"pieces": self._pieces, "new": fresh, **self._words}


def _numbered(part: Part) -> int:
    if part not in PARTS:
        PARTS[part] = len(DRAWINGS)
        DRAWINGS.append(part.svg)
    return PARTS[part]


def position(room: Room, number: int, known: set[int]) -> Data:
    """The game after so many actions."""
    return {"type": "position", "number": number, "view": Shown(room.game.frame(number)).view(known)}


@dataclass(frozen=True)
class Step:
    """A piece of an action, to be shown before the next."""

    lines: tuple[str, ...]
    fallen: tuple[int, ...]
    shown: Shown

    def data(self, known: set[int]) -> Data:
        """For a page that knows these drawings."""
        return {"lines": self.lines, "fallen": self.fallen, "view": self.shown.view(known)}


def steps(room: Room, played: Sequence[Piece]) -> list[Step]:
    """The pieces of the last action that tell something, with the dice of silent ones before; the last leads to the position itself."""
    agent = room.game.moves[-1].agent
    dice = room.game.moves[-2].dice if len(room.game.moves) > 1 else ""
    found, fallen = [], tuple[int, ...]()
    for piece in played:
        dice, fallen = piece.dice or dice, fallen + piece.fallen
        if piece.lines or piece is played[-1]:
            found.append(Step(piece.lines, fallen, Shown(Frame(room.number, snapshot(piece.after), agent, None, piece.lines, dice))))
            fallen = ()
    return found


def move(room: Room, done: Sequence[Step], known: set[int]) -> Data:
    """The last action and what followed."""
    return {"type": "move", "number": room.number, "entry": entry(room, room.number), "steps": [step.data(known) for step in done]}


def entry(room: Room, number: int) -> Data:
    """What the log says of an action; 0 is the beginning."""
    before = fast_view(room.game.positions[max(number - 1, 0)])
    played = room.game.moves[number - 1] if number else None
    lines = played.story if played else ("the game begins",)
    agent = played.agent if played else None
    return {"turn": int(before.turn) + 1, "emperor": EMPERORS[before.emperor], "agent": agent, "lines": lines}


def analysis(found: GameAnalysis) -> Data:
    """What an agent thinks of every position so far, drawn and worded as on the replay page."""
    if not found.decisions:
        return {"curve": "", "thoughts": [], "marks": [], "turns": {}, "worst": []}
    numbers = range(len(found.decisions) + 1)
    turns = {str(turn.number + 1): split_sentence(turn.luck, turn.choice) for turn in found.turns}
    shown = ["".join(thoughts(found, number)) for number in numbers]
    bad = [(place, found.decisions[place]) for place in found.worst]
    worst = [{"number": place, "turn": one.turn + 1, "cost": percent(one.regret)} for place, one in bad]
    return {"curve": curve(found), "thoughts": shown, "marks": marks(found, len(numbers)), "turns": turns, "worst": worst}


def log_entries(room: Room) -> Data:
    """The whole log."""
    return {"type": "log", "entries": [entry(room, number) for number in range(room.number + 1)]}


def decision(room: Room, player: int | None) -> Data:
    """Who decides, and for him what he may choose from."""
    is_his = player is not None and player == room.decider and room.agent_asked is None
    offered = previews(room.game.position) if is_his else None
    return {
        "type": "decision", "number": room.number, "agent": None if room.game.is_over else room.game.agent,
        "asked": room.agent_asked, "choices": offered, "mayUndo": room.may_undo(player),
    }  # fmt: skip


def people(room: Room, player: int | None, here: Iterable[int], wanted: Data) -> Data:
    """Who plays whom, who is here; for a person the links that he may hand on."""
    present = set(here)
    seats = [
        {
            "name": one.name, "agent": one.agent, "standIn": one.stand_in, "emperors": room.emperors_of(number), "consent": one.consent,
            "here": number in present, "you": number == player, "link": f"/seat/{one.link}" if player == 0 and one.is_person else None,
        }
        for number, one in enumerate(room.players)
    ]  # fmt: skip
    return {
        "type": "people", "players": seats, "you": player, "watch": f"/seat/{room.watch}", "alone": not room.has_persons,
        "wanted": wanted, "hasReplay": room.game.seed is not None,
    }  # fmt: skip
