"""Batched games behind the vector APIs: many games in one compiled call, each begun anew when it ends.

A step plays in every game, asks the reward, begins the next game where one ended, and writes what the Emperors to act
observe. Observations alternate between two arrays: one stays as it is until the step after the next.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.checks import OneThread
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.dice import draw, next_rng, rng_states
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import GAME, OUTCOMES, OVER, Game
from tetrarchia_env.engine.turn import agent_to_act, play
from tetrarchia_env.notation import Snapshot, options_of, restore, snapshot
from tetrarchia_env.observation import OBSERVATION, SIZE, encode
from tetrarchia_env.options import Options
from tetrarchia_env.records import check_entries, check_records, need_all_actions, records_of
from tetrarchia_env.render.modes import Drawing, draw_as
from tetrarchia_env.rewards import Reward, make_reward
from tetrarchia_env.spaces import check_render_mode_of_many

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
STATE = {"games": GAME, "episodes": EPISODE}
Views = NDArray[np.void]
Floats = NDArray[np.float32]
FINITE, COUNT = (-1e300, 1e300), (0, 2**62)
ALSO = ("num_envs", "rules", "actions", "initial_states", "initial_state_share", "reward", "gamma", "render_mode")
EPISODE_RANGES = {"rng": (1, 2**64 - 1), "total": FINITE, "steps": COUNT, "reward": FINITE, "ended": (0, 1)}
EPISODE_RANGES |= {"outcome": (0, len(OUTCOMES) - 1), "score": (-100, 100), "turn": COUNT, "level": (0, 9)}
EPISODE_RANGES |= {"final_total": FINITE, "final_steps": COUNT}
MOST_ENVS = 1 << 24
WHOLE = 1 << 20  # initial_state_share 1 in whole numbers


class Setting(NamedTuple):
    """How games begin: by one of several sets of rules, or from an initial state."""

    rule_index: NDArray[np.int64]  # of each environment
    templates: batch.Games  # of each set of rules
    levels: NDArray[np.int8]  # of all sets of rules, one after the other
    first_level: NDArray[np.int64]  # of each set of rules: where its levels begin
    last_level: NDArray[np.int64]  # and end
    draws_level: NDArray[np.bool_]
    initial_states: batch.Games
    initial_state_share: int  # of WHOLE


class BatchedGames:
    """`num_envs` games. `rules`: sets of arguments that the environments are shared out to, in blocks of equal size.

    `initial_states`: snapshots that a share of the games begin from, with new dice.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        rules: Sequence[Mapping[str, Any]] | None = None,
        actions: str = "all",
        initial_states: Sequence[Snapshot] = (),
        initial_state_share: float = 1.0,
        reward: str | Reward = "outcome",
        gamma: float = 1.0,
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        self.options = [Options.of(ALSO, **{**arguments, **rule}) for rule in ([{}] if rules is None else rules)]
        _check_number(num_envs, len(self.options))
        self.reward = make_reward(reward, gamma)
        self.render_mode = check_render_mode_of_many(render_mode)
        self.rule_index = np.repeat(np.arange(len(self.options)), num_envs // len(self.options))
        self.games = np.zeros(num_envs, dtype=GAME)
        self.masks = np.zeros((num_envs, _width(actions, self.options)), dtype=np.int8)
        self.episodes = np.zeros(num_envs, dtype=EPISODE)
        self.one_thread = OneThread()  # held by whoever steps or resets
        self._final_obs = np.zeros(num_envs, dtype=OBSERVATION)
        self._views = (np.zeros(num_envs, dtype=OBSERVATION), np.zeros(num_envs, dtype=OBSERVATION))
        self.set_initial_states(initial_states, initial_state_share)

    def set_initial_states(self, initial_states: Sequence[Snapshot], share: float = 1.0) -> None:
        """From now on, begin this share of the games from these snapshots."""
        if not 0 <= share <= 1:
            raise ValueError(f"initial_state_share is from 0 to 1, not {share!r}")
        games = [restore(state) for state in initial_states]
        for game in games:
            if game["phase"][0] == OVER:
                raise ValueError("initial_states: a snapshot is of a finished game")
            if self.masks.shape[1] < ACTIONS and options_of(game[0]).needs_all_actions:
                raise ValueError("initial_states: a snapshot needs more actions than actions='base' has")
        self._setting = _setting(self.rule_index, self.options, games, share)

    def begin(self, seeds: batch.Seeds) -> Floats:
        """New games everywhere; the seed of an environment fixes all its games from here on."""
        self.episodes[:] = np.zeros(1, dtype=EPISODE)
        self.episodes["rng"] = rng_states(batch.seed_array(seeds, len(self.games)))
        _begin(self.games, self.episodes, self._setting, self.masks)
        self.reward.begin(self.games)
        return self._observe()

    def play(self, actions: NDArray[np.int64]) -> Floats:
        """One step in every game; an illegal action leaves all of them untouched."""
        chosen = batch.checked_actions(actions, len(self.games))
        illegal = _play(self.games, chosen, self.episodes, self.masks)
        if illegal >= 0:
            raise ValueError(batch.refusal(chosen, self.masks, illegal))
        self._pay(self.reward(self.games))
        ended = np.flatnonzero(self.episodes["ended"])
        if len(ended):
            _begin_anew(self.games, ended, self.episodes, self._setting, self.masks, self._final_obs, _flat(self._final_obs))
            self.reward.begin(self.games, ended)
        return self._observe()

    def _pay(self, rewards: NDArray[np.float64]) -> None:
        if np.shape(rewards) != self.games.shape:
            raise ValueError(f"reward: a number for each of {len(self.games)} games is wanted, not an array of shape {np.shape(rewards)}")
        self.episodes["reward"] = rewards
        self.episodes["total"] += rewards

    @property
    def obs(self) -> Floats:
        """What the Emperors to act observe."""
        return _flat(self._views[0])

    @property
    def final_obs(self) -> Floats:
        """The last observation of the games that the last step ended; other rows are older."""
        return _flat(self._final_obs)

    def draw(self) -> tuple[Drawing, ...] | None:
        """Each game as the render mode says."""
        return tuple(draw_as(self.render_mode, snapshot(game)) for game in self.games) if self.render_mode else None

    def state(self) -> dict[str, NDArray[np.uint8]]:
        """All that the games to come depend on, but for the arguments: rows of bytes by name."""
        return {name: _bytes(getattr(self, name)).copy() for name in STATE}

    def set_state(self, state: Mapping[str, NDArray[np.uint8]]) -> None:
        """Go on from there; ValueError in one sentence, and nothing is changed, if these are no games under way."""
        games, episodes = (records_of(state.get(name), kind, len(self.games), name) for name, kind in STATE.items())
        check_records(games, "games")
        check_entries(episodes, EPISODE_RANGES, "episodes")
        _check_under_way(games, self.masks.shape[1])
        with self.one_thread:
            self.games[:], self.episodes[:] = games, episodes
            self.masks[:] = batch.legal_masks(games)[:, : self.masks.shape[1]]
            self.reward.begin(self.games)
            self._observe()

    def _observe(self) -> Floats:
        self._views = self._views[1], self._views[0]
        _observe(self.games, self.episodes, self._views[0], _flat(self._views[0]))
        return _flat(self._views[0])


def _check_number(num_envs: object, rules: int) -> None:
    if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or not 1 <= num_envs <= MOST_ENVS:
        raise ValueError(f"num_envs is a whole number from 1 to {MOST_ENVS}, not {num_envs!r}")
    if rules == 0 or num_envs % rules:
        raise ValueError(f"num_envs is a multiple of the number of rules, not {num_envs} for {rules}")


def _check_under_way(games: batch.Games, width: int) -> None:
    if batch.is_over(games).any():
        raise ValueError("games: one of them is over")
    if width < ACTIONS and need_all_actions(games).any():
        raise ValueError("games: one of them needs more actions than actions='base' has")


def _width(actions: str, rules: Sequence[Options]) -> int:
    """How many action ids there are."""
    if actions not in ("all", "base"):
        raise ValueError(f"actions is 'all' or 'base', not {actions!r}")
    for options in rules:
        if actions == "base" and options.needs_all_actions:
            raise ValueError(f"actions='base' is not enough for {[*options.variants, *options.modules]}")
    return BASE_ACTIONS if actions == "base" else ACTIONS


def _setting(rule_index: NDArray[np.int64], rules: Sequence[Options], states: Sequence[batch.Games], share: float) -> Setting:
    ends = np.cumsum([len(options.levels) for options in rules])
    return Setting(
        rule_index,
        np.concatenate([options.template for options in rules]),
        np.concatenate([options.levels for options in rules]),
        ends - [len(options.levels) for options in rules],
        ends,
        np.array([options.draws_level for options in rules]),
        np.concatenate(states) if states else np.zeros(0, dtype=GAME),
        int(share * WHOLE) if states else 0,
    )


def _flat(views: Views) -> Floats:
    return views.view(np.float32).reshape(len(views), SIZE)


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.view(np.uint8).reshape(len(array), -1)


@jit
def _begin(games: batch.Games, episodes: Views, setting: Setting, masks: batch.Masks) -> None:
    for i in range(len(games)):
        begin_episode(games, i, episodes[i].rng, setting, masks[i])


@jit
def begin_episode(games: batch.Games, i: int, rng: np.uint64, setting: Setting, mask: batch.Masks) -> None:
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
        batch.begin_at_level(games[i], levels, setting.draws_level[rule], rng, mask)


@jit
def _play(games: batch.Games, actions: NDArray[np.int64], episodes: Views, masks: batch.Masks) -> int:
    """The first game whose action is illegal, or -1."""
    for i in range(len(games)):
        if not (0 <= actions[i] < masks.shape[1] and masks[i, actions[i]]):
            return i
    for i in range(len(games)):
        play(games[i], actions[i], masks[i])
        episodes[i].steps += 1
        episodes[i].ended = games[i].phase == OVER
    return -1


@jit
def _begin_anew(
    games: batch.Games,
    ended: NDArray[np.int64],
    episodes: Views,
    setting: Setting,
    masks: batch.Masks,
    final_obs: Views,
    flat_final_obs: Floats,
) -> None:
    """The next game where one ended, of which the last observation is kept."""
    for i in ended:
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
def _observe(games: batch.Games, episodes: Views, views: Views, flat: Floats) -> None:
    for i in range(len(games)):
        flat[i, :] = 0
        episodes[i].to_act = agent_to_act(games[i])
        encode(games[i], episodes[i].to_act, views[i])
