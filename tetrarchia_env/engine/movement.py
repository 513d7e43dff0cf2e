"""R3.2, R3.3: arriving; R4.1 to R4.4: moving, passing and sailing."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.state import DUX, FIGURES, GONE, MARE_NOSTRVM, NOBODY, OFF, ROMAN, GameRecord, numbers
from tetrarchia_env.engine.tables import BIT, BROKEN, CAPITAL, NORMAL, ROMA, SEA, ZONES
from tetrarchia_env.engine.tokens import lying

FIGURE_COUNT = len(FIGURES)
_1, _2, _3 = numbers(4)[1:]  # IP, as int64: for each literal Numba would compile `within` once more


@jit
def others(game: GameRecord, figure: int) -> int:
    """The spaces with an Emperor or the Dux other than this one."""
    bits = 0
    for other in range(FIGURE_COUNT):
        if other != figure:
            bits |= BIT[game.at[other]]
    return bits


@jit
def is_on_board(game: GameRecord, figure: int) -> bool:
    """Return whether a figure is on the board."""
    return game.at[figure] < OFF


@jit
def remove(game: GameRecord, figure: int) -> None:
    """An Emperor leaves the board until his next turn; the Dux for good (R11.1)."""
    game.at[figure] = GONE if figure == DUX else OFF


@jit
def by_sea(game: GameRecord, space: int) -> int:
    """R4.1, R10.2: the spaces that fleets carry to from here."""
    joined = 1 if game.variants & MARE_NOSTRVM else 0
    return SEA[joined, game.fleets, space]


@jit
def affordable(game: GameRecord, near: int, far: int, ip: int) -> int:
    """R4.1: of spaces that cost 1 (near) and 2 (far), +1 with a Revolt, those that `ip` pays."""
    if ip >= 3:
        return near | far
    if ip == 2:
        return near | far & ~game.revolts
    return near & ~game.revolts if ip == 1 else 0


@jit
def within(game: GameRecord, space: int, ip: int) -> int:
    """R4.1: the spaces that one move of at most `ip` reaches from here; never one with an army."""
    return affordable(game, NORMAL[space] | by_sea(game, space), BROKEN[space], ip) & ~armies(game)


@jit
def move_cost(game: GameRecord, start: int, goal: int) -> int:
    """R4.1: the cheapest way."""
    cost = 1 if (NORMAL[start] | by_sea(game, start)) & BIT[goal] else 2
    return cost + (game.revolts & BIT[goal] != 0)


@jit
def exits(game: GameRecord, crowded: int, ip: int) -> int:
    """R4.3: of the spaces with others, those from which moves worth `ip` reach a space without one."""
    one = two = three = 0  # the answers for 1, 2 and 3 IP less
    for budget in range(1, ip + 1):
        found = 0
        for figure in range(FIGURE_COUNT):
            space = game.at[figure]
            onward = within(game, space, budget) & ~crowded
            onward |= within(game, space, _1) & one | within(game, space, _2) & two | within(game, space, _3) & three
            if onward:
                found |= BIT[space] & crowded
        one, two, three = found, one, two
    return one


@jit
def may_pass(game: GameRecord, crowded: int, space: int, ip: int) -> bool:
    """R4.3: whether a figure that enters this occupied space can still reach an empty one."""
    if within(game, space, ip) & ~crowded:
        return True
    return exits(game, crowded, ip) & BIT[space] != 0


@jit
def destinations(game: GameRecord, figure: int) -> int:
    """R4.1, R4.2, R4.3: where this figure may move now; tokens only make it dearer."""
    start = game.at[figure]
    reach = within(game, start, game.ip)
    crowded = others(game, figure)
    if reach & crowded:
        for other in range(FIGURE_COUNT):
            space = game.at[other]
            if reach & crowded & BIT[space] and not may_pass(game, crowded, space, game.ip - move_cost(game, start, space)):
                reach &= ~BIT[space]
    return reach


@jit
def stand(game: GameRecord, figure: int, space: int) -> None:
    """R4.3: place the figure; set `passing` if the space is shared."""
    game.at[figure] = space
    game.passing = figure if others(game, figure) & BIT[space] else NOBODY


@jit
def move(game: GameRecord, figure: int, space: int) -> None:
    """R4.1."""
    game.ip -= move_cost(game, game.at[figure], space)
    stand(game, figure, space)


@jit
def may_enter(game: GameRecord, space: int) -> bool:
    """R3.3: there is room, or IP to pass on."""
    crowded = others(game, game.emperor)
    if armies(game) & BIT[space]:
        return False
    return crowded & BIT[space] == 0 or may_pass(game, crowded, space, game.ip)


@jit
def may_enter_capital(game: GameRecord) -> bool:
    """R3.2: also no token may lie there."""
    capital = CAPITAL[game.emperor]
    return lying(game) & BIT[capital] == 0 and may_enter(game, capital)


@jit
def enter(game: GameRecord, space: int) -> None:
    """R3.2: the Emperor arrives and his Roman phase begins."""
    stand(game, game.emperor, space)
    game.phase = ROMAN


@jit
def may_enter_rome(game: GameRecord) -> bool:
    """R3.2, R3.3."""
    return may_enter(game, ROMA)


@jit
def open_zones(game: GameRecord) -> int:
    """R2.6, R4.4, R11.2: the zones, as bits, that a fleet may enter."""
    return (1 << ZONES) - 1 & ~(game.fleets | game.pirates)


@jit
def may_sail(game: GameRecord, start: int, goal: int) -> bool:
    """R4.4: between adjacent zones (given as bits), for 1 IP."""
    return game.ip >= 1 and game.fleets & start != 0 and open_zones(game) & goal != 0


@jit
def sail(game: GameRecord, start: int, goal: int) -> None:
    """R4.4."""
    game.ip -= 1
    game.fleets ^= start | goal
