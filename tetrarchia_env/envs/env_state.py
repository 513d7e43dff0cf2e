"""The state behind one environment: a game, its legal actions and its reward, shared by the AEC and the Gymnasium API."""

import copy
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch, notation
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import SingleThreadGuard
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import GAME, OVER
from tetrarchia_env.engine.turn import agent_to_act, play
from tetrarchia_env.envs.rewards import GloryReward, OutcomeReward, Reward, ScoreReward, make_reward
from tetrarchia_env.envs.spaces import check_mask, check_render_mode
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import EventLog
from tetrarchia_env.options import Options
from tetrarchia_env.render.modes import Drawing, draw_as
from tetrarchia_env.render.raster import draw_rgb
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.window import Window

AT_THE_END = (OutcomeReward, ScoreReward, GloryReward)  # these pay nothing before it

VIEWERS = tuple(np.array([emperor]) for emperor in range(len(EMPERORS)))


class EnvState:
    """A game, its legal actions and its rewards; copies, deep copies and pickles are exact, but a window is not copied."""

    metadata: ClassVar[dict[str, Any]]  # of the API
    also: ClassVar[tuple[str, ...]] = ()  # arguments of the API alone

    def __init__(
        self,
        *,
        reward: str | Reward = "outcome",
        gamma: float = 1.0,
        render_mode: str | None = None,
        mask: str = "observation",
        **arguments: Any,
    ) -> None:
        self.options = Options.of(("reward", "gamma", "render_mode", "mask", *self.also), **arguments)
        self.reward = make_reward(reward, gamma)
        self.render_mode = check_render_mode(render_mode)
        self.mask_in = check_mask(mask)
        self.game = np.zeros(1, dtype=GAME)
        self.game["phase"] = OVER  # until the first reset
        self.masks = np.zeros((1, ACTIONS), dtype=np.int8)
        self.window = Window()
        self.thread_guard = SingleThreadGuard()  # held by whoever steps, resets or restores
        self.events = EventLog()  # filled only if there is a render mode

    def begin(self, seed: int) -> None:
        """A new game."""
        self._forget()
        batch.reset(self.game, self.options, seed, self.masks)
        self.reward.begin(self.game)

    def play(self, action: int) -> float:
        """One action; the reward that all four share. An illegal one leaves the game untouched."""
        if not is_id(action) or not self.masks[0, action]:
            self.check_under_way()
            raise TetrarchiaError(self._refusal(action))
        if self.render_mode:
            self.events.record(self.game, action)
        is_over = _play(self.game, action, self.masks)
        return float(self.reward(self.game)[0]) if is_over or not isinstance(self.reward, AT_THE_END) else 0.0

    def check_under_way(self) -> None:
        """ValueError before the first reset and after the end of a game."""
        if not self.masks.any():
            raise TetrarchiaError("no game is under way: reset the environment first")

    def _refusal(self, action: object) -> str:
        given = self.action_text(action) if is_id(action) else action
        legal = ", ".join(self.action_text(legal) for legal in self.legal_actions())
        return f"{given!r} is not legal for {EMPERORS[self.status()[0]]} now: choose from {legal}"

    def status(self) -> tuple[int, int, int, int]:
        """Which Emperor decides, the outcome, the score (R9.3) and the turns finished so far."""
        return _status(self.game)

    def observed_by(self, emperor: int) -> NDArray[np.float32]:
        """What this Emperor observes."""
        obs: NDArray[np.float32] = batch.observe_own(self.game, VIEWERS[emperor])[0]
        return obs

    def render(self) -> Drawing | None:
        """The game as text, pixels or SVG, as the render mode says; `human` shows it in the window."""
        if self.render_mode == "human":
            self._show()
            return None
        return draw_as(self.render_mode, self.snapshot(), story=self.events.lines, dice=self.events.dice) if self.render_mode else None

    def _show(self) -> None:
        self.window.show(draw_rgb(self.snapshot(), story=self.events.lines, dice=self.events.dice, width=self.window.width))

    def show_unasked(self, *, begins: bool = False) -> None:
        """In the mode `human` every new game opens the window, and every step is shown while it is open.

        So a planner's copy, which has no window, shows nothing unless it is asked to.
        """
        if self.window.is_open or (begins and self.render_mode == "human"):
            self.render()
            self.window.hold(1 / self.metadata["render_fps"])

    def _repr_svg_(self) -> str | None:
        """The board in a notebook."""
        return draw_svg(self.snapshot(), story=self.events.lines, dice=self.events.dice) if self.game["level"].any() else None

    def close(self) -> None:
        """Close the window."""
        self.window.close()

    def _forget(self) -> None:
        self.events.clear()

    def snapshot(self) -> notation.Snapshot:
        """The whole game as JSON data."""
        if not self.game["level"].any():
            self.check_under_way()
        return notation.snapshot(self.game)

    def restore(self, snapshot: notation.Snapshot) -> None:
        """Go on from a snapshot, by the rules that it names (by this environment's, if it names none)."""
        rules = self.options.arguments()
        if self.options.draws_level:
            rules["level"] = self.options.level_names[0]
        self.game = notation.restore({"rules": rules, **snapshot})
        self.masks = batch.legal_masks(self.game)
        self.reward.begin(self.game)
        self._forget()

    def clone(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """New dice from here on, so that a planner's copy does not show the dice to come."""
        with self.thread_guard:
            batch.reseed(self.game, seed)

    def legal_actions(self) -> list[int]:
        """The ids that the agent to act may choose from."""
        return [int(action) for action in np.flatnonzero(self.masks[0])]

    action_text = staticmethod(notation.action_text)
    action_id = staticmethod(notation.action_id)


def is_id(action: object) -> TypeGuard[int]:
    """Whether this is the id of an action."""
    return isinstance(action, int | np.integer) and not isinstance(action, bool) and bool(0 <= action < ACTIONS)


@jit
def _status(games: batch.Games) -> tuple[int, int, int, int]:
    game = games[0]
    return agent_to_act(game), game.outcome, score(game), game.turn


@jit
def _play(games: batch.Games, action: int, masks: batch.Masks) -> bool:
    play(games[0], action, masks[0])
    return bool(games[0].phase == OVER)
