"""R5: combat; R4.7: attacking an army."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies, army_on, move_army, remove_army
from tetrarchia_env.engine.bits import count, first_of
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.engine.imperivm import may_boost
from tetrarchia_env.engine.movement import affordable, others, remove
from tetrarchia_env.engine.outcome import end_game
from tetrarchia_env.engine.pirates import ATTACK_COST, lose_at_sea
from tetrarchia_env.engine.scenarios import REBEL_FLEET
from tetrarchia_env.engine.state import ADVANCE, BARBARIAN, BOOST, DUX, GOTHS, NOBODY, OFF, PIRATES, REBEL, ROMAN, ROME_FELL, GameRecord
from tetrarchia_env.engine.tables import BIT, BROKEN, COAST, LINKED, NORMAL, ROMA
from tetrarchia_env.engine.the_great import settle_glory
from tetrarchia_env.engine.tokens import lift, lift_emperor_token, put_revolt, supporting


@jit
def chain(tokens: int, seed: int) -> int:
    """R5.2: return the tokens connected to the seed by links, including broken ones.

    Args:
        tokens: The spaces with tokens, as bits.
        seed: The spaces to start from, as bits; those without a token are ignored.
    """
    grown = edge = seed & tokens
    while edge:
        space = first_of(edge)
        found = LINKED[space] & tokens & ~grown
        grown |= found
        edge = edge & ~BIT[space] | found
    return grown


@jit
def support(tokens: int, space: int) -> int:
    """R5.2, R5.3: return the size of the chain that contains this space, else of the largest chain next to it."""
    if tokens & BIT[space]:
        return count(chain(tokens, BIT[space]))
    largest = 0
    touching = tokens & LINKED[space]
    while touching:
        one = chain(tokens, touching & -touching)
        largest = max(largest, count(one))
        touching &= ~one
    return largest


@jit
def roman_side(game: GameRecord, figure: int, foe: int) -> tuple[int, int]:
    """R5.1, R11.2: return the Roman side of a combat.

    Args:
        game: The game.
        figure: The fighting Emperor or Dux.
        foe: The army's space, or PIRATES.

    Returns:
        What is added to the Roman die, and how often the sum is doubled.
    """
    tokens, helpers = supporting(game, figure), others(game, figure)
    if foe == PIRATES:
        coast = COAST[game.pirates]
        return count(tokens & coast), count(helpers & coast)
    return support(tokens, game.at[figure]), count(helpers & LINKED[foe])


@jit
def barbarian_side(game: GameRecord, figure: int, foe: int) -> tuple[int, int]:
    """R5.1, R11.2, R11.3: return the Barbarian side of a combat.

    Args:
        game: The game.
        figure: The fighting Emperor or Dux.
        foe: The army's space, or PIRATES.

    Returns:
        What is added to the normal die (1 more for the Goths), and how often the sum is doubled.
    """
    if foe == PIRATES:
        coast = COAST[game.pirates]
        return count(game.revolts & coast), count(armies(game) & coast)
    extra = 1 if game.army_kind[army_on(game, foe)] == GOTHS else 0
    helpers = armies(game) & ~BIT[foe] & LINKED[game.at[figure]]
    return support(game.revolts, foe) + extra, count(helpers)


@jit
def value(die: int, side: tuple[int, int]) -> int:
    """R5.1: return die plus support, doubled once for each helper."""
    return (die + side[0]) << side[1]


@jit
def margin(game: GameRecord) -> int:
    """Return the Roman value minus the Barbarian value of the combat under way."""
    roman, barbarian = roman_side(game, game.fighter, game.foe), barbarian_side(game, game.fighter, game.foe)
    return value(game.roman_die, roman) - value(game.normal_die, barbarian)


@jit
def odds(game: GameRecord, figure: int, foe: int) -> tuple[int, int]:
    """R5.1: return the odds of a combat.

    Args:
        game: The game.
        figure: The fighting Emperor or Dux.
        foe: The army's space, or PIRATES.

    Returns:
        In how many of the 36 results of R N the figure wins, and in how many it loses.
    """
    roman, barbarian = roman_side(game, figure, foe), barbarian_side(game, figure, foe)
    wins = losses = 0
    for roman_die in range(1, 7):
        for normal_die in range(1, 7):
            difference = value(roman_die, roman) - value(normal_die, barbarian)
            wins += difference > 0
            losses += difference < 0
    return wins, losses


@jit
def fight(game: GameRecord, figure: int, foe: int) -> None:
    """R5.1: roll R N and settle the combat."""
    game.fighter = figure
    game.foe = foe
    game.roman_die = roll(game)
    game.normal_die = roll(game)
    settle(game)


@jit
def settle(game: GameRecord) -> None:
    """R5.4, R5.5, R11.2: conclude the combat, unless Galerius may boost it first (R10.1)."""
    difference = margin(game)
    if may_boost(game, difference):
        game.phase = BOOST
    else:
        conclude(game, difference)


@jit
def conclude(game: GameRecord, difference: int) -> None:
    """End the combat under way: settle glory (R10.5), then apply the result to the fighters.

    Args:
        game: The game, which is changed.
        difference: The Roman value minus the Barbarian value; only its sign matters.
    """
    figure, foe = game.fighter, game.foe
    game.fighter, game.foe, game.roman_die, game.normal_die = NOBODY, OFF, 0, 0
    settle_glory(game, figure, difference)
    if game.march[0] == OFF:
        game.phase = ROMAN
        conclude_attack(game, figure, foe, difference)
    else:
        game.phase = ADVANCE
        conclude_defence(game, figure, foe, difference)
        next_in_line(game)


@jit
def conclude_attack(game: GameRecord, figure: int, foe: int, difference: int) -> None:
    """R5.4, R11.2: apply the result of a figure's attack; a lost one ends the Roman phase, except the Dux's (R11.1)."""
    if difference > 0:
        win_attack(game, figure, foe)
    elif difference < 0:
        lose_attack(game, figure, foe)
        if figure != DUX:
            game.phase = BARBARIAN


@jit
def win_attack(game: GameRecord, figure: int, foe: int) -> None:
    """R5.4: remove the army and the token, and move the victor there; R11.2: remove the Pirates from the board."""
    if foe == PIRATES:
        game.pirates = 0
    else:
        remove_army(game, foe)
        lift(game, foe)
        game.at[figure] = foe


@jit
def lose_attack(game: GameRecord, figure: int, foe: int) -> None:
    """R5.4: remove the figure and any Emperor's token on its space; R11.2: tokens on the whole coast."""
    if foe == PIRATES:
        lose_at_sea(game, figure)
    else:
        lift_emperor_token(game, game.at[figure])
        remove(game, figure)


@jit
def conclude_defence(game: GameRecord, figure: int, foe: int, difference: int) -> None:
    """R5.5: apply the result of an army's attack."""
    if difference > 0:
        remove_army(game, foe)
        lift(game, foe)
    elif difference < 0:
        space = game.at[figure]
        remove(game, figure)
        enter_space(game, foe, space)


@jit
def enter_space(game: GameRecord, army: int, space: int) -> None:
    """R8.3, R9.4: move an army, which puts a Revolt into the province that it enters; in ROMA it ends the game."""
    move_army(game, army, space)
    if space == ROMA:
        end_game(game, ROME_FELL)
    elif game.revolts & BIT[space] == 0:
        put_revolt(game, space)


@jit
def next_in_line(game: GameRecord) -> None:
    """R8.1: remove the army that acted from the line."""
    game.march[0], game.march[1], game.march[2] = game.march[1], game.march[2], OFF


@jit
def targets(game: GameRecord, figure: int) -> int:
    """R4.7: return the spaces of the armies that this figure can attack now."""
    space = game.at[figure]
    reach = affordable(game, NORMAL[space], BROKEN[space], game.ip) & armies(game)
    if reach and REBEL_FLEET[game.scenario] & ~game.fleets:
        for army in range(3):
            if game.army_kind[army] == REBEL:
                reach &= ~BIT[game.army_at[army]]
    return reach


@jit
def attack(game: GameRecord, figure: int, space: int) -> None:
    """R4.7: pay for the attack as for a move along the link, without fleets, and fight."""
    cost = 1 if NORMAL[game.at[figure]] & BIT[space] else 2
    game.ip -= cost + (game.revolts & BIT[space] != 0)
    fight(game, figure, space)


@jit
def attack_pirates(game: GameRecord, figure: int) -> None:
    """R11.2: pay for an attack on the Pirates and fight."""
    game.ip -= ATTACK_COST
    fight(game, figure, PIRATES)
