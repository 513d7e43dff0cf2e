"""A game that somebody plays: its positions so far, what led from each to the next, and the way back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OVER
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import Piece, narrate_pieces
from tetrarchia_env.notation import Replay, Snapshot, action_id, action_text, fast_view, options_of, record_replay, restore, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.show import Frame


@dataclass(frozen=True)
class Move:
    """What was decided, and all that followed by itself."""

    agent: str
    action: int
    story: tuple[str, ...]
    dice: str  # of the last Barbarian phase


class Session:
    """The game and its past; positions are kept as records, which are small, and put into words when they are asked for."""

    def __init__(self, options: Options, seed: int) -> None:
        self._begin(options, seed, batch.new_games(options, seed)[0])

    def _begin(self, options: Options, seed: int | None, game: batch.Games) -> None:
        self.options, self.seed = options, seed
        self.positions = [game]
        self.moves: list[Move] = []
        self._look()

    def _look(self) -> None:
        """Who decides, and whether anybody does, is asked more often than it changes."""
        game = fast_view(self.game)
        self.agent = EMPERORS[agent_to_act(game)]
        self.is_over = bool(game.phase == OVER)

    @classmethod
    def from_actions(cls, options: Options, seed: int, actions: Iterable[str]) -> Self:
        """The game after these actions; ValueError if one of them is not legal."""
        session = cls(options, seed)
        for text in actions:
            session.play(action_id(text))
        return session

    @classmethod
    def from_snapshot(cls, start: Snapshot) -> Self:
        """A game that begins in this position; ValueError in one sentence if there can be no such game."""
        session, game = cls.__new__(cls), restore(start)
        session._begin(options_of(game[0]), None, game)
        return session

    @property
    def game(self) -> batch.Games:
        """As it stands."""
        return self.positions[-1]

    @property
    def frames(self) -> Sequence[Frame]:
        """Every position with what led to it."""
        return _Frames(self)

    def play(self, action: int) -> tuple[Piece, ...]:
        """One action of whose turn it is to decide; each piece of what followed. ValueError if it is not legal."""
        agent, pieces = self.agent, tuple(narrate_pieces(self.game, action))
        dice = next((piece.dice for piece in reversed(pieces) if piece.dice), self.moves[-1].dice if self.moves else "")
        self.moves.append(Move(agent, action, tuple(line for piece in pieces for line in piece.lines), dice))
        self.positions.append(pieces[-1].after)
        self._look()
        return pieces

    @property
    def may_undo(self) -> bool:
        """Whether the last action can be taken back: not beyond fallen dice or the beginning of the turn."""
        if not self.moves:
            return False
        before, after = fast_view(self.positions[-2]), fast_view(self.game)
        return bool(before.dice == after.dice and before.turn == after.turn)

    def undo(self) -> bool:
        """Take back one action if that is possible."""
        if not self.may_undo:
            return False
        self.positions.pop()
        self.moves.pop()
        self._look()
        return True

    def course(self) -> tuple[batch.Games, NDArray[np.int64]]:
        """Its positions one after the other, and the action between each and the next."""
        return np.concatenate(self.positions), np.array([move.action for move in self.moves], dtype=np.int64)

    def replay(self) -> Replay:
        """The game so far; ValueError if it did not begin with a seed."""
        if self.seed is None:
            raise TetrarchiaError("a game that began from a snapshot has no replay: one begins with a seed")
        return record_replay(self.options, self.seed, [move.action for move in self.moves])


class _Frames(Sequence[Frame]):
    """The frames of a session, each made when it is asked for."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __len__(self) -> int:
        return len(self._session.positions)

    @overload
    def __getitem__(self, number: int) -> Frame: ...

    @overload
    def __getitem__(self, number: slice) -> list[Frame]: ...

    def __getitem__(self, number: Any) -> Any:
        numbers = range(len(self))[number]
        return self._frame(numbers) if isinstance(numbers, int) else [self._frame(one) for one in numbers]

    def _frame(self, number: int) -> Frame:
        position = snapshot(self._session.positions[number])
        if number == 0:
            return Frame(0, position)
        move = self._session.moves[number - 1]
        return Frame(number, position, move.agent, action_text(move.action), move.story, move.dice)
