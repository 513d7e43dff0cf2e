"""R1.3 to R1.5: tokens on the board; R4.5, R4.6: what figures do with them."""

from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import check_victory, emperor_tokens, end_game
from tetrarchia_env.engine.state import DIARCHIA, DUX, RESERVE_EMPTY, REVOLT, UNREST, GameRecord
from tetrarchia_env.engine.tables import BIT, BORDERS, PRINTED, PROVINCES, REGION


@jit
def lying(game: GameRecord) -> int:
    """The spaces with a token of any kind lying on them (R1.3: one at most)."""
    return game.unrest | game.revolts | emperor_tokens(game)


@jit
def printed(game: GameRecord, emperor: int) -> int:
    """R1.5: his capital and ROMA, while no token lies there."""
    return PRINTED[emperor] & ~lying(game)


@jit
def supporting(game: GameRecord, figure: int) -> int:
    """R5.3, R10.3: the tokens, printed ones included, that support this figure; the Dux has none."""
    if figure == DUX:
        return 0
    bits = game.tokens[figure] | printed(game, figure)
    if game.variants & DIARCHIA:
        partner = figure ^ 1
        bits |= game.tokens[partner] | printed(game, partner)
    return bits


@jit
def is_protected(game: GameRecord, space: int) -> bool:
    """R6.3: by an Emperor's token, lying or printed."""
    anyones = PRINTED[0] | PRINTED[1] | PRINTED[2] | PRINTED[3]
    return (emperor_tokens(game) | anyones & ~lying(game)) & BIT[space] != 0


@jit
def lift(game: GameRecord, space: int) -> None:
    """R1.4: the token that lies here, if any, goes back where it came from."""
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
    """R1.4: an Emperor's token that lies here goes back to his supply."""
    for emperor in range(4):
        if game.tokens[emperor] & BIT[space]:
            game.tokens[emperor] ^= BIT[space]
            game.supply[emperor] += 1


@jit
def put_unrest(game: GameRecord, space: int) -> None:
    """Put Unrest instead of what lies here; with none in the reserve the game is lost (R9.2)."""
    if game.reserve[UNREST] == 0:
        end_game(game, RESERVE_EMPTY)
        return
    lift(game, space)
    game.unrest |= BIT[space]
    game.reserve[UNREST] -= 1


@jit
def put_revolt(game: GameRecord, space: int) -> None:
    """Put a Revolt instead of what lies here; with none in the reserve the game is lost and it stays (R9.2, R9.4)."""
    if game.reserve[REVOLT] == 0:
        end_game(game, RESERVE_EMPTY)
        return
    lift(game, space)
    game.revolts |= BIT[space]
    game.reserve[REVOLT] -= 1


@jit
def secure_cost(space: int) -> int:
    """R4.5: 1 IP, 2 on a border."""
    return 2 if BIT[space] & BORDERS else 1


@jit
def may_secure(game: GameRecord) -> bool:
    """R4.5: no token lies here, he has one; a border also needs its region free of Revolts."""
    space = game.at[game.emperor]
    if lying(game) & BIT[space] or game.supply[game.emperor] == 0 or game.ip < secure_cost(space):
        return False
    return BIT[space] & BORDERS == 0 or game.revolts & PROVINCES[REGION[space]] == 0


@jit
def secure(game: GameRecord) -> None:
    """R4.5."""
    space = game.at[game.emperor]
    game.ip -= secure_cost(space)
    game.supply[game.emperor] -= 1
    game.tokens[game.emperor] |= BIT[space]
    check_victory(game)


@jit
def may_subdue(game: GameRecord, figure: int) -> bool:
    """R4.6: Unrest for 1 IP, a Revolt for 2."""
    bit = BIT[game.at[figure]]
    return (game.unrest & bit != 0 and game.ip >= 1) or (game.revolts & bit != 0 and game.ip >= 2)


@jit
def subdue(game: GameRecord, figure: int) -> None:
    """R4.6."""
    space = game.at[figure]
    game.ip -= 2 if game.revolts & BIT[space] else 1
    lift(game, space)


@jit
def may_calm(game: GameRecord, figure: int) -> bool:
    """R4.6: 1 IP, a Revolt here and Unrest in the reserve."""
    return game.revolts & BIT[game.at[figure]] != 0 and game.ip >= 1 and game.reserve[UNREST] > 0


@jit
def calm(game: GameRecord, figure: int) -> None:
    """R4.6."""
    game.ip -= 1
    put_unrest(game, game.at[figure])
