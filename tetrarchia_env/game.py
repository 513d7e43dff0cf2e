"""One game as an object: it plays, copies and draws itself, and goes to snapshots and replays and back."""

import secrets
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch
from tetrarchia_env.agent import Agent, agent_rngs, agent_streams, ask, begin_games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import SingleThreadGuard, checked_seed
from tetrarchia_env.engine.state import OUTCOMES, PHASES
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import narrate
from tetrarchia_env.notation import Replay, Snapshot, action_id, action_text, options_of, record_replay, restore, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

HERE = np.array([0])  # the number of an only game


class Game:
    """One game of TETRARCHIA; the arguments are those of `Options`, and the seed fixes every die.

    >>> game = Game(level="4200", seed=7)
    >>> game
    <Game at level 4200, seed 7: turn 0, diocletian decides in the phase fleets>
    >>> game.play("fleet INTERNVM")
    ('diocletian places a fleet in INTERNVM',)
    >>> game.play("fleet AEGAEVM")
    ('diocletian places a fleet in AEGAEVM', 'diocletian arrives in ROMA')
    >>> before = game.copy()
    >>> game.play("move ETRVRIA")
    ('diocletian moves to ETRVRIA (1 IP)',)
    >>> before.snapshot()["ip"], game.snapshot()["ip"]
    (6, 5)
    """

    def __init__(self, *, seed: int | None = None, **arguments: Any) -> None:
        self.options = Options.of(("seed",), **arguments)
        self.seed: int | None = secrets.randbits(32) if seed is None else checked_seed(seed)
        self._games, self._masks = batch.new_games(self.options, self.seed)
        self._begin()

    def _begin(self) -> None:
        self._actions: list[int] = []
        self._story: tuple[str, ...] = ()
        self._dice = ""
        self._agent_stream = agent_streams(int(self._games["dice"][0]) if self.seed is None else self.seed)
        self._asked: list[Agent] = []
        self._thread_guard = SingleThreadGuard()

    @property
    def agent(self) -> str:
        """The Emperor who decides now; after the end the one whose turn it was."""
        return EMPERORS[int(batch.agents_to_act(self._games)[0])]

    @property
    def turn(self) -> int:
        """How many turns are finished."""
        return int(self._games["turn"][0])

    @property
    def outcome(self) -> str:
        """`running`, `won`, `rome fell`, `reserve empty` or `truncated` (R9)."""
        return OUTCOMES[self._games["outcome"][0]]

    @property
    def is_over(self) -> bool:
        """Whether nobody has anything to decide any more."""
        return self.outcome != OUTCOMES[0]

    @property
    def score(self) -> int:
        """R9.3."""
        return int(self.snapshot()["score"])

    @property
    def legal_actions(self) -> list[str]:
        """What the Emperor to act may choose from, as `play` takes it; nothing when the game is over.

        >>> Game(level="4200", seed=7).legal_actions
        ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM']
        """
        return [action_text(int(action)) for action in np.flatnonzero(self._masks[0])]

    @property
    def action_mask(self) -> NDArray[np.int8]:
        """The same as a vector over all action ids."""
        mask: NDArray[np.int8] = self._masks[0].copy()
        return mask

    @property
    def observation(self) -> NDArray[np.float32]:
        """What the Emperor to act observes: docs/observation.md."""
        obs: NDArray[np.float32] = batch.observe(self._games)[0]
        return obs

    def play(self, action: str | int) -> tuple[str, ...]:
        """One decision, by its text or id, and all that follows by itself; what happened, in words.

        >>> Game(level="4200", seed=7).play("move THRACIA")
        Traceback (most recent call last):
        ValueError: 'move THRACIA' is not legal for diocletian now: choose from fleet ATLANTICVM, fleet INTERNVM, fleet AEGAEVM
        """
        number = action_id(action) if isinstance(action, str) else _whole(action)
        with self._thread_guard:
            return self._play(number, action_text(number))

    def _play(self, number: int, text: str) -> tuple[str, ...]:
        if self.is_over:
            raise TetrarchiaError(f"the game is over ({self.outcome}): nothing can be played")
        if not self._masks[0, number]:
            raise TetrarchiaError(f"{text!r} is not legal for {self.agent} now: choose from {', '.join(self.legal_actions)}")
        story = narrate(self._games, number)
        batch.step(self._games, np.array([number]), self._masks)
        self._actions.append(number)
        self._story, self._dice = story.lines, story.dice or self._dice
        return story.lines

    def ask(self, agent: Agent) -> str:
        """Return the action that an agent would play now, as text.

        The agent receives a copy with other dice, which depend on the game's seed and the number of actions played: asking
        twice gives the same answer, and `rollout`, `tetrarchia watch` and `tetrarchia eval` play the same game with this seed.
        """
        if self.is_over:
            raise TetrarchiaError(f"the game is over ({self.outcome}): there is nothing to ask")
        if not any(known is agent for known in self._asked):
            self._asked.append(agent)
            begin_games(agent, HERE)
        rngs = agent_rngs(self._agent_stream, np.array([len(self._actions)]))
        return action_text(int(ask(agent, self._games, self._masks, HERE, rngs)[0]))

    def play_turn(self, agent: Agent) -> tuple[str, ...]:
        """Let an agent decide everything to the end of the turn, or of the game; what happened, in words."""
        turn = self.turn
        story: list[str] = []
        while not self.is_over and self.turn == turn:
            story += self.play(self.ask(agent))
        return tuple(story)

    def copy(self) -> Self:
        """An independent copy: undo by keeping one."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._games, other._masks = self._games.copy(), self._masks.copy()
        other._actions, other._asked, other._thread_guard = list(self._actions), [], SingleThreadGuard()
        return other

    def reseed(self, seed: int) -> None:
        """New dice from here on: a planner's copy must not show the dice to come. The game has no replay then."""
        batch.reseed(self._games, seed)
        self.seed, self._agent_stream = None, agent_streams(seed)

    def snapshot(self) -> Snapshot:
        """The whole game as plain JSON data; `Game.restore` makes the same game of it.

        >>> game = Game(level="4211", seed=3)
        >>> Game.restore(game.snapshot()).snapshot() == game.snapshot()
        True
        """
        return snapshot(self._games)

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Self:
        """The game that a snapshot tells of; ValueError in one sentence if there can be no such game."""
        game = cls.__new__(cls)
        game._games = restore(snapshot)
        game._masks = batch.legal_masks(game._games)
        game.options, game.seed = options_of(game._games[0]), None
        game._begin()
        return game

    def replay(self) -> Replay:
        """The game so far, to be saved (`replay().save("game.json")`), watched or analysed; not of a game begun from a snapshot."""
        if self.seed is None:
            raise TetrarchiaError("a game that was restored or reseeded has no replay: one begins with a seed")
        return record_replay(self.options, self.seed, self._actions)

    @classmethod
    def from_replay(cls, replay: Replay, actions: int | None = None) -> Self:
        """The game of a replay after so many actions, or after all.

        >>> game = Game(level="4200", seed=7)
        >>> _ = game.play("fleet INTERNVM")
        >>> Game.from_replay(game.replay()).snapshot() == game.snapshot()
        True
        """
        game = cls(seed=replay.seed, **replay.options.arguments())
        for _, text in replay.actions[:actions]:
            game.play(text)
        return game

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        level = "".join(map(str, self._games["level"][0]))
        now = self.outcome if self.is_over else f"{self.agent} decides in the phase {PHASES[self._games['phase'][0]]}"
        return f"<Game at level {level}{seed}: turn {self.turn}, {now}>"

    def __str__(self) -> str:
        return draw_text(self.snapshot(), story=self._story, dice=self._dice)

    def _repr_svg_(self) -> str:
        """The board in a notebook."""
        return draw_svg(self.snapshot(), story=self._story, dice=self._dice)


def _whole(action: object) -> int:
    """An id; not 8.9, nor True."""
    if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
        raise TetrarchiaError(f"an action is a text or a whole number, not {action!r}")
    return int(action)
