"""Many games behind an environment, each begun anew when it ends: what the vector faces share.

One compiled call plays a step in every game, rewards it, begins the next game where one ended, and writes what the
Emperors to act see. Observations alternate between two arrays: one stays as it is until the step after the next.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.engine.dice import draw, next_rng, rng_states
from tetrarchia_env.engine.legal import legal
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.rewards import mean_title, potential, shared_reward
from tetrarchia_env.engine.state import GAME, OVER, Game
from tetrarchia_env.engine.turn import agent_to_act, play
from tetrarchia_env.notation import Snapshot, options_of, restore, snapshot
from tetrarchia_env.observation import OBSERVATION, SIZE, encode
from tetrarchia_env.options import Options
from tetrarchia_env.render.modes import Drawing, draw_as
from tetrarchia_env.spaces import check_render_mode_of_many, reward_kind

LANE = np.dtype(
    (
        np.record,
        [
            ("rng", np.uint64),  # the one that its game began with; the next game's comes from it
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
Lane = Any  # a record of LANE
Views = NDArray[np.void]
Floats = NDArray[np.float32]
ALSO = ("num_envs", "actions", "starts", "start_share", "reward", "render_mode")
WHOLE = 1 << 20  # start_share 1 in whole numbers


class Setting(NamedTuple):
    """How the games of all lanes begin and are rewarded."""

    template: batch.Games  # an array of one: the rules in force
    levels: NDArray[np.int8]
    draws_level: bool
    starts: batch.Games
    start_share: int  # of WHOLE
    reward_kind: int


class ManyGames:
    """Games in lanes. `starts`: snapshots that a share of the games begin from, with new dice."""

    def __init__(
        self,
        num_envs: int,
        *,
        actions: str = "all",
        starts: Sequence[Snapshot] = (),
        start_share: float = 1.0,
        reward: str = "outcome",
        render_mode: str | None = None,
        **arguments: Any,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs is a whole number from 1 on, not {num_envs!r}")
        self.options = Options.of(ALSO, **arguments)
        self.reward_kind = reward_kind(reward)
        self.render_mode = check_render_mode_of_many(render_mode)
        self.games = np.zeros(num_envs, dtype=GAME)
        self.masks = np.zeros((num_envs, _width(actions, self.options)), dtype=np.int8)
        self.lanes = np.zeros(num_envs, dtype=LANE)
        self._finals = np.zeros(num_envs, dtype=OBSERVATION)
        self._views = (np.zeros(num_envs, dtype=OBSERVATION), np.zeros(num_envs, dtype=OBSERVATION))
        self.set_starts(starts, start_share)

    def set_starts(self, starts: Sequence[Snapshot], share: float = 1.0) -> None:
        """From now on, begin this share of the games from these snapshots."""
        if not 0 <= share <= 1:
            raise ValueError(f"start_share is from 0 to 1, not {share!r}")
        games = [restore(start) for start in starts]
        for game in games:
            if game["phase"][0] == OVER:
                raise ValueError("starts: a snapshot is of a finished game")
            if self.masks.shape[1] < ACTIONS and options_of(game[0]).needs_all_actions:
                raise ValueError("starts: a snapshot needs more actions than actions='base' has")
        self._setting = Setting(
            self.options.template,
            self.options.levels,
            self.options.draws_level,
            np.concatenate(games) if games else np.zeros(0, dtype=GAME),
            int(share * WHOLE) if games else 0,
            self.reward_kind,
        )

    def begin(self, seeds: batch.Seeds) -> Floats:
        """New games in all lanes; the seed of a lane fixes all its games from here on."""
        self.lanes[:] = np.zeros(1, dtype=LANE)
        self.lanes["rng"] = rng_states(batch.seed_array(seeds))
        _begin(self.games, self.lanes, self._setting, self.masks)
        return self._observe()

    def play(self, actions: NDArray[np.int64]) -> Floats:
        """One step in every lane; an illegal action leaves all of them untouched."""
        illegal = _play(self.games, actions, self.lanes, self._setting, self.masks, self._finals, _flat(self._finals))
        if illegal >= 0:
            legal_ids = np.flatnonzero(self.masks[illegal]).tolist()
            raise ValueError(f"action {int(actions[illegal])} is not legal in game {illegal}: choose one of {legal_ids}")
        return self._observe()

    @property
    def finals(self) -> Floats:
        """What was last seen of the games that the last step ended; other rows are older."""
        return _flat(self._finals)

    def draw(self) -> tuple[Drawing, ...] | None:
        """Each game as the render mode says."""
        return tuple(draw_as(self.render_mode, snapshot(game)) for game in self.games) if self.render_mode else None

    def _observe(self) -> Floats:
        self._views = self._views[1], self._views[0]
        _observe(self.games, self.lanes, self._views[0], _flat(self._views[0]))
        return _flat(self._views[0])


def _width(actions: str, options: Options) -> int:
    """How many action ids there are."""
    if actions not in ("all", "base"):
        raise ValueError(f"actions is 'all' or 'base', not {actions!r}")
    if actions == "base" and options.needs_all_actions:
        raise ValueError(f"actions='base' is not enough for {[*options.variants, *options.modules]}")
    return BASE_ACTIONS if actions == "base" else ACTIONS


def _flat(views: Views) -> Floats:
    return views.view(np.float32).reshape(len(views), SIZE)


@jit
def _begin(games: batch.Games, lanes: Views, setting: Setting, masks: batch.Masks) -> None:
    for i in range(len(games)):
        begin_lane(games, i, lanes[i].rng, setting, masks[i])


@jit
def begin_lane(games: batch.Games, i: int, rng: np.uint64, setting: Setting, mask: batch.Masks) -> None:
    """A new game by the rules, or from one of the starts; its dice come from the RNG state."""
    choice = next_rng(rng ^ np.uint64(0x5851F42D4C957F2D))  # not a state that its dice will meet
    if draw(choice, np.uint64(WHOLE)) < setting.start_share:
        games[i] = setting.starts[draw(next_rng(choice), np.uint64(len(setting.starts)))]
        games[i].dice = rng
        legal(games[i], mask)
    else:
        games[i] = setting.template[0]
        batch.begin_at_level(games[i], setting.levels, setting.draws_level, rng, mask)


@jit
def _play(
    games: batch.Games,
    actions: NDArray[np.int64],
    lanes: Views,
    setting: Setting,
    masks: batch.Masks,
    finals: Views,
    flat_finals: Floats,
) -> int:
    """The first lane whose action is illegal, or -1."""
    for i in range(len(games)):
        if not (0 <= actions[i] < masks.shape[1] and masks[i, actions[i]]):
            return i
    for i in range(len(games)):
        reward_step(games[i], actions[i], lanes[i], setting.reward_kind, masks[i])
        if lanes[i].ended:
            flat_finals[i, :] = 0
            encode(games[i], agent_to_act(games[i]), finals[i])
            close_lane(games[i], lanes[i])
            lanes[i].rng = rng_states(lanes["rng"][i : i + 1])[0]
            begin_lane(games, i, lanes[i].rng, setting, masks[i])
    return -1


@jit
def reward_step(game: Game, action: int, lane: Lane, kind: int, mask: batch.Masks) -> None:
    """One step of one game, and what it is worth."""
    before = potential(game)
    play(game, action, mask)
    lane.reward = shared_reward(game, kind, before) + mean_title(game, kind)
    lane.total += lane.reward
    lane.steps += 1
    lane.ended = game.phase == OVER


@jit
def close_lane(game: Game, lane: Lane) -> None:
    """Keep what is told of the game that ended, and count anew."""
    lane.outcome, lane.score, lane.turn = game.outcome, score(game), game.turn
    for digit in range(4):
        lane.level[digit] = game.level[digit]
    lane.final_total, lane.final_steps = lane.total, lane.steps
    lane.total, lane.steps = 0.0, 0


@jit
def _observe(games: batch.Games, lanes: Views, views: Views, flat: Floats) -> None:
    for i in range(len(games)):
        flat[i, :] = 0
        lanes[i].to_act = agent_to_act(games[i])
        encode(games[i], lanes[i].to_act, views[i])
