"""R1.3 to R1.5: tokens on the board; R4.5, R4.6: securing, subduing and calming."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import check_victory, emperor_tokens, end_game
from tetrarchia_env.engine.state import DIARCHIA, DUX, RESERVE_EMPTY, REVOLT, UNREST, GameRecord
from tetrarchia_env.engine.tables import BIT, BORDERS, PRINTED, PROVINCES, REGION


@jit
def lying(game: GameRecord) -> int:
    """Return the spaces with a placed token of any kind (R1.3: at most one per space)."""
    return game.unrest | game.revolts | emperor_tokens(game)


@jit
def printed(game: GameRecord, emperor: int) -> int:
    """R1.5: return the Emperor's capital and ROMA, each unless a token lies there."""
    return PRINTED[emperor] & ~lying(game)


@jit
def supporting(game: GameRecord, figure: int) -> int:
    """R5.3, R10.3: return the tokens, including printed ones, that support this figure; the Dux has none."""
    if figure == DUX:
        return 0
    bits = game.tokens[figure] | printed(game, figure)
    if game.variants & DIARCHIA:
        partner = figure ^ 1
        bits |= game.tokens[partner] | printed(game, partner)
    return bits


@jit
def is_protected(game: GameRecord, space: int) -> bool:
    """R6.3: return whether an Emperor's token, placed or printed, protects this space."""
    anyones = PRINTED[0] | PRINTED[1] | PRINTED[2] | PRINTED[3]
    return (emperor_tokens(game) | anyones & ~lying(game)) & BIT[space] != 0


@jit
def lift(game: GameRecord, space: int) -> None:
    """R1.4: return the token on this space, if any, to the reserve or to its Emperor's supply."""
    bit = BIT[space]
    if game.unrest & bit:
        game.unrest ^= bit
        game.reserve[UNREST] += 1
    elif game.revolts & bit:
        game.revolts ^= bit
        game.reserve[REVOLT] += 1
    else:
        lift_emperor_token(game, space)


@jit
def lift_emperor_token(game: GameRecord, space: int) -> None:
    """R1.4: return an Emperor's token on this space to his supply."""
    for emperor in range(4):
        if game.tokens[emperor] & BIT[space]:
            game.tokens[emperor] ^= BIT[space]
            game.supply[emperor] += 1


@jit
def put_unrest(game: GameRecord, space: int) -> None:
    """Replace the token on this space, if any, by Unrest; if the reserve has none, the game is lost (R9.2)."""
    if game.reserve[UNREST] == 0:
        end_game(game, RESERVE_EMPTY)
        return
    lift(game, space)
    game.unrest |= BIT[space]
    game.reserve[UNREST] -= 1


@jit
def put_revolt(game: GameRecord, space: int) -> None:
    """Replace the token on this space, if any, by a Revolt; if the reserve has none, the game is lost and nothing changes (R9.2, R9.4)."""
    if game.reserve[REVOLT] == 0:
        end_game(game, RESERVE_EMPTY)
        return
    lift(game, space)
    game.revolts |= BIT[space]
    game.reserve[REVOLT] -= 1


@jit
def secure_cost(space: int) -> int:
    """R4.5: return the IP cost of securing a space: 1, or 2 on a border."""
    return 2 if BIT[space] & BORDERS else 1


@jit
def may_secure(game: GameRecord) -> bool:
    """R4.5: return whether the Emperor has a token and no token lies here; a border also needs a region without Revolts."""
    space = game.at[game.emperor]
    if lying(game) & BIT[space] or game.supply[game.emperor] == 0 or game.ip < secure_cost(space):
        return False
    return BIT[space] & BORDERS == 0 or game.revolts & PROVINCES[REGION[space]] == 0


@jit
def secure(game: GameRecord) -> None:
    """R4.5: pay, place a token on the Emperor's space and check for victory."""
    space = game.at[game.emperor]
    game.ip -= secure_cost(space)
    game.supply[game.emperor] -= 1
    game.tokens[game.emperor] |= BIT[space]
    check_victory(game)


@jit
def may_subdue(game: GameRecord, figure: int) -> bool:
    """R4.6: return whether this figure can remove Unrest for 1 IP or a Revolt for 2."""
    bit = BIT[game.at[figure]]
    return (game.unrest & bit != 0 and game.ip >= 1) or (game.revolts & bit != 0 and game.ip >= 2)


@jit
def subdue(game: GameRecord, figure: int) -> None:
    """R4.6: pay and remove the token on the figure's space."""
    space = game.at[figure]
    game.ip -= 2 if game.revolts & BIT[space] else 1
    lift(game, space)


@jit
def may_calm(game: GameRecord, figure: int) -> bool:
    """R4.6: return whether this figure is on a Revolt, with 1 IP to spend and Unrest in the reserve."""
    return game.revolts & BIT[game.at[figure]] != 0 and game.ip >= 1 and game.reserve[UNREST] > 0


@jit
def calm(game: GameRecord, figure: int) -> None:
    """R4.6: pay 1 IP and replace the Revolt on the figure's space by Unrest."""
    game.ip -= 1
    put_unrest(game, game.at[figure])
