"""A room: a game, who decides for which Emperor, and by which link each of them comes in."""

import secrets
import time
from collections.abc import Sequence

from msgspec import Struct, field

from tetrarchia_env.board import EMPERORS
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import Piece
from tetrarchia_env.game import Game

LINK = 24  # bytes of chance in a link: nobody guesses one


def new_link() -> str:
    """The unguessable part of an address."""
    return secrets.token_urlsafe(LINK)


class Player(Struct):
    """Who decides for some of the Emperors: a person with a link, or an agent."""

    link: str = field(default_factory=new_link)
    name: str = ""
    agent: str | None = None
    stand_in: str | None = None  # the agent that plays while the person is away
    consent: bool = False  # a person's, that the game may be kept for research

    @property
    def is_person(self) -> bool:
        """Whether a person may come in by this link."""
        return self.agent is None

    @property
    def asked(self) -> str | None:
        """The agent that decides now, if one does."""
        return self.agent or self.stand_in


class Deed(Struct):
    """Who decided on an action: a player, or the agent that stood in for him; and his seconds, if they are known."""

    player: int
    agent: str | None
    seconds: float | None = None


class Room:
    """The game is the engine's record; what is kept beside it are the players."""

    def __init__(self, game: Game, players: Sequence[Player], seats: Sequence[int], watch: str = "", name: str = "") -> None:
        self.game = game
        self.players = list(players)
        self.seats = tuple(seats)  # the player of each Emperor in turn order
        self.watch = watch or new_link()  # the link for those who only look
        self.name = name or secrets.token_hex(8)
        self.deeds: list[Deed] | None = None if game.moves else []  # None: the game was begun by others, elsewhere
        self.touched = time.time()

    @property
    def number(self) -> int:
        """How many actions were played."""
        return len(self.game.moves)

    @property
    def decider(self) -> int | None:
        """The player who decides now."""
        return None if self.game.is_over else self.seats[EMPERORS.index(self.game.agent)]

    @property
    def agent_asked(self) -> str | None:
        """The agent that decides now, if one does."""
        return None if self.decider is None else self.players[self.decider].asked

    def decided_by(self, agent: str) -> frozenset[int]:
        """The Emperors for whom this agent decides, as they stand in turn order."""
        return frozenset(emperor for emperor, seat in enumerate(self.seats) if self.players[seat].asked == agent)

    @property
    def has_persons(self) -> bool:
        """Else agents play alone, and only as fast as somebody wants to see it."""
        return any(player.is_person for player in self.players)

    def emperors_of(self, player: int) -> list[str]:
        """Whom he plays."""
        return [name for name, seat in zip(EMPERORS, self.seats, strict=True) if seat == player]

    def play(self, player: int | None, number: int, text: str) -> tuple[Piece, ...]:
        """The action of a person; ValueError if it is not his decision, not legal, or meant for another position."""
        self._check_position(number)
        if player is None or player != self.decider or self.players[player].asked:
            raise TetrarchiaError(f"it is not your decision: {self.game.agent} decides")
        return self.game.play_pieces(text)

    def undo(self, player: int | None, number: int) -> None:
        """Take back an action of his own; ValueError if it is another's, or dice fell."""
        self._check_position(number)
        if not self.may_undo(player):
            raise TetrarchiaError("there is nothing that you may take back: dice have fallen, or the turn has just begun")
        self.game.undo()

    def may_undo(self, player: int | None) -> bool:
        """Whether the last action was his and can be taken back."""
        if player is None or not self.game.can_undo or self.players[player].asked:
            return False
        return self.seats[EMPERORS.index(self.game.moves[-1].agent)] == player

    def _check_position(self, number: int) -> None:
        if self.game.is_over:
            raise TetrarchiaError("the game is over")
        if number != self.number:
            raise TetrarchiaError(f"this was meant for the position after {number} actions, and {self.number} have been played")
