"""Batched games behind the vector APIs: many games in one compiled call.

`BatchedGames.advance` plays one step in every game and the partners' decisions that follow, and computes the rewards, `begin_next`
begins the next game where one ended, and `observe` writes the observations of the Emperors to act. Observations alternate between
two arrays: one stays valid until the step after the next. The compiled functions are at the end of the file.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.batch import Games, Masks, Rows, SetUps, begin_game, draw_lineup, set_ups
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import SingleThreadGuard, check_limits, check_records, records_from_bytes
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS, END
from tetrarchia_env.engine.dice import draw, next_rng, rng_states
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import GAME, OUTCOMES, OVER, RUNNING, GameRecord
from tetrarchia_env.engine.turn import agent_to_act, play
from tetrarchia_env.envs.illegal_actions import apply_illegal, check_illegal
from tetrarchia_env.envs.partners import PARTNER, PartnersArgument, make_partners
from tetrarchia_env.envs.rewards import Reward, make_reward, pays_each_emperor, step_rewards
from tetrarchia_env.envs.spaces import VECTOR_RENDER_MODES, check_render_mode
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import FULL_INFORMATION, LOCAL, MESSAGE, LocalOptions, LocalViews, check_memory, check_messages
from tetrarchia_env.notation import Snapshot, options_of, restore, snapshot
from tetrarchia_env.observation import OBSERVATION, encode
from tetrarchia_env.options import Options
from tetrarchia_env.render.modes import Drawing, draw_as

EPISODE = np.dtype(
    (
        np.record,
        [
            ("rng", np.uint64),  # the state that the game began with; the next game's is derived from it
            ("total", np.float64),  # rewards of the running game
            ("steps", np.int64),  # steps of the running game
            ("reward", np.float64),  # of the last step
            ("to_act", np.int64),  # the Emperor to act
            ("revolts", np.int64),  # initial Revolts of the running game (R2.8)
            ("secured", np.int64),  # borders secured from its beginning (R2.8)
            ("ended", np.int64),  # whether the last step ended a game; the following fields describe that game
            ("outcome", np.int64),
            ("score", np.int64),
            ("turn", np.int64),
            ("level", np.int64, 4),
            ("final_revolts", np.int64),
            ("final_secured", np.int64),
            ("final_total", np.float64),
            ("final_steps", np.int64),
        ],
    )
)
Episode = Any  # a record of EPISODE
Views = NDArray[np.void]
Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
ActionSet = Literal["all", "base"]

STATE = {"games": GAME, "episodes": EPISODE}  # with partners also "partners"; see `state_dtypes`
FINITE, COUNT = (-1e300, 1e300), (0, 2**62)
EPISODE_RANGES = {"rng": (1, 2**64 - 1), "total": FINITE, "steps": COUNT, "reward": FINITE, "ended": (0, 1)}
EPISODE_RANGES |= {"outcome": (0, len(OUTCOMES) - 1), "score": (-100, 100), "turn": COUNT, "level": (0, 9)}
EPISODE_RANGES |= {"final_total": FINITE, "final_steps": COUNT}
EPISODE_RANGES |= dict.fromkeys(("revolts", "secured", "final_revolts", "final_secured"), (0, 6))
MAX_ENVS = 1 << 24
SHARE_SCALE = 1 << 20  # the integer for initial_state_share = 1


class ResetConfig(NamedTuple):
    """How games begin: by one of several sets of rules, or from an initial state."""

    rule_index: NDArray[np.int64]  # of each environment
    set_ups: SetUps  # of each set of rules
    initial_states: Games
    initial_state_share: int  # in units of 1 / SHARE_SCALE


class BatchedGames:
    """`num_envs` games that are played together.

    Args:
        num_envs: the number of games
        options: the rules; several sets of rules are assigned to blocks of equal size
        actions: "all" action ids, or those of the "base" game only
        initial_states: snapshots from which some of the games begin, with new dice
        initial_state_share: the share of games that begin from `initial_states`
        reward: as for `tetrarchia_env.env`
        gamma: as for `tetrarchia_env.env`
        local: the arguments of local information (R14)
        render_mode: `None`, "ansi", "rgb_array" or "svg"
        illegal: "raise", "ignore" or "lose"
        seat: as for `tetrarchia_env.env`, or several, which are assigned to the environments in turn; a step is then a decision of
            this Emperor
        partners: as for `tetrarchia_env.env`

    Attributes:
        games: the current positions
        masks: their legal actions
        episodes: statistics of the running and the last finished game of each environment, records of `EPISODE`
        illegal_actions: 1 where the last action was illegal
        rewards: the rewards of each Emperor for the last step, shape (n, 4); `None` if the reward object returns one number per game
    """

    def __init__(
        self,
        num_envs: int,
        options: Sequence[Options],
        *,
        actions: str = "all",
        initial_states: Sequence[Snapshot] = (),
        initial_state_share: float = 1.0,
        reward: str | Reward = "outcome",
        gamma: float = 1.0,
        local: LocalOptions = FULL_INFORMATION,
        render_mode: str | None = None,
        illegal: str = "raise",
        seat: str | Sequence[str] | None = None,
        partners: PartnersArgument | None = None,
    ) -> None:
        self.options = list(options)
        _check_num_envs(num_envs, len(self.options))
        self.reward = make_reward(reward, gamma)
        self.local_options = local
        self.local = None if local.view_radius is None else LocalViews(local, num_envs)
        self.render_mode = check_render_mode(render_mode, VECTOR_RENDER_MODES)
        self.partners = make_partners(seat, partners, num_envs)
        if self.partners is not None:
            self.partners.check_local(local)
        self.rule_index = np.repeat(np.arange(len(self.options)), num_envs // len(self.options))
        self.games = np.zeros(num_envs, dtype=GAME)
        self.masks = np.zeros((num_envs, _num_actions(actions, self.options, local)), dtype=np.int8)
        self.episodes = np.zeros(num_envs, dtype=EPISODE)
        self.illegal = check_illegal(illegal)
        self.illegal_actions = np.zeros(num_envs, dtype=np.int64)
        self.rewards: NDArray[np.float64] | None = None
        self._pays_each_emperor: bool | None = None  # unknown before the first game
        self.thread_guard = SingleThreadGuard()  # held during step and reset
        self._ignored = np.zeros(num_envs, dtype=np.int64)  # illegal actions of the running games
        self._none = np.zeros(num_envs, dtype=np.bool_)
        self._lineups = np.zeros(num_envs, dtype=np.int64)  # the partners drawn for the running games
        self._rows = np.arange(num_envs)
        self._final_obs, *obs = (np.zeros((num_envs, local.size), dtype=np.float32) for _ in range(3))
        self._obs = tuple(obs)
        self.set_initial_states(initial_states, initial_state_share)

    def set_initial_states(self, initial_states: Sequence[Snapshot], share: float = 1.0) -> None:
        """From now on, begin this share of the games from these snapshots."""
        if not 0 <= share <= 1:
            raise TetrarchiaError(f"initial_state_share must be from 0 to 1; got {share!r}")
        states = [restore(state) for state in initial_states]
        for state in states:
            if state["phase"][0] == OVER:
                raise TetrarchiaError("initial_states must be running games; one of them is over")
            if self.masks.shape[1] < ACTIONS and options_of(state[0]).needs_all_actions:
                raise TetrarchiaError("initial_states: a snapshot needs actions that actions='base' does not include")
        self._reset_config = ResetConfig(
            self.rule_index,
            self._set_ups(),
            np.concatenate(states) if states else np.zeros(0, dtype=GAME),
            int(share * SHARE_SCALE) if states else 0,
        )

    def draw_from(self, lists: Mapping[str, Sequence[int] | Sequence[str]]) -> None:
        """From now on, draw `level`, `revolts` or `secured` of games without a scenario from these lists."""
        changes: dict[str, Any] = {**lists, "task": None}
        self.options = [one if one.scenario else replace(one, **changes) for one in self.options]
        self._reset_config = self._reset_config._replace(set_ups=self._set_ups())

    def _set_ups(self) -> SetUps:
        return set_ups(self.options, 0 if self.partners is None else self.partners.lineups)

    def begin(self, seeds: batch.Seeds, rows: Rows | None = None) -> Floats:
        """Begin new games everywhere or in these rows; a seed determines all following games of its environment.

        A game that ends before the learner's first decision is followed by the next game.
        """
        where = self._rows if rows is None else rows
        rngs = rng_states(batch.seed_array(seeds, len(where)))
        self.episodes[where] = np.zeros(1, dtype=EPISODE)
        self.episodes["rng"][where] = rngs
        self.illegal_actions[where] = self._ignored[where] = 0
        begin_episodes(self.games, where, self.episodes, self._reset_config, self.masks, self._lineups)
        self._start(where)
        return self.observe()

    def _start(self, rows: Rows) -> None:
        """Prepare reward and partners for the new games in these rows, and let the partners play up to the learner's first decision."""
        self._begin_memory(rows)
        self._begin_reward(rows)
        games_begun = 0
        while self.partners is not None and len(rows):
            self.partners.begin(rows, self.episodes["rng"][rows], self._lineups[rows])
            self._play_partners(rows)
            rows, games_begun = rows[batch.is_over(self.games[rows])], games_begun + 1
            self.partners.check_progress(games_begun)
            self.episodes["rng"][rows] = rng_states(self.episodes["rng"][rows])
            begin_episodes(self.games, rows, self.episodes, self._reset_config, self.masks, self._lineups)
            self._begin_memory(rows)
            self._begin_reward(rows)

    def _begin_memory(self, rows: Rows) -> None:
        if self.local:
            self.local.begin(self.games, rows)

    def _begin_reward(self, rows: Rows) -> None:
        self.reward.begin(self.games, rows)
        if self._pays_each_emperor is None:
            self._pays_each_emperor = pays_each_emperor(self.reward, self.games)
            self.rewards = np.zeros((len(self.games), len(EMPERORS))) if self._pays_each_emperor else None
        elif self.rewards is not None:
            self.rewards[rows] = 0

    def advance(self, actions: NDArray[np.int64], idle: Flags | None = None) -> None:
        """Play one step in every game; in idle environments, whose game is finished, begin the next game instead."""
        chosen, idle = batch.checked_actions(actions, len(self.games)), self._none if idle is None else idle
        if find_illegal(chosen, self.masks, idle, self.illegal_actions):
            self._handle_illegal(chosen, np.flatnonzero(self.illegal_actions))
        self.begin_next(np.flatnonzero(idle))
        if self.local and self.local.message_tokens:
            played = np.flatnonzero(~idle & (self.illegal_actions == 0))
            self.local.say(self.games, played, chosen[played])
        play_step(self.games, chosen, self.episodes, self.masks, idle, self.illegal_actions)
        if self.local:
            self.local.update(self.games)
        if self.rewards is not None:
            self.rewards[:] = 0
        self.episodes["reward"] = self._last_rewards(None if idle is self._none else ~idle)
        if self.partners is not None:
            self.partners.records["decisions"] += ~idle & (self.illegal_actions == 0)
            self._play_partners(np.flatnonzero(~idle), pays=True)
            self.episodes["ended"] |= ~idle & batch.is_over(self.games)
        self.episodes["total"] += self.episodes["reward"]

    def _last_rewards(self, played: Flags | None = None) -> NDArray[np.float64]:
        """Return the learner's reward for what was just played in each game, and add each Emperor's to `rewards`.

        Args:
            played: in which games something was played; `None`: in all. The others get 0.
        """
        amounts = step_rewards(self.reward, self.games)
        if played is not None:
            amounts = np.where(played if amounts.ndim == 1 else played[:, np.newaxis], amounts, 0)
        if amounts.ndim == 1:
            return amounts
        if self.rewards is not None:
            self.rewards += amounts
        own: NDArray[np.float64] = amounts.mean(axis=1) if self.partners is None else amounts[self._rows, self.partners.seats]
        return own

    def _play_partners(self, rows: Rows, *, pays: bool = False) -> None:
        """Let the partners decide in these rows until the learner must decide or the game is over; pay the learner if `pays`."""
        while self.partners is not None and len(rows := waiting_for_partner(self.games, rows, self.partners.seats)):
            actions = self.partners.act(self.games[rows], self.masks[rows], rows, self._observed_by_partners)
            if self.local:
                self.local.say(self.games, rows, actions)
            play_rows(self.games, rows, actions, self.masks)
            if self.local:
                self.local.update(self.games)
            if pays:
                played = self._none.copy()
                played[rows] = True
                self.episodes["reward"] += self._last_rewards(played)

    def _observed_by_partners(self, rows: Rows) -> Floats:
        games, viewers = self.games[rows], batch.agents_to_act(self.games[rows])
        return self.local.select(rows).observe(games, viewers) if self.local else batch.observe_unchecked(games, viewers)

    def begin_next(self, rows: Rows) -> None:
        """Begin the next game in these rows, in which one ended."""
        if len(rows):
            self._encode(rows, self._final_obs)
            begin_next_episodes(self.games, rows, self.episodes, self._reset_config, self.masks, self._lineups)
            self.illegal_actions[rows] = self._ignored[rows] = 0
            self._start(rows)

    def _handle_illegal(self, actions: NDArray[np.int64], rows: Rows) -> None:
        """Apply the rule for illegal actions to these rows; ids outside the action space always raise."""
        if not self.episodes["rng"].all():
            raise TetrarchiaError("no game is running: reset the environment first")
        unknown = rows[(actions[rows] < 0) | (actions[rows] >= self.masks.shape[1])]
        if self.illegal == "raise" or len(unknown):
            row = int([*unknown, *rows][0])
            raise TetrarchiaError(batch.illegal_action_message(int(actions[row]), self.masks[row], f"in game {row}"))
        self._ignored[rows] += 1
        apply_illegal(self.games, self.masks, rows, self._ignored[rows], self.illegal)

    def status(self) -> NDArray[np.int64]:
        """Return Emperors to act, outcome codes, scores (R9.3; with `view_radius` 0 until the end) and finished turns, shape (4, n)."""
        status = np.empty((4, len(self.games)), dtype=np.int64)
        read_status(self.games, status)
        if self.local:
            status[2] *= status[1] != RUNNING
        return status

    def legal(self) -> Masks:
        """Return a copy of the masks; for a finished game only `end` is set, so that a library can sample, without effect."""
        masks = self.masks.copy()
        masks[:, END] |= batch.is_over(self.games)
        return masks

    @property
    def obs(self) -> Floats:
        """The observations of the Emperors to act."""
        return self._obs[0]

    @property
    def final_obs(self) -> Floats:
        """The last observation of the games that the last step ended; other rows are older."""
        return self._final_obs

    def draw(self) -> tuple[Drawing, ...] | None:
        """Return a drawing of each game in the render mode."""
        return tuple(draw_as(self.render_mode, snapshot(game)) for game in self.games) if self.render_mode else None

    def state(self) -> dict[str, NDArray[np.uint8]]:
        """Return everything that determines the games to come, except the arguments: rows of bytes by name."""
        arrays = {name: getattr(self, name) for name in STATE}
        if self.partners is not None:
            arrays["partners"] = self.partners.records  # what the agents remember themselves is not included
        if self.local and self.local.last_seen:
            arrays["local"] = self.local.records
        if self.local and self.local.message_tokens:
            arrays["messages"] = self.local.messages
        return {name: array.view(np.uint8).reshape(len(array), -1).copy() for name, array in arrays.items()}

    def set_state(self, state: Mapping[str, NDArray[np.uint8]]) -> None:
        """Continue from a state; raise TetrarchiaError, and change nothing, if it does not hold running games."""
        games, episodes = (records_from_bytes(state.get(name), kind, len(self.games), name) for name, kind in STATE.items())
        check_records(games, "games")
        check_limits(episodes, EPISODE_RANGES, "episodes")
        if batch.is_over(games).any():
            raise TetrarchiaError("games: one of them is over")
        if self.masks.shape[1] < ACTIONS and any(options_of(game).needs_all_actions for game in games):
            raise TetrarchiaError("games: one of them needs actions that actions='base' does not include")
        records = None
        if self.partners is not None:
            records = records_from_bytes(state.get("partners"), PARTNER, len(self.games), "partners")
            check_limits(records, {"lineup": (0, max(self.partners.lineups, 1) - 1), "decisions": COUNT}, "partners")
            if (batch.agents_to_act(games) != self.partners.seats).any():
                raise TetrarchiaError("games: one of them does not wait for a decision of the learner")
        memory = None
        if self.local and self.local.last_seen:
            memory = records_from_bytes(state.get("local"), LOCAL, len(self.games), "local")
            check_memory(memory, games, "local")
        messages = None
        if self.local and self.local.message_tokens:
            messages = records_from_bytes(state.get("messages"), MESSAGE, len(self.games), "messages")
            check_messages(messages, games, self.local.message_tokens, "messages")
        with self.thread_guard:
            if self.local and memory is not None:
                self.local.records[:] = memory
            if self.local and messages is not None:
                self.local.messages[:] = messages
            if self.partners is not None and records is not None:
                self.partners.records[:] = records
                self.partners.forget(np.arange(len(games)))
            self.games[:], self.episodes[:], self._ignored[:] = games, episodes, 0
            self.masks[:] = batch.legal_masks(games, self.local_options.message_tokens)[:, : self.masks.shape[1]]
            self._begin_reward(np.arange(len(games)))
            self.observe()

    def observe(self) -> Floats:
        """Compute and return the observations of the Emperors to act; with a seat always those of that Emperor."""
        self._obs = self._obs[1], self._obs[0]
        self.episodes["to_act"] = self._encode(self._rows, self.obs)
        return self.obs

    def _encode(self, rows: Rows, obs: Floats) -> NDArray[np.int64]:
        """Write the observations of the Emperors to act, or of the seat, in these rows; return the Emperors to act in all games."""
        to_act = batch.agents_to_act(self.games)
        viewers = to_act if self.partners is None else self.partners.seats
        if self.local:
            self.local.encode(self.games, rows, viewers, obs)
        else:
            encode_rows(self.games, rows, viewers, np.ndarray(len(obs), OBSERVATION, obs), obs)
        return to_act


def state_dtypes(local: LocalOptions) -> dict[str, np.dtype[Any]]:
    """Return the dtype of each part of `BatchedGames.state` without partners."""
    memory, messages = {"local": LOCAL} if local.last_seen else {}, {"messages": MESSAGE} if local.message_tokens else {}
    return STATE | memory | messages


def rule_sets(rules: Sequence[Mapping[str, Any]] | None, *arguments: Any) -> list[Options]:
    """Return the options of each set of rules, which override the arguments: values of all fields of `Options`, in their order."""
    defaults = dict(zip(Options.__dataclass_fields__, arguments, strict=True))
    return [Options.of(**{**defaults, **rule}) for rule in ([{}] if rules is None else rules)]


def _check_num_envs(num_envs: object, rules: int) -> None:
    if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or not 1 <= num_envs <= MAX_ENVS:
        raise TetrarchiaError(f"num_envs must be an integer from 1 to {MAX_ENVS}; got {num_envs!r}")
    if rules == 0 or num_envs % rules:
        raise TetrarchiaError(f"num_envs must be a multiple of the number of rules; got {num_envs} for {rules}")


def _num_actions(actions: str, rules: Sequence[Options], local: LocalOptions) -> int:
    if actions not in ("all", "base"):
        raise TetrarchiaError(f"actions must be 'all' or 'base'; got {actions!r}")
    for options in rules:
        if actions == "base" and options.needs_all_actions:
            raise TetrarchiaError(f"actions='base' does not include the actions of {', '.join([*options.variants, *options.modules])}")
    if actions == "base" and local.message_tokens:
        raise TetrarchiaError(f"actions='base' does not include messages; got message_tokens={local.message_tokens}")
    return BASE_ACTIONS if actions == "base" else local.actions


@jit
def begin_episodes(games: Games, rows: Rows, episodes: Views, config: ResetConfig, masks: Masks, lineups: NDArray[np.int64]) -> None:
    """Begin new games in these rows with the RNG states of their episodes."""
    for i in rows:
        lineups[i] = begin_episode(games, i, episodes[i], config, masks[i])


@jit
def begin_episode(games: Games, i: int, episode: Episode, config: ResetConfig, mask: Masks) -> int:
    """Begin a new game by the rules or from one of the initial states, with the RNG state of its episode; return its line-up."""
    rng = episode.rng
    choice = next_rng(rng ^ np.uint64(0x5851F42D4C957F2D))  # differs from every state that the dice of this game use
    if draw(choice, np.uint64(SHARE_SCALE)) < config.initial_state_share:
        games[i] = config.initial_states[draw(next_rng(choice), np.uint64(len(config.initial_states)))]
        lineup, games[i].dice = draw_lineup(config.set_ups, rng)
        episode.revolts, episode.secured = 0, 0
        legal(games[i], mask)
    else:
        episode.revolts, episode.secured, lineup = begin_game(games, i, config.set_ups, config.rule_index[i], rng, mask)
    return lineup


@jit
def find_illegal(actions: NDArray[np.int64], masks: Masks, idle: Flags, illegal: NDArray[np.int64]) -> int:
    """Write 1 where an action is illegal and the environment is not idle, else 0; return the number of illegal actions."""
    number = 0
    for i in range(len(actions)):
        illegal[i] = not (idle[i] or (0 <= actions[i] < masks.shape[1] and masks[i, actions[i]]))
        number += illegal[i]
    return number


@jit
def play_step(games: Games, actions: NDArray[np.int64], episodes: Views, masks: Masks, idle: Flags, illegal: NDArray[np.int64]) -> None:
    """Play one step in every game that is not idle; an illegal action counts as a step but is not played."""
    for i in range(len(games)):
        episodes[i].ended = 0
        if not idle[i]:
            if not illegal[i]:
                play(games[i], actions[i], masks[i])
            episodes[i].steps += 1
            episodes[i].ended = games[i].phase == OVER


@jit
def waiting_for_partner(games: Games, rows: Rows, seats: NDArray[np.int64]) -> Rows:
    """Return the rows in which another Emperor than the learner's decides."""
    waiting, number = np.empty_like(rows), 0
    for i in rows:
        if games[i].phase != OVER and agent_to_act(games[i]) != seats[i]:
            waiting[number] = i
            number += 1
    return waiting[:number]


@jit
def play_rows(games: Games, rows: Rows, actions: NDArray[np.int64], masks: Masks) -> None:
    """Play one legal action in each of these rows."""
    for place, i in enumerate(rows):
        play(games[i], actions[place], masks[i])


@jit
def begin_next_episodes(games: Games, rows: Rows, episodes: Views, config: ResetConfig, masks: Masks, lineups: NDArray[np.int64]) -> None:
    """Begin the next game in these rows; keep the statistics of the game that ended."""
    for i in rows:
        end_episode(games[i], episodes[i])
        episodes[i].rng = rng_states(episodes["rng"][i : i + 1])[0]
        lineups[i] = begin_episode(games, i, episodes[i], config, masks[i])


@jit
def end_episode(game: GameRecord, episode: Episode) -> None:
    """Store the statistics of the game that ended, and reset the counters."""
    episode.outcome, episode.score, episode.turn = game.outcome, score(game), game.turn
    for digit in range(4):
        episode.level[digit] = game.level[digit]
    episode.final_revolts, episode.final_secured = episode.revolts, episode.secured
    episode.final_total, episode.final_steps = episode.total, episode.steps
    episode.total, episode.steps = 0.0, 0


@jit
def encode_rows(games: Games, rows: Rows, viewers: NDArray[np.int64], views: Views, flat: Floats) -> None:
    """Write the full observations of the viewers in these rows."""
    for i in rows:
        flat[i, :] = 0
        encode(games[i], viewers[i], views[i])


@jit
def read_status(games: Games, status: NDArray[np.int64]) -> None:
    """Write rows of Emperors to act, outcomes, scores and turns."""
    for i in range(len(games)):
        status[0, i], status[1, i] = agent_to_act(games[i]), games[i].outcome
        status[2, i], status[3, i] = score(games[i]), games[i].turn
