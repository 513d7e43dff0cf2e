"""What the page is shown: positions in the replay page's own drawing, entries of the log, choices, players."""

from collections.abc import Iterable, Sequence
from typing import Any

from tetrarchia_env.events import Piece
from tetrarchia_env.game_analysis import GameAnalysis, split_sentence
from tetrarchia_env.notation import snapshot
from tetrarchia_env.playing.previews import previews
from tetrarchia_env.render.page import places
from tetrarchia_env.render.thoughts import curve, marks, thoughts
from tetrarchia_env.show import Frame
from tetrarchia_env.web.room import Room

Data = dict[str, Any]
PARTS: dict[str, int] = {}  # every drawing of a piece at its place that was ever sent, with its number: at most some thousand


def view(frame: Frame, known: set[int]) -> Data:
    """A position; drawings that this page does not know yet come along, by number."""
    shown = places(frame)
    numbers = [PARTS.setdefault(part, len(PARTS)) for part in shown["pieces"]]
    fresh = {number: part for number, part in zip(numbers, shown["pieces"], strict=True) if number not in known}
    known |= set(fresh)
    return {"pieces": numbers, "new": fresh, "head": "".join(shown["head"]), "panel": "".join(shown["panel"])}


def position(room: Room, number: int, known: set[int]) -> Data:
    """The game after so many actions."""
    return {"type": "position", "number": number, "view": view(room.session.frames[number], known)}


def steps(room: Room, pieces: Sequence[Piece]) -> list[Frame]:
    """The pieces of the last action as positions to be shown one after the other; the last one is the position itself."""
    move = room.session.moves[-1]
    dice = room.session.moves[-2].dice if len(room.session.moves) > 1 else ""
    frames = []
    for piece in pieces:
        dice = piece.dice or dice
        frames.append(Frame(room.number, snapshot(piece.after), move.agent, None, piece.lines, dice))
    return frames


def move(room: Room, pieces: Sequence[Piece], frames: Sequence[Frame], known: set[int]) -> Data:
    """The last action and what followed."""
    told = [
        {"lines": frame.story, "fallen": piece.fallen, "view": view(frame, known)}
        for frame, piece in zip(frames, pieces, strict=True)
        if frame.story or piece is pieces[-1]
    ]
    return {"type": "move", "number": room.number, "entry": entry(room, room.number), "steps": told}


def entry(room: Room, number: int) -> Data:
    """What the log says of an action; 0 is the beginning."""
    before = room.session.positions[max(number - 1, 0)]
    place = snapshot(before)
    played = room.session.moves[number - 1] if number else None
    lines = played.story if played else ("the game begins",)
    return {"turn": place["turn"] + 1, "emperor": place["emperor"], "agent": played.agent if played else None, "lines": lines}


def analysis(found: GameAnalysis) -> Data:
    """What an agent thinks of every position so far, drawn and worded as on the replay page."""
    if not found.decisions:
        return {"curve": "", "thoughts": [], "marks": [], "turns": {}}
    numbers = range(len(found.decisions) + 1)
    turns = {str(turn.number + 1): split_sentence(turn.luck, turn.choice) for turn in found.turns}
    shown = ["".join(thoughts(found, number)) for number in numbers]
    return {"curve": curve(found), "thoughts": shown, "marks": marks(found, len(numbers)), "turns": turns}


def log_entries(room: Room) -> Data:
    """The whole log."""
    return {"type": "log", "entries": [entry(room, number) for number in range(room.number + 1)]}


def decision(room: Room, player: int | None) -> Data:
    """Who decides, and for him what he may choose from."""
    is_his = player is not None and player == room.decider and room.agent_asked is None
    offered = [preview.data() for preview in previews(room.session.game)] if is_his else None
    return {
        "type": "decision", "number": room.number, "agent": None if room.session.is_over else room.session.agent,
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
        "wanted": wanted, "hasReplay": room.session.seed is not None,
    }  # fmt: skip
