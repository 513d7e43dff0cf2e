"""The Python interface of the compiled rules: reset, step and play out arrays of games.

A game is a record of `engine.state.GAME`; games are an array of them, one game an array of one. Every function here
works on all games of an array in one compiled call; `masks` gets a row of legal actions (0 or 1) for each game.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.checks import Seeds as Seeds
from tetrarchia_env.checks import check_games, check_masks, check_rngs, checked_games, checked_integers, checked_steps
from tetrarchia_env.checks import checked_actions as checked_actions
from tetrarchia_env.checks import seed_array as seed_array
from tetrarchia_env.engine import actions as a
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.bits import count
from tetrarchia_env.engine.dice import draw, next_rng
from tetrarchia_env.engine.dice import rng_states as rng_states  # the RNG state of each seed, for those who draw as games do
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.outcome import score, secured_borders
from tetrarchia_env.engine.state import ARRIVAL, FLEETS, OVER, ROMAN, WON, GameRecord
from tetrarchia_env.engine.state import GAME as GAME  # the dtype of a game
from tetrarchia_env.engine.turn import agent_to_act, begin, play
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import OBSERVATION, SIZE, encode
from tetrarchia_env.options import Options

Games = NDArray[np.void]
Masks = NDArray[np.int8]
Rows = NDArray[np.int64]
Policy = Callable[[Games, Masks, Rows], NDArray[np.int64]]  # an action for each game; the rows say which of all games they are


def new_games(options: Options, seeds: Seeds, message_tokens: int = 0) -> tuple[Games, Masks]:
    """Return a new game for each seed, at its first decision, and the masks of legal actions.

    Args:
        options: The rules of all these games.
        seeds: One seed or one for each game.
        message_tokens: The number of message tokens (R14.7), by which the masks are longer.

    >>> games, masks = new_games(Options(level="4200"), seeds=range(3))
    >>> np.flatnonzero(masks[0])  # a fleet goes to one of three zones
    array([ 8,  9, 10])
    """
    games = np.zeros(np.atleast_1d(np.asarray(seeds, dtype=object)).shape, dtype=GAME)
    masks = np.zeros((len(games), ACTIONS + message_tokens), dtype=np.int8)
    reset(games, options, seeds, masks)
    return games, masks


def reset(games: Games, options: Options, seeds: Seeds, masks: Masks, lineups: int = 0) -> NDArray[np.int64]:
    """Restart these games in place.

    Args:
        games: The games to overwrite; pass a slice of a larger array to restart some of its games with other options.
        options: The rules of all these games.
        seeds: One seed for each game.
        masks: Receives the legal actions, one row for each game.
        lineups: The length of the list from which each game draws its partners; 0 draws nothing.

    Returns:
        The number of each game's partners in that list, 0 without one.
    """
    check_games(games)
    check_masks(masks, len(games))
    rngs = rng_states(seed_array(seeds, len(games)))
    drawn = np.zeros(len(games), dtype=np.int64)
    _begin(games, set_ups([options], lineups), rngs, masks, drawn)
    return drawn


class SetUps(NamedTuple):
    """How games begin by each of several sets of rules: the rules, and what is drawn for each game (R2.1, R2.8)."""

    templates: Games  # a record with the rules of each set
    levels: NDArray[np.int8]  # of all sets, concatenated
    revolts: NDArray[np.int64]  # likewise
    secured: NDArray[np.int64]  # likewise
    first: NDArray[np.int64]  # for each set, where its levels, revolts and secured begin, shape (n, 3)
    last: NDArray[np.int64]  # and where they end
    draws: NDArray[np.bool_]  # whether each of them is a list to draw from; the draw is an RNG step even for a list of one
    lineups: int  # the length of the list of partners to draw from; 0: no list


def set_ups(options: Sequence[Options], lineups: int = 0) -> SetUps:
    """Return the table of set-ups of these sets of rules, for `begin_game`; `lineups` as for `reset`."""
    lists = [(one.levels, one.revolt_counts, one.secured_counts) for one in options]
    last = np.cumsum([[len(entries) for entries in row] for row in lists], axis=0)
    levels, revolts, secured = (np.concatenate(column) for column in zip(*lists, strict=True))
    return SetUps(
        np.concatenate([one.template for one in options]),
        levels,
        revolts,
        secured,
        last - [[len(entries) for entries in row] for row in lists],
        last,
        np.array([(one.draws_level, one.draws_revolts, one.draws_secured) for one in options]),
        lineups,
    )


def step(games: Games, actions: NDArray[np.int64], masks: Masks) -> None:
    """Play one action in each running game, in place; finished games stay as they are.

    Args:
        games: The games.
        actions: An action id for each game; ignored for finished games.
        masks: The legal actions of each game; receives those of the next decision.

    Raises:
        TetrarchiaError: An action is illegal; no game was changed.

    >>> games, masks = new_games(Options(level="4200"), seeds=range(3))
    >>> step(games, np.array([8, 9, 10]), masks)
    >>> masks[:, 8:11]  # there is no second fleet in a zone
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]], dtype=int8)
    """
    check_games(games)
    chosen = checked_actions(actions, len(games))
    check_masks(masks, len(games))
    illegal = _step(games, chosen, masks)
    if illegal >= 0:
        action = int(chosen[illegal])
        if 0 <= action < masks.shape[1] and masks[illegal, action]:
            raise TetrarchiaError(f"action {action} does not belong to the phase of game {illegal}: the masks are not those of these games")
        raise TetrarchiaError(illegal_action_message(action, masks[illegal], f"in game {illegal}"))


def legal_masks(games: Games, message_tokens: int = 0) -> Masks:
    """Return the mask of legal actions of each game, all zero if it is over; it is longer by the number of message tokens (R14.7)."""
    games = checked_games(games)
    masks = np.zeros((len(games), ACTIONS + message_tokens), dtype=np.int8)
    _legal(games, masks)
    return masks


def observe(games: Games, viewers: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """Return the observation of each game, one row for each.

    Args:
        games: The games.
        viewers: The index of the observing Emperor for each game; by default the Emperor to act.
    """
    rows = checked_games(games)
    return observe_unchecked(rows, agents_to_act(rows) if viewers is None else checked_integers(viewers, len(rows), "viewers"))


def observe_unchecked(games: Games, viewers: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the observation of each game without checking the arguments; used by the environments."""
    observations = np.zeros((len(games), SIZE), dtype=np.float32)
    views = np.ndarray(len(games), OBSERVATION, observations.data)  # as .view does, in a fifth of the time
    wrong = _observe(games, viewers, views)
    if wrong >= 0:
        raise TetrarchiaError(f"a viewer is the number of an Emperor, 0 to 3, not {int(viewers[wrong])}")
    return observations


def agents_to_act(games: Games) -> NDArray[np.int64]:
    """Return the index of the Emperor to act in each game."""
    games = checked_games(games)
    agents = np.zeros(len(games), dtype=np.int64)
    _agents_to_act(games, agents)
    return agents


def is_over(games: Games) -> NDArray[np.bool_]:
    """Return which of these games are finished."""
    over: NDArray[np.bool_] = games["phase"] == OVER
    return over


def is_won(games: Games) -> NDArray[np.bool_]:
    """Return which of these games are won (R9.1)."""
    won: NDArray[np.bool_] = games["outcome"] == WON
    return won


def scores(games: Games) -> NDArray[np.int64]:
    """Return the current score of each game (R9.3)."""
    games = checked_games(games)
    found = np.zeros(len(games), dtype=np.int64)
    _scores(games, found)
    return found


def borders(games: Games) -> NDArray[np.int64]:
    """Return the number of secured borders of each game (R9.1)."""
    games = checked_games(games)
    found = np.zeros(len(games), dtype=np.int64)
    _borders(games, found)
    return found


def play_to_end(games: Games, masks: Masks, policy: Policy) -> None:
    """Play all games to their ends, in place.

    Args:
        games: The games.
        masks: Their legal actions.
        policy: Returns an action for each running game; it receives only running games, their masks and their rows in `games`.
    """
    check_games(games)
    check_masks(masks, len(games))
    rows = np.flatnonzero(games["phase"] != OVER)
    running, legal = games[rows], masks[rows]
    while len(rows):
        step(running, policy(running, legal, rows), legal)
        over = running["phase"] == OVER
        if over.any():
            games[rows[over]], masks[rows[over]] = running[over], 0
            running, legal, rows = running[~over], legal[~over], rows[~over]


def playout(games: Games, masks: Masks, rngs: NDArray[np.uint64], steps: int) -> int:
    """Play uniformly random legal actions, in place.

    Args:
        games: The games.
        masks: Receives the legal actions after the last step.
        rngs: An RNG state for each game, which its choices are drawn from; updated.
        steps: The largest number of actions per game.

    Returns:
        The number of actions played in all games.
    """
    check_games(games)
    check_masks(masks, len(games))
    check_rngs(rngs, len(games))
    return int(_playout(games, masks, rngs, checked_steps(steps)))


def random_actions(masks: Masks, rngs: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a uniformly random legal action for each row of the masks; `rngs` is used as in `playout`."""
    check_masks(masks, len(masks), masks.shape[-1])
    check_rngs(rngs, len(masks))
    actions = np.zeros(len(masks), dtype=np.int64)
    _random_actions(masks, rngs, actions)
    return actions


def reseed(games: Games, seeds: Seeds) -> None:
    """Replace the RNG states, so that a copy given to a planner does not reveal future dice."""
    games["dice"] = rng_states(seed_array(seeds))


def illegal_action_message(action: object, mask: Masks, where: str, name: Callable[[int], str] | None = None) -> str:
    """Return the error message for an illegal action.

    Args:
        action: the action
        mask: the legal actions of the game
        where: the game, or the agent to act
        name: returns the text of an action id; `None` shows the ids
    """
    is_id = isinstance(action, int | np.integer) and not isinstance(action, bool) and 0 <= action < len(mask)
    given = name(int(action)) if is_id and name else action  # type: ignore[call-overload]  # an integer
    legal = [str(name(choice) if name else choice) for choice in np.flatnonzero(mask).tolist()]
    return f"action {given!r} is not legal {where}: choose from {', '.join(legal)}"


@jit
def _begin(games: Games, ways: SetUps, dice: NDArray[np.uint64], masks: Masks, lineups: NDArray[np.int64]) -> None:
    for i in range(len(games)):
        _, _, lineups[i] = begin_game(games, i, ways, 0, dice[i], masks[i])


@jit
def begin_game(games: Games, i: int, ways: SetUps, rules: int, rng: np.uint64, mask: Masks) -> tuple[int, int, int]:
    """Begin game i by a set of rules; level, Revolts, secured borders and partners are drawn from lists in this order, before any die.

    Returns:
        The number of initial Revolts, of secured borders and of the partners in their list.
    """
    level, rng = _draw_entry(ways, rules, 0, rng)
    revolts, rng = _draw_entry(ways, rules, 1, rng)
    secured, rng = _draw_entry(ways, rules, 2, rng)
    lineup, rng = draw_lineup(ways, rng)
    games[i] = ways.templates[rules]
    for digit in range(4):
        games[i].level[digit] = ways.levels[level, digit]
    begin(games[i], rng, ways.revolts[revolts], ways.secured[secured], mask)
    return ways.revolts[revolts], ways.secured[secured], lineup


@jit
def draw_lineup(ways: SetUps, rng: np.uint64) -> tuple[int, np.uint64]:
    """Return the number of the partners in their list, drawn if there is one, and the next RNG state."""
    if ways.lineups == 0:
        return 0, rng
    rng = next_rng(rng)
    return draw(rng, np.uint64(ways.lineups)), rng


@jit
def _draw_entry(ways: SetUps, rules: int, kind: int, rng: np.uint64) -> tuple[int, np.uint64]:
    """Return the entry of levels (0), revolts (1) or secured (2) to use, drawn if it is a list, and the next RNG state."""
    first = ways.first[rules, kind]
    if not ways.draws[rules, kind]:
        return first, rng
    rng = next_rng(rng)
    return first + draw(rng, np.uint64(ways.last[rules, kind] - first)), rng


@jit
def _step(games: Games, actions: NDArray[np.int64], masks: Masks) -> int:
    """Step all games; return the first game whose action is illegal, or -1."""
    for i in range(len(games)):
        if games[i].phase != OVER and not (0 <= actions[i] < masks.shape[1] and masks[i, actions[i]] and _fits(games[i], actions[i])):
            return i
    for i in range(len(games)):
        if games[i].phase != OVER:
            play(games[i], actions[i], masks[i])
    return -1


@jit
def _fits(game: GameRecord, action: int) -> bool:
    """Return whether the phase has such actions; masks of other games could otherwise corrupt the record."""
    if game.phase == ROMAN:
        return not a.FLEET <= action <= a.ENTER_CAPITAL and not a.BOOST_COMBAT <= action <= a.ACCEPT
    if game.phase == FLEETS:
        return a.FLEET <= action < a.ENTER_ROMA
    if game.phase == ARRIVAL:
        return a.ENTER_ROMA <= action <= a.ENTER_CAPITAL
    return a.BOOST_COMBAT <= action <= a.ACCEPT


@jit
def _legal(games: Games, masks: Masks) -> None:
    for i in range(len(games)):
        legal(games[i], masks[i])


@jit
def _observe(games: Games, viewers: NDArray[np.int64], views: NDArray[np.void]) -> int:
    """Encode all games; return the first game whose viewer is not an Emperor, or -1."""
    for i in range(len(games)):
        if not 0 <= viewers[i] < 4:
            return i
        encode(games[i], viewers[i], views[i])
    return -1


@jit
def _agents_to_act(games: Games, agents: NDArray[np.int64]) -> None:
    for i in range(len(games)):
        agents[i] = agent_to_act(games[i])


@jit
def _scores(games: Games, found: NDArray[np.int64]) -> None:
    for i in range(len(games)):
        found[i] = score(games[i])


@jit
def _borders(games: Games, found: NDArray[np.int64]) -> None:
    for i in range(len(games)):
        found[i] = count(secured_borders(games[i]))


@jit
def _random_actions(masks: Masks, rngs: NDArray[np.uint64], actions: NDArray[np.int64]) -> None:
    for i in range(len(masks)):
        rngs[i] = next_rng(rngs[i])
        actions[i] = random_legal(masks[i], rngs[i])


@jit
def _playout(games: Games, masks: Masks, rngs: NDArray[np.uint64], steps: int) -> int:
    played = 0
    for i in range(len(games)):
        legal(games[i], masks[i])  # the first action is legal whatever masks were given
        played += _play_randomly(games[i], masks[i], rngs[i : i + 1], steps)
    return played


@jit
def _play_randomly(game: GameRecord, mask: Masks, rng: NDArray[np.uint64], steps: int) -> int:
    ids = len(mask) if game.variants or game.modules or len(mask) > ACTIONS else BASE_ACTIONS  # scanning fewer is faster
    for played in range(steps):
        if game.phase == OVER:
            return played
        rng[0] = next_rng(rng[0])
        play(game, random_legal(mask[:ids], rng[0]), mask)
    return steps


@jit
def random_legal(mask: Masks, rng: np.uint64) -> int:
    """Return a uniformly random legal action."""
    number = 0
    for action in range(len(mask)):
        number += int(mask[action])  # an int8 would wrap uncompiled
    chosen = draw(rng, np.uint64(number))
    for action in range(len(mask)):
        chosen -= int(mask[action])
        if chosen < 0:
            return action
    return -1
