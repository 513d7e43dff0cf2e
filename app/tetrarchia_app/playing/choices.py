"""What a person may choose from: the legal actions with their costs and odds, and what he typed."""

from collections.abc import Sequence
from dataclasses import dataclass

from tetrarchia_env.batch import Games
from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.barbarians import defender
from tetrarchia_env.engine.combat import odds
from tetrarchia_env.engine.movement import by_sea, move_cost
from tetrarchia_env.engine.state import BLOCK, DUX, PIRATES, ROMAN, Game
from tetrarchia_env.engine.tables import BIT, BROKEN, NORMAL
from tetrarchia_env.engine.turn import act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import action_id, action_text, fast_view, legal_actions, repeat

WAYS = 36  # in which R N can fall
PAID_WITH_A_TOKEN = (a.IMPERIVM_POWER, a.BOOST_COMBAT, a.BLOCK_ARMY)  # R10.1


@dataclass(frozen=True)
class Choice:
    """A legal action, the number it is chosen by, and what a person wants to know about it."""

    number: int
    action: int
    text: str
    cost: str
    odds: str

    def __str__(self) -> str:
        remark = ", ".join(filter(None, (self.cost, self.odds)))
        return f"{self.number:3} {self.text}" + (f"  {remark}" if remark else "")


def choices(game: Games) -> list[Choice]:
    """The legal actions of an array of one game: fights, then the rest, from 1 on; `end` is 0 and comes last."""
    record = fast_view(game)
    ids = sorted(legal_actions(game), key=lambda action: (action == a.END, fighters(record, action) is None, action))
    offered = enumerate(zip(ids, _spent(game, ids), strict=True), 1)
    return [_choice(record, 0 if action == a.END else number, action, spent) for number, (action, spent) in offered]


def _choice(game: Game, number: int, action: int, spent: int) -> Choice:
    return Choice(number, action, action_text(action), _cost(action, spent), _odds(game, action))


def _spent(game: Games, ids: Sequence[int]) -> list[int]:
    """The IP that each action costs; dice that fall in the copies are not looked at."""
    if game[0].phase != ROMAN:
        return [0] * len(ids)
    after = repeat(game, len(ids))
    for record, action in zip(after, ids, strict=True):
        act(record, action)
    spent: list[int] = (game["ip"] - after["ip"]).tolist()
    return spent


def _cost(action: int, spent: int) -> str:
    """What it does to his IP and, for a power, to his supply."""
    price = ["1 token"] if action in PAID_WITH_A_TOKEN else []
    price += [f"{spent} IP"] if spent > 0 else [f"gains {-spent} IP"] if spent < 0 else []
    return ", ".join(price)


def _odds(game: Game, action: int) -> str:
    found = fighters(game, action)
    if found is None:
        return ""
    win, loss = (round(100 * int(ways) / WAYS) for ways in odds(game, *found))
    return f"win {win}% draw {100 - win - loss}% loss {loss}%"


def fighters(game: Game, action: int) -> tuple[int, int] | None:
    """The figure and the foe of the combat that this action leads to at once."""
    if action == a.ACCEPT and game.phase == BLOCK:
        return defender(game), game.march[0]
    for first, at_sea, is_dux in ((a.ATTACK, a.ATTACK_PIRATES, False), (a.DUX_ATTACK, a.DUX_ATTACK_PIRATES, True)):
        if action == at_sea or first <= action < first + SPACES:
            return DUX if is_dux else game.emperor, PIRATES if action == at_sea else action - first
    return None


def links(game: Games) -> list[str]:
    """Where his links lead and what a move there costs, whether he can pay it or not; nothing if he is not on the board."""
    one = game[0]
    start = int(one.at[one.emperor])
    if one.phase != ROMAN or start >= SPACES:
        return []
    ways = int(NORMAL[start] | BROKEN[start])
    return [_link(one, start, goal) for goal in range(SPACES) if ways >> goal & 1]


def _link(game: Game, start: int, goal: int) -> str:
    places = {"by sea": by_sea(game, start), "broken": BROKEN[start] & ~by_sea(game, start), "Revolt": game.revolts}
    remarks, army = [word for word, spaces in places.items() if spaces & BIT[goal]], armies(game) & BIT[goal]
    cost = "army" if army else f"{int(move_cost(game, start, goal))} IP"
    return f"{BOARD.names[goal]} {cost}" + (f" ({', '.join(remarks)})" if remarks else "")


def chosen(offered: Sequence[Choice], typed: str) -> Choice:
    """By number, or by text, of which the beginnings of words are enough; else ValueError, in one sentence."""
    fitting = [choice for choice in offered if _fits(choice, typed)]
    exact = [choice for choice in fitting if _words(choice.text) == _words(typed)]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        raise TetrarchiaError(f"{typed!r} may be {', '.join(choice.text for choice in fitting)}: say which")
    raise TetrarchiaError(_why_not(typed))


def _fits(choice: Choice, typed: str) -> bool:
    if typed.isdecimal():
        return choice.number == int(typed)
    words, given = _words(choice.text), _words(typed)
    return len(given) <= len(words) and all(word.startswith(start) for word, start in zip(words, given, strict=False))


def _words(text: str) -> list[str]:
    """For comparing: V is also typed as U."""
    return text.casefold().replace("u", "v").split()


def _why_not(typed: str) -> str:
    if typed.isdecimal():
        return f"there is no number {typed} in the list"
    try:
        return f"{action_text(action_id(typed))!r} is not possible now"
    except ValueError as error:
        return f"{error}; type a number, the beginning of a text in the list, or ?"
