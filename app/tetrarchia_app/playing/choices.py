"""The legal actions as choices for a player, with costs and odds, and the parsing of what the player types."""

from collections.abc import Sequence
from dataclasses import dataclass

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.barbarians import defender
from tetrarchia_env.engine.combat import odds
from tetrarchia_env.engine.movement import by_sea, move_cost
from tetrarchia_env.engine.state import BLOCK, DUX, PIRATES, ROMAN, GameRecord
from tetrarchia_env.engine.tables import BIT, BROKEN, NORMAL
from tetrarchia_env.engine.turn import act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import action_id, action_text, fast_view, legal_actions, repeat

DICE_OUTCOMES = 36  # of the two dice of a combat
PAID_WITH_A_TOKEN = (a.IMPERIVM_POWER, a.BOOST_COMBAT, a.BLOCK_ARMY)  # R10.1


@dataclass(frozen=True)
class Choice:
    """A legal action with the number to choose it by, its cost and, for a combat, its odds."""

    number: int
    action: int
    text: str
    cost: str
    odds: str

    def __str__(self) -> str:
        remark = ", ".join(filter(None, (self.cost, self.odds)))
        return f"{self.number:3} {self.text}" + (f"  {remark}" if remark else "")


def choices(game: Games, known: Games | None = None, message_tokens: int = 0) -> list[Choice]:
    """Return the legal actions of an array of one game: combats, then the others, numbered from 1; `end` is 0 and comes last.

    Args:
        game: The game.
        known: The part of it that the player knows, from which the odds are computed (R14); by default everything.
        message_tokens: The number of message tokens (R14.7).
    """
    ids = ordered_actions(game, message_tokens)
    return with_costs(game, ids, play_each(game, ids), known)


def ordered_actions(game: Games, message_tokens: int = 0) -> list[int]:
    """Return the legal actions in the order of `choices`."""
    record = fast_view(game)
    return sorted(legal_actions(game, message_tokens), key=lambda action: (action == a.END, fighters(record, action) is None, action))


def play_each(game: Games, ids: Sequence[int]) -> Games:
    """Return a copy of the game for each action, in which it was played, up to the dice of a combat; unchanged outside the Roman phase."""
    after = repeat(game, len(ids))
    if fast_view(game).phase == ROMAN:
        for row, action in enumerate(ids):
            act(fast_view(after[row : row + 1]), action)
    return after


def with_costs(game: Games, ids: Sequence[int], after: Games, known: Games | None = None) -> list[Choice]:
    """Return the choices for `ordered_actions`; `after` are the positions of `play_each`, `known` is as for `choices`."""
    record, visible = fast_view(game), fast_view(game if known is None else known)
    all_spent: list[int] = (game["ip"] - after["ip"]).tolist() if record.phase == ROMAN else [0] * len(ids)
    return [
        Choice(0 if action == a.END else number, action, action_text(action), _cost(action, spent), _odds(visible, action))
        for number, (action, spent) in enumerate(zip(ids, all_spent, strict=True), 1)
    ]


def _cost(action: int, spent: int) -> str:
    price = ["1 token"] if action in PAID_WITH_A_TOKEN else []
    price += [f"{spent} IP"] if spent > 0 else [f"gains {-spent} IP"] if spent < 0 else []
    return ", ".join(price)


def _odds(game: GameRecord, action: int) -> str:
    found = fighters(game, action)
    if found is None or not is_known(game, *found):
        return ""
    win, loss = (round(100 * int(outcomes) / DICE_OUTCOMES) for outcomes in odds(game, *found))
    return f"win {win}% draw {100 - win - loss}% loss {loss}%"


def is_known(game: GameRecord, figure: int, foe: int) -> bool:
    """Return whether a figure and its enemy are on the board; in the part of a game that a player knows they may not be."""
    is_foe_known = game.pirates != 0 if foe == PIRATES else armies(game) & BIT[foe] != 0
    return bool(game.at[figure] < SPACES and is_foe_known)


def fighters(game: GameRecord, action: int) -> tuple[int, int] | None:
    """Return the figure and the enemy of the combat that an action leads to at once; `None` if there is none."""
    if action == a.ACCEPT and game.phase == BLOCK:
        return defender(game), game.march[0]
    for first, at_sea, is_dux in ((a.ATTACK, a.ATTACK_PIRATES, False), (a.DUX_ATTACK, a.DUX_ATTACK_PIRATES, True)):
        if action == at_sea or first <= action < first + SPACES:
            return DUX if is_dux else game.emperor, PIRATES if action == at_sea else action - first
    return None


def links(game: Games) -> list[str]:
    """Return the neighbours of the acting Emperor's space with the cost of a move, affordable or not; empty if he is not on the board."""
    record = game[0]
    start = int(record.at[record.emperor])
    if record.phase != ROMAN or start >= SPACES:
        return []
    neighbours = int(NORMAL[start] | BROKEN[start])
    return [_link(record, start, goal) for goal in range(SPACES) if neighbours >> goal & 1]


def _link(game: GameRecord, start: int, goal: int) -> str:
    places = {"by sea": by_sea(game, start), "broken": BROKEN[start] & ~by_sea(game, start), "Revolt": game.revolts}
    remarks = [name for name, spaces in places.items() if spaces & BIT[goal]]
    cost = "army" if armies(game) & BIT[goal] else f"{int(move_cost(game, start, goal))} IP"
    return f"{BOARD.names[goal]} {cost}" + (f" ({', '.join(remarks)})" if remarks else "")


def parse_choice(offered: Sequence[Choice], typed: str) -> Choice:
    """Return the choice with this number or text; the words of the text may be abbreviated.

    Raises:
        TetrarchiaError: No choice or several choices match.
    """
    if typed.isdecimal():
        for choice in offered:
            if choice.number == int(typed):
                return choice
        raise TetrarchiaError(f"there is no number {typed} in the list")
    given = _words(typed)
    matches = [choice for choice in offered if _is_abbreviation(given, _words(choice.text))]
    exact = [choice for choice in matches if _words(choice.text) == given]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    if matches:
        raise TetrarchiaError(f"{typed!r} is ambiguous: {', '.join(choice.text for choice in matches)}")
    try:
        text = action_text(action_id(typed))
    except TetrarchiaError as error:
        raise TetrarchiaError(f"{error}; type a number, the beginning of a text in the list, or ?") from None
    raise TetrarchiaError(f"{text!r} is not possible now")


def _is_abbreviation(given: Sequence[str], words: Sequence[str]) -> bool:
    return len(given) <= len(words) and all(word.startswith(start) for word, start in zip(words, given, strict=False))


def _words(text: str) -> list[str]:
    """Return the words for a comparison, in which U and V are the same letter."""
    return text.casefold().replace("u", "v").split()
