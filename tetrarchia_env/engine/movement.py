"""R3.2, R3.3: arrivals; R4.1 to R4.4: moves, passing and sailing."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.armies import armies
from tetrarchia_env.engine.state import DUX, FIGURES, GONE, MARE_NOSTRVM, NOBODY, OFF, ROMAN, GameRecord, numbers
from tetrarchia_env.engine.tables import BIT, BROKEN, CAPITAL, NORMAL, ROMA, SEA, ZONES
from tetrarchia_env.engine.tokens import lying

FIGURE_COUNT = len(FIGURES)
_1, _2, _3 = numbers(4)[1:]  # IP, as int64: Numba would compile `within` again for each literal


@jit
def others(game: GameRecord, figure: int) -> int:
    """Return the spaces with an Emperor or the Dux other than this figure."""
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
    """Remove a figure from the board: an Emperor until his next turn, the Dux for the rest of the game (R11.1)."""
    game.at[figure] = GONE if figure == DUX else OFF


@jit
def by_sea(game: GameRecord, space: int) -> int:
    """R4.1, R10.2: return the spaces that can be reached from here by fleet."""
    joined = 1 if game.variants & MARE_NOSTRVM else 0
    return SEA[joined, game.fleets, space]


@jit
def affordable(game: GameRecord, near: int, far: int, ip: int) -> int:
    """R4.1: return the spaces that `ip` pays for, among those that cost 1 (near) or 2 (far), and 1 more with a Revolt."""
    if ip >= 3:
        return near | far
    if ip == 2:
        return near | far & ~game.revolts
    return near & ~game.revolts if ip == 1 else 0


@jit
def within(game: GameRecord, space: int, ip: int) -> int:
    """R4.1: return the spaces that one move for at most `ip` reaches from here; never one with an army."""
    return affordable(game, NORMAL[space] | by_sea(game, space), BROKEN[space], ip) & ~armies(game)


@jit
def move_cost(game: GameRecord, start: int, goal: int) -> int:
    """R4.1: return the IP cost of the cheapest move from `start` to `goal`."""
    cost = 1 if (NORMAL[start] | by_sea(game, start)) & BIT[goal] else 2
    return cost + (game.revolts & BIT[goal] != 0)


@jit
def exits(game: GameRecord, crowded: int, ip: int) -> int:
    """R4.3: return the occupied spaces from which moves for `ip` in total reach a free one."""
    one = two = three = 0  # the results for 1, 2 and 3 IP less
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
    """R4.3: return whether a figure that enters this occupied space can still reach a free one."""
    if within(game, space, ip) & ~crowded:
        return True
    return exits(game, crowded, ip) & BIT[space] != 0


@jit
def destinations(game: GameRecord, figure: int) -> int:
    """R4.1, R4.2, R4.3: return the spaces that this figure can move to now; tokens only raise the cost."""
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
def place_figure(game: GameRecord, figure: int, space: int) -> None:
    """R4.3: place the figure; set `passing` if the space is shared."""
    game.at[figure] = space
    game.passing = figure if others(game, figure) & BIT[space] else NOBODY


@jit
def move(game: GameRecord, figure: int, space: int) -> None:
    """R4.1: pay for a move and make it."""
    game.ip -= move_cost(game, game.at[figure], space)
    place_figure(game, figure, space)


@jit
def may_enter(game: GameRecord, space: int) -> bool:
    """R3.3: return whether an arriving Emperor can enter this space: it is free, or he has the IP to move on."""
    crowded = others(game, game.emperor)
    if armies(game) & BIT[space]:
        return False
    return crowded & BIT[space] == 0 or may_pass(game, crowded, space, game.ip)


@jit
def may_enter_capital(game: GameRecord) -> bool:
    """R3.2: return whether the Emperor can arrive in his capital, where no token may lie."""
    capital = CAPITAL[game.emperor]
    return lying(game) & BIT[capital] == 0 and may_enter(game, capital)


@jit
def enter(game: GameRecord, space: int) -> None:
    """R3.2: place the arriving Emperor and begin his Roman phase."""
    place_figure(game, game.emperor, space)
    game.phase = ROMAN


@jit
def may_enter_rome(game: GameRecord) -> bool:
    """R3.2, R3.3: return whether the Emperor can arrive in ROMA."""
    return may_enter(game, ROMA)


@jit
def open_zones(game: GameRecord) -> int:
    """R2.6, R4.4, R11.2: return the zones, as bits, that a fleet can enter."""
    return (1 << ZONES) - 1 & ~(game.fleets | game.pirates)


@jit
def may_sail(game: GameRecord, start: int, goal: int) -> bool:
    """R4.4: return whether a fleet can sail between these adjacent zones (given as bits) for 1 IP."""
    return game.ip >= 1 and game.fleets & start != 0 and open_zones(game) & goal != 0


@jit
def sail(game: GameRecord, start: int, goal: int) -> None:
    """R4.4: pay 1 IP and move a fleet."""
    game.ip -= 1
    game.fleets ^= start | goal
