"""Episodes of many games side by side, compiled: how they begin, are played, and are followed by the next."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env.batch import Games, Masks, Rows, begin_at_level
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.dice import draw, next_rng, rng_states
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import OVER, Game
from tetrarchia_env.engine.turn import agent_to_act, play
from tetrarchia_env.observation import encode

EPISODE = np.dtype(
    (
        np.record,
        [
            ("rng", np.uint64),  # the state that its game began with; the next game's comes from it
            ("total", np.float64),  # rewards of the game under way
            ("steps", np.int64),  # its steps
            ("reward", np.float64),  # of the last step
            ("to_act", np.int64),  # the Emperor who is to act now
            # of the game that the last step ended
            ("ended", np.int64),  # whether one did
            ("outcome", np.int64),
            ("score", np.int64),
            ("turn", np.int64),
            ("level", np.int64, 4),
            ("final_total", np.float64),
            ("final_steps", np.int64),
        ],
    )
)
Episode = Any  # a record of EPISODE
Views = NDArray[np.void]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
WHOLE = 1 << 20  # initial_state_share 1 in whole numbers


class Setting(NamedTuple):
    """How games begin: by one of several sets of rules, or from an initial state."""

    rule_index: NDArray[np.int64]  # of each environment
    templates: Games  # of each set of rules
    levels: NDArray[np.int8]  # of all sets of rules, one after the other
    first_level: NDArray[np.int64]  # of each set of rules: where its levels begin
    last_level: NDArray[np.int64]  # and end
    draws_level: NDArray[np.bool_]
    initial_states: Games
    initial_state_share: int  # of WHOLE


@jit
def begin_episodes(games: Games, rows: Rows, episodes: Views, setting: Setting, masks: Masks) -> None:
    """New games in these rows, by the RNG states that stand in their episodes."""
    for i in rows:
        begin_episode(games, i, episodes[i].rng, setting, masks[i])


@jit
def begin_episode(games: Games, i: int, rng: np.uint64, setting: Setting, mask: Masks) -> None:
    """A new game by the rules, or from one of the initial states; its dice come from the RNG state."""
    choice = next_rng(rng ^ np.uint64(0x5851F42D4C957F2D))  # not a state that its dice will meet
    if draw(choice, np.uint64(WHOLE)) < setting.initial_state_share:
        games[i] = setting.initial_states[draw(next_rng(choice), np.uint64(len(setting.initial_states)))]
        games[i].dice = rng
        legal(games[i], mask)
    else:
        rule = setting.rule_index[i]
        games[i] = setting.templates[rule]
        levels = setting.levels[setting.first_level[rule] : setting.last_level[rule]]
        begin_at_level(games[i], levels, setting.draws_level[rule], rng, mask)


@jit
def find_illegal(actions: NDArray[np.int64], masks: Masks, idle: Flags, illegal: NDArray[np.int64]) -> int:
    """Write 1 where an action is not legal, 0 elsewhere and where a game is idle; how many there are."""
    number = 0
    for i in range(len(actions)):
        illegal[i] = not (idle[i] or (0 <= actions[i] < masks.shape[1] and masks[i, actions[i]]))
        number += illegal[i]
    return number


@jit
def play_step(games: Games, actions: NDArray[np.int64], episodes: Views, masks: Masks, idle: Flags, illegal: NDArray[np.int64]) -> None:
    """One step in every game that is not idle; what `find_illegal` found is a step too, but not played."""
    for i in range(len(games)):
        episodes[i].ended = 0
        if not idle[i]:
            if not illegal[i]:
                play(games[i], actions[i], masks[i])
            episodes[i].steps += 1
            episodes[i].ended = games[i].phase == OVER


@jit
def follow_up(games: Games, rows: Rows, episodes: Views, setting: Setting, masks: Masks, final_obs: Views, flat_final_obs: Floats) -> None:
    """The next game in these rows; of the one that ended the last observation is kept."""
    for i in rows:
        flat_final_obs[i, :] = 0
        encode(games[i], agent_to_act(games[i]), final_obs[i])
        end_episode(games[i], episodes[i])
        episodes[i].rng = rng_states(episodes["rng"][i : i + 1])[0]
        begin_episode(games, i, episodes[i].rng, setting, masks[i])


@jit
def end_episode(game: Game, episode: Episode) -> None:
    """Keep what is told of the game that ended, and count anew."""
    episode.outcome, episode.score, episode.turn = game.outcome, score(game), game.turn
    for digit in range(4):
        episode.level[digit] = game.level[digit]
    episode.final_total, episode.final_steps = episode.total, episode.steps
    episode.total, episode.steps = 0.0, 0


@jit
def observe_all(games: Games, episodes: Views, views: Views, flat: Floats) -> None:
    """What the Emperors to act observe."""
    for i in range(len(games)):
        flat[i, :] = 0
        episodes[i].to_act = agent_to_act(games[i])
        encode(games[i], episodes[i].to_act, views[i])


@jit
def read_status(games: Games, status: NDArray[np.int64]) -> None:
    """A row each for the Emperors to act, the outcomes, the scores and the turns."""
    for i in range(len(games)):
        status[0, i], status[1, i] = agent_to_act(games[i]), games[i].outcome
        status[2, i], status[3, i] = score(games[i]), games[i].turn
