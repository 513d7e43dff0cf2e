"""Descriptions of R5 and R8: attacks, the armies' advance, and the reactions of R10.1."""

from dataclasses import dataclass

from tetrarchia_env.board import BOARD
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine.armies import armies, army_on
from tetrarchia_env.engine.barbarians import defender
from tetrarchia_env.engine.combat import barbarian_side, roman_side, value
from tetrarchia_env.engine.imperivm import boost
from tetrarchia_env.engine.state import BLOCK, BOOST, CONSTANTIUS, GALERIUS, OFF, PIRATES, GameRecord
from tetrarchia_env.engine.tables import BIT, NEXT_STEP
from tetrarchia_env.events.words import Lines, army_name, dice_between, does, figure_name, foe_name, glory_and_losses, is_many


@dataclass(frozen=True)
class Combat:
    """The fighters of a combat and their values (R5.1)."""

    figure: int
    foe: int
    roman: int
    barbarian: int

    @property
    def margin(self) -> int:
        return self.roman - self.barbarian


def combat(game: GameRecord, figure: int, foe: int, dice: list[int]) -> Combat:
    """R5.1: return the values of both sides for the dice R and N in this position."""
    roman_die, normal_die = dice
    roman, barbarian = roman_side(game, figure, foe), barbarian_side(game, figure, foe)
    return Combat(figure, foe, value(roman_die, roman), value(normal_die, barbarian))


def describe_attack(before: GameRecord, game: GameRecord, figure: int, foe: int) -> Lines:
    """R4.7, R11.2: describe an attack on an army or the Pirates."""
    fought = combat(before, figure, foe, dice_between(before, game))
    yield f"{figure_name(figure)} attacks {foe_name(before, foe)}: {_result(before, game, fought)}"
    yield from _aftermath(before, game, fought)


def describe_advance(before: GameRecord, game: GameRecord) -> Lines:
    """R8.2: describe how the first army in line stays, threatens Constantius, attacks or enters."""
    fallen = dice_between(before, game)
    if game.phase == BLOCK:
        yield f"{does(army_name(before, before.march[0]), 'threaten')} {figure_name(CONSTANTIUS)}, who may block"
    elif len(fallen) >= 2:
        yield from _describe_defence(before, game, fallen[-2:])
    else:
        yield from _describe_step(before, game, bool(fallen))


def describe_boost(before: GameRecord, game: GameRecord, action: int) -> Lines:
    """R10.1: describe whether Galerius boosts, and the result."""
    rolled = before.copy()
    if action == a.BOOST_COMBAT:
        boost(rolled)
    fought = combat(rolled, before.fighter, before.foe, [rolled.roman_die, rolled.normal_die])
    decision = "pays a token and adds 1" if action == a.BOOST_COMBAT else "adds nothing"
    yield f"{figure_name(GALERIUS)} {decision}: {_result(before, game, fought)}"
    yield from _aftermath(before, game, fought)


def describe_block(before: GameRecord, game: GameRecord, action: int) -> Lines:
    """R10.1: describe whether Constantius blocks the army or fights."""
    if action == a.BLOCK_ARMY:
        army = before.march[0]
        yield f"{figure_name(CONSTANTIUS)} pays a token: {does(army_name(before, army), 'stay')} in {BOARD.names[army]}"
    else:
        yield from _describe_defence(before, game, dice_between(before, game))


def _describe_defence(before: GameRecord, game: GameRecord, dice: list[int]) -> Lines:
    """R8.4: describe an army's attack on a figure."""
    fought = combat(before, defender(before), before.march[0], dice)
    attack = does(army_name(before, fought.foe), "attack")
    yield f"{attack} {figure_name(fought.figure)}: {_result(before, game, fought)}"
    yield from _aftermath(before, game, fought)


def _describe_step(before: GameRecord, game: GameRecord, was_rolled: bool) -> Lines:
    """R8.2, R8.3: describe how an army enters a space, or why it stays."""
    army = before.march[0]
    name, goal = army_name(before, army), BOARD.names[NEXT_STEP[before.army_origin[army_on(before, army)], army]]
    if armies(game) & BIT[army] == 0:
        yield f"{does(name, 'enter')} {goal}"
        yield from glory_and_losses(before, game)
    elif was_rolled:
        yield f"{name} {'do' if is_many(name) else 'does'} not find a way from {BOARD.names[army]} to {goal}"
    else:
        yield f"{does(name, 'wait')} behind another army"


def _is_attack(before: GameRecord) -> bool:
    """Return whether the Roman attacked; otherwise a marching army did."""
    return bool(before.march[0] == OFF)


def _result(before: GameRecord, game: GameRecord, fought: Combat) -> str:
    """Return the values, the attacker's first, and the verdict."""
    values = (fought.roman, fought.barbarian) if _is_attack(before) else (fought.barbarian, fought.roman)
    return f"{values[0]} to {values[1]}, {_verdict(before, game, fought)}"


def _verdict(before: GameRecord, game: GameRecord, fought: Combat) -> str:
    if game.phase == BOOST:
        return "he may add 1"
    if fought.margin > 0:
        return "they are beaten" if is_many(foe_name(before, fought.foe)) else "it is beaten"
    return "he is beaten" if fought.margin < 0 else "nothing happens"


def _aftermath(before: GameRecord, game: GameRecord, fought: Combat) -> Lines:
    """R5.4, R5.5: describe who enters the other's space, and changes of glory and tokens."""
    if game.phase != BOOST and fought.foe != PIRATES:
        if fought.margin > 0 and _is_attack(before):
            yield f"{figure_name(fought.figure)} enters {BOARD.names[fought.foe]}"
        elif fought.margin < 0 and not _is_attack(before):
            yield f"{does(army_name(before, fought.foe), 'enter')} {BOARD.names[before.at[fought.figure]]}"
    yield from glory_and_losses(before, game)
