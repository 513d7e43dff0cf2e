"""Batched games behind the vector APIs: many games in one compiled call.

`advance` plays in every game and asks the reward, `follow_up` begins the next game where one ended, and `observe` writes what
the Emperors to act observe. Observations alternate between two arrays: one stays as it is until the step after the next.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.checks import SingleThreadGuard
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS, END
from tetrarchia_env.engine.dice import rng_states
from tetrarchia_env.engine.state import GAME, OUTCOMES, OVER
from tetrarchia_env.envs.episodes import (
    EPISODE,
    WHOLE,
    Flags,
    Floats,
    Setting,
    Views,
    begin_episodes,
    find_illegal,
    follow_up,
    observe_all,
    play_step,
    read_status,
)
from tetrarchia_env.envs.illegal_actions import RAISE, check_illegal, punish
from tetrarchia_env.envs.rewards import Reward, make_reward
from tetrarchia_env.envs.spaces import check_render_mode_of_many
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.notation import Snapshot, options_of, restore, snapshot
from tetrarchia_env.observation import OBSERVATION, SIZE
from tetrarchia_env.options import Options
from tetrarchia_env.records import check_entries, check_records, need_all_actions, records_of
from tetrarchia_env.render.modes import Drawing, draw_as

STATE = {"games": GAME, "episodes": EPISODE}
FINITE, COUNT = (-1e300, 1e300), (0, 2**62)
ALSO = ("num_envs", "rules", "actions", "initial_states", "initial_state_share", "reward", "gamma", "render_mode", "mask", "illegal")
EPISODE_RANGES = {"rng": (1, 2**64 - 1), "total": FINITE, "steps": COUNT, "reward": FINITE, "ended": (0, 1)}
EPISODE_RANGES |= {"outcome": (0, len(OUTCOMES) - 1), "score": (-100, 100), "turn": COUNT, "level": (0, 9)}
EPISODE_RANGES |= {"final_total": FINITE, "final_steps": COUNT}
MOST_ENVS = 1 << 24


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
        illegal: str = RAISE,
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
        self.illegal = check_illegal(illegal)
        self.illegal_actions = np.zeros(num_envs, dtype=np.int64)  # 1 where that of the last step was illegal
        self.thread_guard = SingleThreadGuard()  # held by whoever steps or resets
        self._ignored = np.zeros(num_envs, dtype=np.int64)  # illegal actions of the games under way
        self._none = np.zeros(num_envs, dtype=np.bool_)
        self._final_obs = np.zeros(num_envs, dtype=OBSERVATION)
        self._views = (np.zeros(num_envs, dtype=OBSERVATION), np.zeros(num_envs, dtype=OBSERVATION))
        self.set_initial_states(initial_states, initial_state_share)

    def set_initial_states(self, initial_states: Sequence[Snapshot], share: float = 1.0) -> None:
        """From now on, begin this share of the games from these snapshots."""
        if not 0 <= share <= 1:
            raise TetrarchiaError(f"initial_state_share is from 0 to 1, not {share!r}")
        games = [restore(state) for state in initial_states]
        for game in games:
            if game["phase"][0] == OVER:
                raise TetrarchiaError("initial_states: a snapshot is of a finished game")
            if self.masks.shape[1] < ACTIONS and options_of(game[0]).needs_all_actions:
                raise TetrarchiaError("initial_states: a snapshot needs more actions than actions='base' has")
        self._setting = _setting(self.rule_index, self.options, games, share)

    def begin(self, seeds: batch.Seeds, rows: batch.Rows | None = None) -> Floats:
        """New games, everywhere or in these rows; the seed of an environment fixes all its games from here on."""
        where = np.arange(len(self.games)) if rows is None else rows
        rngs = rng_states(batch.seed_array(seeds, len(where)))
        self.episodes[where] = np.zeros(1, dtype=EPISODE)
        self.episodes["rng"][where] = rngs
        self.illegal_actions[where] = self._ignored[where] = 0
        begin_episodes(self.games, where, self.episodes, self._setting, self.masks)
        self.reward.begin(self.games, where)
        return self.observe()

    def advance(self, actions: NDArray[np.int64], idle: Flags | None = None) -> None:
        """One step in every game, but where one is idle: it is finished, and its step is to begin the next."""
        chosen, idle = batch.checked_actions(actions, len(self.games)), self._none if idle is None else idle
        if find_illegal(chosen, self.masks, idle, self.illegal_actions):
            self._punish(chosen, np.flatnonzero(self.illegal_actions))
        self.follow_up(np.flatnonzero(idle))
        play_step(self.games, chosen, self.episodes, self.masks, idle, self.illegal_actions)
        self._pay(self.reward(self.games), idle)

    def follow_up(self, rows: batch.Rows) -> None:
        """The next games where one ended."""
        if len(rows):
            follow_up(self.games, rows, self.episodes, self._setting, self.masks, self._final_obs, self.final_obs)
            self.reward.begin(self.games, rows)
            self.illegal_actions[rows] = self._ignored[rows] = 0

    def _punish(self, actions: NDArray[np.int64], rows: batch.Rows) -> None:
        """Illegal actions in these rows: as the rule says, but one that is no action at all is always refused."""
        if not self.episodes["rng"].all():
            raise TetrarchiaError("no game is under way: reset the environment first")
        unknown = rows[(actions[rows] < 0) | (actions[rows] >= self.masks.shape[1])]
        if self.illegal == RAISE or len(unknown):
            raise TetrarchiaError(batch.refusal(actions, self.masks, int([*unknown, *rows][0])))
        self._ignored[rows] += 1
        punish(self.games, self.masks, rows, self._ignored[rows], self.illegal)

    def status(self) -> NDArray[np.int64]:
        """A row each for the Emperors to act, the outcomes, the scores (R9.3) and the turns finished so far."""
        status = np.empty((4, len(self.games)), dtype=np.int64)
        read_status(self.games, status)
        return status

    def legal(self) -> batch.Masks:
        """The legal actions, to keep; of a finished game `end` alone: a library may choose from its mask too, to no effect."""
        masks = self.masks.copy()
        masks[:, END] |= batch.is_over(self.games)
        return masks

    def _pay(self, rewards: NDArray[np.float64], idle: Flags) -> None:
        if np.shape(rewards) != self.games.shape:
            raise TetrarchiaError(
                f"reward: a number for each of {len(self.games)} games is wanted, not an array of shape {np.shape(rewards)}"
            )
        self.episodes["reward"] = rewards if idle is self._none else np.where(idle, 0, rewards)
        self.episodes["total"] += self.episodes["reward"]

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
        with self.thread_guard:
            self.games[:], self.episodes[:], self._ignored[:] = games, episodes, 0
            self.masks[:] = batch.legal_masks(games)[:, : self.masks.shape[1]]
            self.reward.begin(self.games)
            self.observe()

    def observe(self) -> Floats:
        """What the Emperors to act observe, anew."""
        self._views = self._views[1], self._views[0]
        observe_all(self.games, self.episodes, self._views[0], self.obs)
        return self.obs


def _check_number(num_envs: object, rules: int) -> None:
    if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or not 1 <= num_envs <= MOST_ENVS:
        raise TetrarchiaError(f"num_envs is a whole number from 1 to {MOST_ENVS}, not {num_envs!r}")
    if rules == 0 or num_envs % rules:
        raise TetrarchiaError(f"num_envs is a multiple of the number of rules, not {num_envs} for {rules}")


def _check_under_way(games: batch.Games, width: int) -> None:
    if batch.is_over(games).any():
        raise TetrarchiaError("games: one of them is over")
    if width < ACTIONS and need_all_actions(games).any():
        raise TetrarchiaError("games: one of them needs more actions than actions='base' has")


def _width(actions: str, rules: Sequence[Options]) -> int:
    """How many action ids there are."""
    if actions not in ("all", "base"):
        raise TetrarchiaError(f"actions is 'all' or 'base', not {actions!r}")
    for options in rules:
        if actions == "base" and options.needs_all_actions:
            raise TetrarchiaError(f"actions='base' is not enough for {[*options.variants, *options.modules]}")
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
