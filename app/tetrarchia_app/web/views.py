"""Messages from the server to the pages: positions (drawn as on the replay page), log entries, choices and players.

While humans play a game with a view radius (R14), positions, log entries, steps, choices and `ip` contain only what the player of the
page knows, and those of a spectator only public facts.

Every message has a `type`. Its other fields (`?`: may be null):

- `log`: `entries`, the whole game, when a page joins.
- `position`, `undone`: `position` (number of actions played), `view`.
- `action`: `position`, `entry`, `steps`.
- `decision`: `position`, `emperor?` (null: the game is over), `agent?`, `choices?` (only on the page of the deciding player), `can_undo`,
  `phase`, `ip?` (left to the Emperor whose turn it is; null if the player does not know it), `turn` and `messages` (by Emperor, the last
  token and the number of turns finished since).
  It is sent when another Emperor or a human decides, to a page that joins, and to a page whose action was refused, after its `error`.
- `players`: `players`, `you?` (null: a spectator), `can_invite` (this page belongs to the creator of the room, who may be a spectator;
  then each human player has a `link`), `spectator_link`, `agents_only`, `proposals`, `has_replay`,
  `in_play` (modules, and `rebel`).
- `coach`: `position`, `result`: `critic` (name of the network), `chance` (to win, of the best action listed), `actions` (below).
- `analysis`: `position`, `result`: `critic`, `curve` (SVG), `marks` (a remark per position, or ""), `turns` (luck and choices by turn),
  `mistakes` and `positions`.
  - `mistakes`: up to three for each player, the worst first, only above the noise of the estimate: `position` (before the choice), `turn`,
    `emperor`, `player?` (index in `players`; null if it is unknown who chose), `agent?`, `cost` (text), `played` and `best` (labels).
  - `positions`: for each position `chance`, `note` (why the curve differs from `chance`, or ""), `turn` (luck and choices of the turn),
    `actions` (below; also for the newest position while the game runs).
- `error`: `message`; `code`: `refused`, or `not_saved` if the server could not write the action to disk (nothing was changed).
- `redirect`: `url` of the room that was created.
- `next_room`: `url` of this player's seat in the room that another player created to play again.

An action in `coach` and `analysis` has `action` (as in `choices`), `label` (for the player), `probability` (of the network's policy),
`chance` (to win after it), `change` (compared with the most probable action) and `is_played`. Actions whose probability rounds to 0 % are
left out unless they were played. `chance` of a position is that of the best action listed.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tetrarchia_app.playing.previews import previews
from tetrarchia_env.batch import Games, agents_to_act
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import PHASES
from tetrarchia_env.events import Piece, known_lines
from tetrarchia_env.game_analysis import NUM_WORST, Advice, Decision, GameAnalysis, percent, split_sentence
from tetrarchia_env.notation import action_id, action_label, fast_view, snapshot
from tetrarchia_env.render.analysis import curve
from tetrarchia_env.render.frames import Frame
from tetrarchia_env.render.page import words
from tetrarchia_env.render.shapes import Part
from tetrarchia_env.render.svg import pieces, unseen

if TYPE_CHECKING:
    from tetrarchia_app.web.connection import Connection
    from tetrarchia_app.web.room import Room

Data = dict[str, Any]
_EMPEROR = re.compile(rf"\b(?:{'|'.join(EMPERORS)})\b")
_DRAWING_NUMBERS: dict[Part, int] = {}  # every piece on a space that was ever drawn: a few thousand at most
_DRAWINGS: list[str] = []  # SVG by number
_NO_PIECES: Data = {"fleets": (), "pirates": None, "armies": (), "dux": None, "emperor": None, "outcome": "running"}


@lru_cache(4_096)  # most actions move one figure: all other groups of pieces stay the same
def _piece_numbers(**group: Any) -> tuple[int, ...]:
    """Return the numbers of the drawings of a group of pieces, given by entries of a snapshot as tuples."""
    shown = {**_NO_PIECES, **group, "tokens": dict(group.get("tokens", ())), "emperors": dict(group.get("emperors", ()))}
    return tuple(map(_drawing_number, pieces(shown)))


def _drawing_number(part: Part) -> int:
    if part not in _DRAWING_NUMBERS:
        _DRAWING_NUMBERS[part] = len(_DRAWINGS)
        _DRAWINGS.append(part.svg)
    return _DRAWING_NUMBERS[part]


class PositionView:
    """A position drawn once for all pages; drawings that a page does not have yet are sent along, by number."""

    def __init__(self, frame: Frame) -> None:
        shown = frame.snapshot
        acting = {"emperor": shown["emperor"], "outcome": shown["outcome"]}
        self._pieces = (
            *(map(_drawing_number, unseen(shown)) if "view" in shown else ()),
            *_piece_numbers(fleets=tuple(shown["fleets"]), pirates=shown["pirates"]),
            *_piece_numbers(tokens=tuple(shown["tokens"].items())),
            *_piece_numbers(armies=tuple(map(tuple, shown["armies"]))),
            *_piece_numbers(emperors=tuple(shown["emperors"].items()), dux=shown["dux"], **acting),
        )
        self._html = {element: "".join(parts) for element, parts in words(frame).items()}

    def data(self, known: set[int]) -> Data:
        """Return the view for a page that has the `known` drawings, and add the new ones to `known`."""
        drawings = {number: _DRAWINGS[number] for number in self._pieces if number not in known}
        known.update(drawings)
        return {"pieces": self._pieces, "drawings": drawings, **self._html}


def position(room: "Room", index: int, connection: "Connection") -> Data:
    """Return the position after `index` actions, as a page may see it."""
    frame = _known_frame(room, index, connection.player) if room.has_secrets else room.game.frame(index)
    return {"type": "position", "position": index, "view": PositionView(frame).data(connection.known_drawings)}


def _known_frame(room: "Room", index: int, player: int | None) -> Frame:
    """Return a position as a player knows it (R14): the view of the Emperor to act if the player plays him, else of the player's first.

    A spectator gets public facts only.
    """
    emperors = [] if player is None else room.emperors_of(player)
    acting = EMPERORS[agents_to_act(room.game.positions[index])[0]]
    shown = room.game.visible_snapshot(acting if acting in emperors else next(iter(emperors), None), index)
    move = room.game.moves[index - 1] if index else None
    return Frame(index, shown, move.agent if move else None, None, known_lines(move.story, shown) if move else ())


def known_action(room: "Room", connection: "Connection") -> Data:
    """Return the last action as a player knows it: one step with the lines about what he sees, and no dice."""
    frame = _known_frame(room, room.position, connection.player)
    step = {"lines": capitalize_names(frame.story), "dice": (), "view": PositionView(frame).data(connection.known_drawings)}
    entry = _log_entry(room, room.position, frame.story)
    return {"type": "action", "position": room.position, "entry": entry, "steps": [step]}


class ActionView:
    """The last action and what followed, built once for all pages.

    Its steps are the pieces with log lines, each with the dice rolled since the one before, and the last piece.
    """

    def __init__(self, room: "Room", played: Sequence[Piece]) -> None:
        moves = room.game.moves
        self._fields = {"type": "action", "position": room.position, "entry": _log_entry(room, room.position, moves[-1].story)}
        self._steps: list[tuple[Data, PositionView]] = []
        last_dice, rolled = moves[-2].dice if len(moves) > 1 else "", tuple[int, ...]()
        for piece in played:
            last_dice, rolled = piece.dice or last_dice, rolled + piece.fallen
            if piece.lines or piece is played[-1]:
                frame = Frame(room.position, snapshot(piece.after), moves[-1].agent, None, piece.lines, last_dice)
                self._steps.append(({"lines": capitalize_names(piece.lines), "dice": rolled}, PositionView(frame)))
                rolled = ()

    def data(self, known: set[int]) -> Data:
        """Return the message for a page that has the `known` drawings, and add the new ones to `known`."""
        return {**self._fields, "steps": [{**step, "view": view.data(known)} for step, view in self._steps]}


def game_log(room: "Room", player: int | None) -> Data:
    """Return the log of the game so far, as a player may see it."""

    def story(index: int) -> Sequence[str]:
        if index == 0:
            return ()
        return _known_frame(room, index, player).story if room.has_secrets else room.game.moves[index - 1].story

    return {"type": "log", "entries": [_log_entry(room, index, story(index)) for index in range(room.position + 1)]}


def _log_entry(room: "Room", index: int, story: Sequence[str]) -> Data:
    """Return the log entry of the action that led to a position; 0 is the start of the game."""
    before = fast_view(room.game.positions[max(index - 1, 0)])
    move = room.game.moves[index - 1] if index else None
    return {
        "turn": int(before.turn) + 1, "turn_emperor": EMPERORS[before.emperor],
        "emperor": move.agent if move else None, "lines": capitalize_names(story or ["out of your view"]) if move else ["The game begins"],
    }  # fmt: skip


def capitalize_names(lines: Sequence[str]) -> list[str]:
    """Return log lines with the Emperors' names and the first letter in capitals."""
    capitalized = (_EMPEROR.sub(lambda found: found[0].capitalize(), line) for line in lines)
    return [line[:1].upper() + line[1:] for line in capitalized]


def decision(room: "Room", player: int | None) -> Data:
    """Return which Emperor decides and, for the page of the deciding player, the choices."""
    is_over, agent, record = room.game.is_over, room.acting_agent, fast_view(room.game.position)
    is_own = player is not None and player == room.decider and agent is None
    emperors = [] if player is None else room.emperors_of(player)
    knows_ip = not room.has_secrets or EMPERORS[record.emperor] in emperors
    known = room.game.visible_position(room.game.agent) if is_own and room.has_secrets else None
    return {
        "type": "decision", "position": room.position, "emperor": None if is_over else room.game.agent,
        "agent": agent, "can_undo": room.can_undo(player),
        "choices": previews(room.game.position, known, room.game.local.message_tokens) if is_own else None,
        "messages": room.game.last_messages(),
        "phase": PHASES[record.phase], "ip": int(record.ip) if knows_ip else None, "turn": int(record.turn),
    }  # fmt: skip


def players(room: "Room", player: int | None, can_invite: bool, connected: Iterable[int], proposals: Data) -> Data:
    """Return the players and, for a page that can invite, their links."""
    present = set(connected)
    seats = [
        {
            "name": one.name, "agent": one.agent, "substitute": one.substitute, "emperors": room.emperors_of(number),
            "consent": one.consent, "connected": number in present, "you": number == player,
            "link": f"/seat/{one.link}" if can_invite and one.is_human else None,
        }
        for number, one in enumerate(room.players)
    ]  # fmt: skip
    return {
        "type": "players", "players": seats, "you": player, "can_invite": can_invite, "spectator_link": f"/seat/{room.spectator_link}",
        "agents_only": not room.has_humans, "proposals": proposals, "has_replay": room.game.seed is not None and not room.has_secrets,
        "in_play": [*room.game.options.modules, *{kind for _, _, kind in snapshot(room.game.positions[0])["armies"] if kind == "rebel"}],
    }  # fmt: skip


def advice(game: Games, found: Sequence[Advice], played: Decision | None = None) -> list[Data]:
    """Return the most probable actions of a position, without those that the policy practically never plays.

    Args:
        game: The position.
        found: Its most probable actions, the most probable first.
        played: What was played there.
    """
    is_shown = [one for one in found if round(100 * one.probability) or (played and one.text == played.action)]
    shown = is_shown or list(found[:1])
    if played and played.action not in [one.text for one in shown]:
        shown.append(Advice(action_id(played.action), played.action, 0.0, played.expected, played.expected - found[0].win_probability))
    return [
        {
            "action": one.text, "label": action_label(game, one.action), "probability": one.probability, "chance": one.win_probability,
            "change": one.change, "is_played": bool(played and one.text == played.action),
        }
        for one in shown
    ]  # fmt: skip


def coach(critic: str, game: Games, found: Sequence[Advice]) -> Data:
    """Return the advice of the coach for one position."""
    actions = advice(game, found)
    return {"critic": critic, "chance": max(one["chance"] for one in actions), "actions": actions}


def analysis(found: GameAnalysis, positions: Games, players: Sequence[tuple[int | None, str | None]]) -> Data:
    """Return the analysis of every position so far.

    Args:
        found: The analysis.
        positions: All positions of the game.
        players: For each action, the index of the player who chose it and the agent that acted for the player, if known.
    """
    games = [positions[index : index + 1] for index in range(len(positions))]
    turns = {turn.number: split_sentence(turn.luck, turn.choice) for turn in found.turns}
    mistakes = _mistakes(found, games, players)
    remarks = [""] * len(games)
    for one in mistakes:
        remarks[one["position"] + 1] = f"{one['cost']} worse than: {one['best']}"
    return {
        "critic": found.critic,
        "curve": curve(found) if found.decisions else "",
        "positions": [_position_analysis(found, games, index, turns) for index in range(len(games))],
        "marks": remarks,
        "turns": {str(number + 1): sentence for number, sentence in turns.items()},
        "mistakes": mistakes,
    }


def _mistakes(found: GameAnalysis, games: Sequence[Games], players: Sequence[tuple[int | None, str | None]]) -> list[Data]:
    shown: list[Data] = []
    for index in found.mistakes:
        decision, (player, agent) = found.decisions[index], players[index]
        chosen_by = (player, decision.emperor if player is None else None)
        if sum(one["by"] == chosen_by for one in shown) < NUM_WORST:
            shown.append({
                "position": index, "turn": decision.turn + 1, "emperor": decision.emperor, "player": player, "agent": agent,
                "cost": percent(decision.regret), "played": action_label(games[index], action_id(decision.action)),
                "best": action_label(games[index], decision.best.action), "by": chosen_by,
            })  # fmt: skip
    return [{key: value for key, value in one.items() if key != "by"} for one in shown]


def _position_analysis(found: GameAnalysis, games: Sequence[Games], index: int, turns: dict[int, str]) -> Data:
    """Return the analysis of one position; its chance is that of the best action, the curve may show the estimate before the turn."""
    decisions = found.decisions
    played = decisions[index] if index < len(decisions) else None
    top_actions = played.top_actions if played else found.next_actions
    actions = advice(games[index], top_actions, played) if top_actions else []
    estimate = found.win_probabilities[index] if decisions else actions[0]["chance"]
    chance = max((one["chance"] for one in actions), default=estimate)
    note = ""
    if percent(chance) != percent(estimate):
        basis = "at the start of the turn" if _starts_turn(games, index) else "if the most probable action is played"
        note = f"The curve shows {percent(estimate)}, the estimate {basis}; the best action below leads to {percent(chance)} on average."
    turn = int(games[index]["turn"][0])
    return {"chance": chance, "note": note, "turn": turns.get(turn, ""), "actions": actions}


def _starts_turn(games: Sequence[Games], index: int) -> bool:
    return index == 0 or bool(games[index]["turn"][0] != games[index - 1]["turn"][0])
