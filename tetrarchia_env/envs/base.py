"""The base of the single-game environments: a game with its rewards and rendering, shared by the AEC and the Gymnasium API."""

import copy
import itertools
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch, notation
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.state import GAME, OVER, RUNNING
from tetrarchia_env.engine.turn import play
from tetrarchia_env.envs.partners import Partners
from tetrarchia_env.envs.rewards import Reward, make_reward, step_rewards
from tetrarchia_env.envs.spaces import check_mask, check_render_mode
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import EventLog, known_lines
from tetrarchia_env.game import ROW_0, GameState
from tetrarchia_env.local_view import LocalOptions, LocalViews
from tetrarchia_env.notation import Snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.render.modes import Drawing, draw_as
from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.window import Window

VIEWERS = tuple(np.array([emperor]) for emperor in range(len(EMPERORS)))


class BaseEnv(GameState):
    """A game, its legal actions, reward and rendering.

    Copies, deep copies and pickles are exact, except that a window is not copied.
    """

    metadata: ClassVar[dict[str, Any]]

    def __init__(
        self,
        options: Options,
        reward: str | Reward,
        gamma: float,
        local_options: LocalOptions,
        render_mode: str | None,
        mask: str,
        partners: Partners | None,
    ) -> None:
        super().__init__()
        self.options = options
        self.local_options = local_options
        self.local = None if local_options.view_radius is None else LocalViews(local_options, 1)
        self.partners = partners
        if partners is not None:
            partners.check_local(local_options)
        self.reward = make_reward(reward, gamma)
        self.pays_every_step = not getattr(self.reward, "terminal_only", False)
        self.render_mode = check_render_mode(render_mode)
        self.mask_in = check_mask(mask)
        self.position = np.zeros(1, dtype=GAME)
        self.position["phase"] = OVER  # until the first reset
        self.masks = np.zeros((1, local_options.actions), dtype=np.int8)
        self.window = Window()
        self.events = EventLog(local_options.message_tokens)  # recorded only with a render mode

    def begin(self, seed: int) -> None:
        """Begin a new game in place; with partners at the learner's first decision, if need be that of a later game."""
        for games_begun in itertools.count(1):
            self._clear()
            lineups = batch.reset(self.position, self.options, seed, self.masks, self.partners.lineups if self.partners else 0)
            if self.local:
                self.local.begin(self.position, ROW_0)
            self.reward.begin(self.position, ROW_0)
            if self.partners is None:
                return
            rngs = batch.rng_states(batch.seed_array(seed))
            self.partners.begin(ROW_0, rngs, lineups)
            if not self._play_partners(0.0)[0]:
                return
            self.partners.check_progress(games_begun)
            seed = int(rngs[0])  # of the next game, as in the vector environments

    def play(self, action: int) -> tuple[bool, Any]:
        """Play a legal action in place, and the decisions of the partners that follow.

        Returns:
            Whether the game is over, and the sum of the rewards since the action: a number, or one per Emperor, shape (4,).
        """
        is_over = self._play_one(action)
        paid = step_rewards(self.reward, self.position)[0] if is_over or self.pays_every_step else 0.0
        if self.partners is None:
            return is_over, paid
        self.partners.records["decisions"] += 1
        return self._play_partners(paid)

    def _play_partners(self, paid: Any) -> tuple[bool, Any]:
        """Let the partners decide until the learner must decide or the game is over; add the rewards to `paid`, as `play` does."""
        is_over = bool(self.position["phase"][0] == OVER)
        while self.partners is not None and not is_over and self.status()[0] != self.partners.seats[0]:
            self.auto_render()
            [action] = self.partners.act(self.position, self.masks, ROW_0, lambda _: self.observed_by(self.status()[0])[np.newaxis])
            is_over = self._play_one(int(action))
            if is_over or self.pays_every_step:
                paid = paid + step_rewards(self.reward, self.position)[0]
        return is_over, paid

    def _play_one(self, action: int) -> bool:
        if self.render_mode:
            self.events.record(self.position, action)
        if self.local:
            self.local.say(self.position, ROW_0, np.array([action]))
        is_over = _play(self.position, action, self.masks)
        if self.local:
            self.local.update(self.position)
        return is_over

    def status(self) -> tuple[int, int, int, int]:
        """Return the Emperor to act, the outcome code, the score (with `view_radius` 0 until the end) and the finished turns."""
        status = super().status()
        return (*status[:2], 0, status[3]) if self.local and status[1] == RUNNING else status

    def check_running(self) -> None:
        """Raise TetrarchiaError before the first reset and after the end of a game."""
        if not self.masks.any():
            raise TetrarchiaError("no game is running: reset the environment first")

    def check_legal(self, action: object) -> None:
        """Raise TetrarchiaError unless `action` is the id of a legal action of a running game."""
        if not self.is_legal(action):
            self.check_running()
            super().check_legal(action)

    def observed_by(self, emperor: int) -> NDArray[np.float32]:
        """Return the observation of this Emperor."""
        if self.local:
            obs = np.empty(self.local_options.size, dtype=np.float32)
            self.local.encode(self.position, ROW_0, VIEWERS[emperor], obs[np.newaxis])
            return obs
        return self.fully_observed_by(emperor)

    def fully_observed_by(self, emperor: int) -> NDArray[np.float32]:
        """Return the full observation of this Emperor, whatever the view radius."""
        obs: NDArray[np.float32] = batch.observe_unchecked(self.position, VIEWERS[emperor])[0]
        return obs

    def render(self, view: str | None = None) -> Drawing | None:
        """Return the game as text, pixels or SVG, depending on the render mode; `human` shows it in the window.

        Args:
            view: An Emperor, to show only what he knows (R14); `None` shows the whole board. It needs `view_radius`.

        Raises:
            TetrarchiaError: There is no such Emperor, or the environment has no `view_radius`.
        """
        if self.render_mode is None:
            return None
        snapshot, story, dice = self.snapshot(), self.events.lines, self.events.dice
        if view is not None:
            if self.local is None:
                raise TetrarchiaError(f"view {view!r} needs view_radius; got view_radius=None, with which every Emperor sees everything")
            snapshot, dice = notation.visible_snapshot(self.position, view, self.local), ""
            story = known_lines(story, snapshot)
        if self.render_mode == "human":
            self.window.show(draw_rgb(snapshot, story=story, dice=dice, width=self.window.width))
            return None
        return draw_as(self.render_mode, snapshot, story=story, dice=dice)

    def auto_render(self, *, begins: bool = False) -> None:
        """Render after a reset or step in the mode `human`.

        A new game opens the window, and each step is shown while it is open: a planner's copy, which has no window, shows nothing.
        """
        if self.window.is_open or (begins and self.render_mode == "human"):
            self.render()
            self.window.hold(1 / self.metadata["render_fps"])

    def _repr_svg_(self) -> str | None:
        """Return the board for a notebook; `None` before the first reset."""
        if not self.position["level"].any():
            return None
        return draw_svg(self.snapshot(), story=self.events.lines, dice=self.events.dice)

    def close(self) -> None:
        """Close the window."""
        self.window.close()

    def _clear(self) -> None:
        """Discard what belongs to the previous game."""
        self.events.clear()

    def snapshot(self) -> Snapshot:
        """Return the whole game as plain JSON data, with `last_seen` also the Emperors' memory, with messages also the last ones."""
        if not self.position["level"].any():
            self.check_running()
        has_data = self.local and (self.local.last_seen or self.local.message_tokens)
        return super().snapshot() | ({"local": notation.local_data(self.position, self.local)} if self.local and has_data else {})

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot by the rules that it names, or by this environment's rules if it names none.

        With partners, they decide until the learner must decide or the game is over.
        """
        rules = self.options.rules()
        if self.options.draws_level:
            rules["level"] = self.options.level_names[0]
        self.position = notation.restore({"rules": rules, **snapshot})
        self.masks = batch.legal_masks(self.position, self.local_options.message_tokens)
        if self.local:
            notation.restore_local(snapshot, self.position, self.local)
        self.reward.begin(self.position, ROW_0)
        self._clear()
        if self.partners is not None:  # the line-up stays; the agents' randomness is that of `Game.restore`
            self.partners.begin(ROW_0, batch.rng_states(self.position["dice"]), self.partners.records["lineup"])
            self._play_partners(0.0)

    def clone(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Replace the dice from here on, so that a planner's copy does not reveal future rolls."""
        with self.thread_guard:
            batch.reseed(self.position, seed)

    def legal_actions(self) -> list[int]:
        """Return the ids of the legal actions."""
        return [int(action) for action in np.flatnonzero(self.masks[0])]

    action_text = staticmethod(notation.action_text)
    action_id = staticmethod(notation.action_id)


@jit
def _play(games: batch.Games, action: int, masks: batch.Masks) -> bool:
    play(games[0], action, masks[0])
    return bool(games[0].phase == OVER)
