"""Stories: descriptions of one action and everything that followed it."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from tetrarchia_env.batch import Games, illegal_action_message, legal_masks
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.legal import Mask
from tetrarchia_env.engine.state import (
    ADVANCE,
    ARRIVAL,
    BARBARIAN,
    BLOCK,
    BOOST,
    FLEETS,
    NOBODY,
    OFF,
    OVER,
    RESERVE_EMPTY,
    ROMAN,
    ROME_FELL,
    STRIKE,
    THE_GREAT,
    WON,
    GameRecord,
)
from tetrarchia_env.engine.the_great import is_half_emperor, the_great
from tetrarchia_env.engine.turn import advance_to_decision, decide
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events.barbarian import describe_beginning, describe_strike
from tetrarchia_env.events.combats import describe_advance, describe_block, describe_boost
from tetrarchia_env.events.roman import describe_act, describe_arrival, describe_empty_decision, describe_fleet, describe_turn
from tetrarchia_env.events.words import Lines, dice_between, empty_reserves, province_dice
from tetrarchia_env.notation import action_text, fast_view, repeat


def _describe_advance_or_turn(before: GameRecord, game: GameRecord) -> Lines:
    """R8, R3.1: describe the next army's advance, or the next turn if all armies have acted."""
    return describe_advance(before, game) if before.march[0] != OFF else describe_turn(before, game)


_DECISIONS = {FLEETS: describe_fleet, ARRIVAL: describe_arrival, ROMAN: describe_act, BOOST: describe_boost, BLOCK: describe_block}
_PIECES = {ROMAN: describe_empty_decision, BARBARIAN: describe_beginning, STRIKE: describe_strike, ADVANCE: _describe_advance_or_turn}

MAX_RECORDED_ACTIONS = 64  # more than in two turns, so that the latest Barbarian phase is included


@dataclass(frozen=True)
class Story:
    """The events of one action.

    Attributes:
        lines: What happened, in order.
        dice: The province dice of the last Barbarian phase that began, such as "IV 3" (or "IV 3, I 2" if an Uprising
            named another province); empty if none began.
        after: The position afterwards, an array of one game; the same bytes as after `batch.step`.
    """

    lines: tuple[str, ...]
    dice: str
    after: Games


@dataclass(frozen=True)
class Piece:
    """One piece of a story, for animations: the decision, then each step of the Barbarian phase.

    Attributes:
        lines: What happened, in order.
        fallen: The dice that were rolled, in order.
        dice: The province dice known so far, as in `Story`.
        after: The position after this piece, an array of one game. Between two decisions it is in a phase from which no
            snapshot can be restored.
    """

    lines: tuple[str, ...]
    fallen: tuple[int, ...]
    dice: str
    after: Games


def narrate(game: Games, action: int, message_tokens: int = 0) -> Story:
    """Return the events of one action, replayed on a copy of the position.

    Args:
        game: The position before the action, an array of one game; it is not changed.
        action: The id of a legal action; ignored if the game is over.
        message_tokens: The number of message tokens (R14.7).

    Returns:
        The story; its `lines` are empty if the game is over.

    Raises:
        TetrarchiaError: The action is not legal.
    """
    if game[0].phase == OVER:
        return Story((), "", game.copy())
    pieces = list(narrate_pieces(game, action, message_tokens))
    return Story(tuple(line for piece in pieces for line in piece.lines), pieces[-1].dice, pieces[-1].after)


def narrate_pieces(game: Games, action: int, message_tokens: int = 0) -> Iterator[Piece]:
    """Yield the events of one action piece by piece, replayed on a copy of the position.

    Args:
        game: The position before the action, an array of one running game; it is not changed.
        action: The id of a legal action.
        message_tokens: The number of message tokens (R14.7).

    Yields:
        The decision, then each step that follows without one.

    Raises:
        TetrarchiaError: The action is not legal.
    """
    masks = legal_masks(game, message_tokens)
    if not (0 <= action < masks.shape[1] and masks[0, action]):
        raise TetrarchiaError(illegal_action_message(action, masks[0], "here", action_text))
    playing, dice = repeat(game), list[str]()
    before = game
    for lines in _replay(playing, action, masks[0], dice):
        after = repeat(playing)
        yield Piece(tuple(lines), tuple(dice_between(fast_view(before), fast_view(after))), ", ".join(dice), after)
        before = after


class EventLog:
    """The events of the latest action of one game, narrated when they are read.

    Environments record each action next to the compiled step, so that rendering observes the game and never advances it.

    Args:
        message_tokens: The number of message tokens (R14.7).
    """

    def __init__(self, message_tokens: int = 0) -> None:
        self._message_tokens = message_tokens
        self._recorded: deque[tuple[Games, int]] = deque(maxlen=MAX_RECORDED_ACTIONS)
        self._lines: tuple[str, ...] = ()
        self._dice = ""

    def record(self, before: Games, action: int) -> None:
        """Record an action and the position before it (an array of one game, which is copied)."""
        self._recorded.append((before.copy(), action))

    def clear(self) -> None:
        """Delete all events, for a new game or a restored position."""
        self._recorded.clear()
        self._lines, self._dice = (), ""

    @property
    def lines(self) -> tuple[str, ...]:
        """The events of the latest action."""
        self._narrate()
        return self._lines

    @property
    def dice(self) -> str:
        """The province dice of the latest Barbarian phase, as in `Story`; empty before the first."""
        self._narrate()
        return self._dice

    def _narrate(self) -> None:
        if self._recorded:
            self._lines = narrate(*self._recorded[-1], self._message_tokens).lines
            stories = (narrate(*recorded, self._message_tokens) for recorded in reversed(self._recorded))
            self._dice = next((story.dice for story in stories if story.dice), self._dice)
            self._recorded.clear()


def _replay(playing: Games, action: int, mask: Mask, dice: list[str]) -> Iterator[list[str]]:
    """Play the action one piece at a time and yield the lines of each; append the province dice of R6.3 and R7.2 to `dice` as text."""
    game, before = fast_view(playing), fast_view(repeat(playing))
    decide(game, action)
    yield list(_DECISIONS[before.phase](before, game, action))
    before = fast_view(repeat(playing))
    while advance_to_decision(game, mask, 1):
        if before.phase == BARBARIAN:
            dice.clear()
        elif before.phase == STRIKE:
            dice.append(province_dice(before.foe))
        yield list(_PIECES[before.phase](before, game))
        before = fast_view(repeat(playing))
    if game.phase == OVER:
        yield [_ending(game), *_titles(game)]


def _ending(game: GameRecord) -> str:
    """R9.1, R9.2: return the sentence about how the game ended."""
    if game.outcome == WON:
        return "all six borders are secured: the Empire is saved"
    if game.outcome == ROME_FELL:
        return "Rome has fallen"
    if game.outcome == RESERVE_EMPTY:
        return f"no {empty_reserves(game)} token is left: the Empire is lost"
    return f"{game.max_turns} turns are over: the game ends here"


def _titles(game: GameRecord) -> Lines:
    """R10.5: yield the sentences about titles."""
    if not game.variants & THE_GREAT:
        return
    great = the_great(game)
    if great != NOBODY:
        yield f"{EMPERORS[great]} is the Great"
    for emperor, name in enumerate(EMPERORS):
        if is_half_emperor(game, emperor):
            yield f"{name} is Emperor of the {'East' if emperor < 2 else 'West'}"
