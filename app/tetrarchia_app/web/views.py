"""Messages from the server to the pages: positions (drawn as on the replay page), log entries, choices and players."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tetrarchia_app.playing.previews import previews
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.events import Piece
from tetrarchia_env.game_analysis import GameAnalysis, percent, split_sentence
from tetrarchia_env.notation import fast_view, snapshot
from tetrarchia_env.render.analysis import curve, marks, position_analysis
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.page import words
from tetrarchia_env.render.shapes import Part
from tetrarchia_env.render.svg import pieces

if TYPE_CHECKING:
    from tetrarchia_app.web.room import Room

Data = dict[str, Any]
_DRAWING_NUMBERS: dict[Part, int] = {}  # every piece on a space that was ever drawn: a few thousand at most
_DRAWINGS: list[str] = []  # SVG by number


class PositionView:
    """A position drawn once for all pages; drawings that a page does not have yet are sent along, by number."""

    def __init__(self, frame: Frame) -> None:
        self._pieces = []
        for part in pieces(frame.snapshot):
            if part not in _DRAWING_NUMBERS:
                _DRAWING_NUMBERS[part] = len(_DRAWINGS)
                _DRAWINGS.append(part.svg)
            self._pieces.append(_DRAWING_NUMBERS[part])
        self._html = {element: "".join(parts) for element, parts in words(frame).items()}

    def data(self, known: set[int]) -> Data:
        """Return the view for a page that has the `known` drawings, and add the new ones to `known`."""
        drawings = {number: _DRAWINGS[number] for number in self._pieces if number not in known}
        known.update(drawings)
        return {"pieces": self._pieces, "drawings": drawings, **self._html}


def position(room: "Room", index: int, known: set[int]) -> Data:
    """Return the position after `index` actions."""
    return {"type": "position", "position": index, "view": PositionView(room.game.frame(index)).data(known)}


@dataclass(frozen=True)
class Step:
    """Part of what followed an action, shown before the next part."""

    lines: tuple[str, ...]
    dice: tuple[int, ...]
    view: PositionView


def steps(room: "Room", played: Sequence[Piece]) -> list[Step]:
    """Return the steps of the last action: those with log lines, each with the dice rolled since the one before, and the last."""
    moves = room.game.moves
    last_dice = moves[-2].dice if len(moves) > 1 else ""
    found, rolled = [], tuple[int, ...]()
    for piece in played:
        last_dice, rolled = piece.dice or last_dice, rolled + piece.fallen
        if piece.lines or piece is played[-1]:
            frame = Frame(room.position, snapshot(piece.after), moves[-1].agent, None, piece.lines, last_dice)
            found.append(Step(piece.lines, rolled, PositionView(frame)))
            rolled = ()
    return found


def action(room: "Room", played: Sequence[Step], known: set[int]) -> Data:
    """Return the last action and what followed."""
    shown = [{"lines": step.lines, "dice": step.dice, "view": step.view.data(known)} for step in played]
    return {"type": "action", "position": room.position, "entry": _log_entry(room, room.position), "steps": shown}


def game_log(room: "Room") -> Data:
    """Return the log of the game so far."""
    return {"type": "log", "entries": [_log_entry(room, index) for index in range(room.position + 1)]}


def _log_entry(room: "Room", index: int) -> Data:
    """Return the log entry of the action that led to a position; 0 is the start of the game."""
    before = fast_view(room.game.positions[max(index - 1, 0)])
    move = room.game.moves[index - 1] if index else None
    return {
        "turn": int(before.turn) + 1, "turn_emperor": EMPERORS[before.emperor],
        "emperor": move.agent if move else None, "lines": move.story if move else ("the game begins",),
    }  # fmt: skip


def decision(room: "Room", player: int | None) -> Data:
    """Return which Emperor decides and, for the page of the deciding player, the choices."""
    is_own = player is not None and player == room.decider and room.acting_agent is None
    return {
        "type": "decision", "position": room.position, "emperor": None if room.game.is_over else room.game.agent,
        "agent": room.acting_agent, "choices": previews(room.game.position) if is_own else None, "can_undo": room.can_undo(player),
    }  # fmt: skip


def players(room: "Room", player: int | None, connected: Iterable[int], proposals: Data) -> Data:
    """Return the players and, for the page of the room's creator, the links of the others."""
    present = set(connected)
    seats = [
        {
            "name": one.name, "agent": one.agent, "substitute": one.substitute, "emperors": room.emperors_of(number),
            "consent": one.consent, "connected": number in present, "you": number == player,
            "link": f"/seat/{one.link}" if player == 0 and one.is_human else None,
        }
        for number, one in enumerate(room.players)
    ]  # fmt: skip
    return {
        "type": "players", "players": seats, "you": player, "spectator_link": f"/seat/{room.spectator_link}",
        "agents_only": not room.has_humans, "proposals": proposals, "has_replay": room.game.seed is not None,
    }  # fmt: skip


def analysis(found: GameAnalysis) -> Data:
    """Return the analysis of every position so far, as HTML and SVG of the replay page."""
    if not found.decisions:
        return {"curve": "", "positions": [], "marks": [], "turns": {}, "mistakes": []}
    indices = range(len(found.decisions) + 1)
    mistakes = [(index, found.decisions[index]) for index in found.worst]
    return {
        "curve": curve(found),
        "positions": ["".join(position_analysis(found, index)) for index in indices],
        "marks": marks(found, len(indices)),
        "turns": {str(turn.number + 1): split_sentence(turn.luck, turn.choice) for turn in found.turns},
        "mistakes": [{"position": index, "turn": one.turn + 1, "cost": percent(one.regret)} for index, one in mistakes],
    }
