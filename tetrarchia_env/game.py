"""A game being played, as one object: play, undo, copy, draw, save and replay it."""

import copy
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tetrarchia_env import batch, notation
from tetrarchia_env.agent import Agent, agent_rngs, agent_streams, ask, begin_games
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.checks import SingleThreadGuard, checked_seed
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.outcome import score
from tetrarchia_env.engine.state import OUTCOMES, PHASES, RUNNING
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.events import Piece, known_lines, narrate_pieces
from tetrarchia_env.local_view import FULL_INFORMATION, LocalOptions, LocalViews
from tetrarchia_env.notation import Replay, Snapshot, action_id, action_text, options_of, record_replay
from tetrarchia_env.options import Options
from tetrarchia_env.render.frames import UNSEEN_ACTION, Frame
from tetrarchia_env.render.svg import draw_svg
from tetrarchia_env.render.text import draw_text

Policy = Callable[["Game"], str | int]  # returns the next action, as text or id
ROW_0 = np.array([0])  # the row of the only game in an array of one


class GameState:
    """A position and its legal actions: the state that `Game` and the single-game environments share.

    Attributes:
        position: the game as an array of one record, as `tetrarchia_env.batch` takes it
        masks: its legal actions, shape (1, 455), wider with messages (R14.7); all zero when the game is over
    """

    position: batch.Games
    masks: batch.Masks

    def __init__(self) -> None:
        self.thread_guard = SingleThreadGuard()  # held while the game is changed

    def status(self) -> tuple[int, int, int, int]:
        """Return the index of the Emperor to act, the outcome code, the score (R9.3) and the number of finished turns."""
        return _status(self.position)

    def is_legal(self, action: object) -> bool:
        """Return whether `action` is the id of a legal action."""
        if type(action) is not int and not isinstance(action, np.integer):
            return False
        return bool(0 <= action < self.masks.shape[1] and self.masks[0, action])

    def check_legal(self, action: object) -> None:
        """Raise TetrarchiaError unless `action` is the id of a legal action."""
        if not self.is_legal(action):
            agent, outcome, _, _ = self.status()
            if outcome != RUNNING:
                raise TetrarchiaError(f"the game is over ({OUTCOMES[outcome]}): no action is legal")
            raise TetrarchiaError(batch.illegal_action_message(action, self.masks[0], f"for {EMPERORS[agent]} now", action_text))

    def snapshot(self) -> Snapshot:
        """Return the whole game as plain JSON data.

        >>> game = Game(level="4211", seed=3)
        >>> Game.restore(game.snapshot()).snapshot() == game.snapshot()
        True
        """
        return notation.snapshot(self.position)


@dataclass(frozen=True)
class Move:
    """An action that was played and the events that followed."""

    agent: str
    action: int
    story: tuple[str, ...]
    dice: str  # of the last Barbarian phase


class Game(GameState):
    """A game of TETRARCHIA with its history.

    Args:
        level: four digits (R2.1), "4211" by default; or a list of levels, one of which is drawn
        variants: any names of `constants.VARIANTS` (R10)
        modules: any names of `constants.MODULES` (R11)
        scenario: carausian_revolt, danube_wars, mauretanian_war or great_persian_war (R12); sets level and modules
        fixed_setup: place the initial Revolts in province 3 of each region (R2.7)
        revolts: the number of initial Revolts, 0 to 6, or a list from which one is drawn per game (R2.8)
        secured: the number of borders secured from the beginning, 0 to 5, or a list likewise (R2.8)
        task: a name of `constants.TASKS`, which sets level, revolts and secured
        max_turns: truncate the game after this many turns
        seed: determines every die roll; `None` draws a random seed
        view_radius: `None`, or 0 to 12: agents that need observations observe only an Emperor's surroundings (R14)
        last_seen: with `view_radius`: spaces out of view show what was seen there last
        message_tokens: with `view_radius`: the number of tokens that an Emperor can say, which adds actions (R14.7)

    Attributes:
        options: the rules of the game
        local: the information of agents that need observations
        seed: the seed; `None` if the game was restored from a snapshot or reseeded
        positions: every position so far, each as an array of one record
        moves: the moves between them
        policy: chooses the next action when a frame after the last move is requested; `None` by default
        view: the Emperor whose view `frame` shows; `None`, the default, shows the whole board

    >>> game = Game(level="4200", seed=7)
    >>> game
    <Game at level 4200, seed 7: turn 0, diocletian decides in the phase fleets>
    >>> game.play("fleet INTERNVM")
    ('diocletian places a fleet in INTERNVM',)
    >>> game.play("fleet AEGAEVM")
    ('diocletian places a fleet in AEGAEVM', 'diocletian arrives in ROMA')
    >>> game.play("move ETRVRIA")
    ('diocletian moves to ETRVRIA (1 IP)',)
    >>> game.undo(), game.snapshot()["ip"]
    (True, 6)
    """

    def __init__(
        self,
        *,
        level: str | Sequence[str] | None = None,
        variants: Iterable[str] = (),
        modules: Iterable[str] = (),
        scenario: str | None = None,
        fixed_setup: bool = False,
        revolts: int | Sequence[int] = 6,
        secured: int | Sequence[int] = 0,
        task: str | None = None,
        max_turns: int = 400,
        seed: int | None = None,
        view_radius: int | None = None,
        last_seen: bool = False,
        message_tokens: int = 0,
    ) -> None:
        options = Options(level, variants, modules, scenario, fixed_setup, max_turns, revolts, secured, task)
        self._begin(options, seed, LocalOptions(view_radius, last_seen, message_tokens))

    def _begin(self, options: Options, seed: int | None, local: LocalOptions) -> None:
        seed = secrets.randbits(32) if seed is None else checked_seed(seed)
        self._start(options, seed, batch.new_games(options, seed, local.message_tokens)[0], local)

    def _start(self, options: Options, seed: int | None, position: batch.Games, local: LocalOptions = FULL_INFORMATION) -> None:
        super().__init__()
        self.options, self.seed, self.position, self.local = options, seed, position, local
        self.masks = batch.legal_masks(position, local.message_tokens)
        self.view: str | None = None
        self._memory: list[LocalViews] = []  # by number of actions, as far as it was needed
        self.positions, self.moves = [position], list[Move]()
        self._story, self._dice = tuple[str, ...](), ""  # of the last move
        self.policy: Policy | None = None
        self._agent_stream = agent_streams(int(position["dice"][0]) if seed is None else seed)
        self._asked: list[Agent] = []

    @classmethod
    def from_options(
        cls, options: Options, seed: int | None = None, policy: "Policy | None" = None, local: LocalOptions = FULL_INFORMATION
    ) -> Self:
        """Return a new game.

        Args:
            options: The rules of the game.
            seed: The seed of the dice; None draws a random one.
            policy: The function that `play_to_end` asks for each action; None for a game that is played by hand.
            local: The information of agents that need observations; message tokens add actions.
        """
        game = cls.__new__(cls)
        game._begin(options, seed, local)
        game.policy = policy
        return game

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Self:
        """Return a game that begins at a snapshot.

        Raises:
            TetrarchiaError: the snapshot is not a possible position.
        """
        game, position = cls.__new__(cls), notation.restore(snapshot)
        game._start(options_of(position[0]), None, position)
        return game

    @classmethod
    def from_replay(cls, replay: Replay, actions: int | None = None) -> Self:
        """Return the game of a replay.

        Args:
            replay: The recorded game.
            actions: Number of its actions to play; None plays all of them.

        Raises:
            TetrarchiaError: An action is not legal.

        >>> game = Game(level="4200", seed=7)
        >>> _ = game.play("fleet INTERNVM")
        >>> Game.from_replay(game.replay()).snapshot() == game.snapshot()
        True
        """
        game = cls.from_options(replay.options, replay.seed, local=replay.local)
        for _, text in replay.actions[:actions]:
            game.play(text)
        return game

    @property
    def agent(self) -> str:
        """The Emperor to act; after the end, the Emperor whose turn it was."""
        return EMPERORS[self.status()[0]]

    @property
    def turn(self) -> int:
        """The number of finished turns."""
        return self.status()[3]

    @property
    def outcome(self) -> str:
        """`running`, `won`, `rome fell`, `reserve empty` or `truncated` (R9)."""
        return OUTCOMES[self.status()[1]]

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return bool(self.status()[1] != RUNNING)

    @property
    def score(self) -> int:
        """The score of the position (R9.3)."""
        return self.status()[2]

    @property
    def legal_actions(self) -> list[str]:
        """The legal actions as texts; empty when the game is over.

        >>> Game(level="4200", seed=7).legal_actions
        ['fleet ATLANTICVM', 'fleet INTERNVM', 'fleet AEGAEVM']
        """
        return [action_text(int(action)) for action in np.flatnonzero(self.masks[0])]

    @property
    def action_mask(self) -> NDArray[np.int8]:
        """The legal actions as a vector over all action ids."""
        mask: NDArray[np.int8] = self.masks[0].copy()
        return mask

    @property
    def observation(self) -> NDArray[np.float32]:
        """The observation of the Emperor to act: see docs/observation.md and, with `view_radius`, docs/local_information.md."""
        obs: NDArray[np.float32] = self._observe()[0]
        return obs

    def _observe(self) -> NDArray[np.float32]:
        if self.local.view_radius is None:
            return batch.observe(self.position)
        return self._views(len(self.moves)).observe(self.position, batch.agents_to_act(self.position))

    def _views(self, number: int) -> LocalViews:
        """Return the Emperors' views after this number of actions, with what they remember."""
        while len(self._memory) <= number:
            played = len(self._memory)
            views = self._memory[-1].select(ROW_0) if played else LocalViews(self.local, 1)
            if played:
                views.say(self.positions[played - 1], ROW_0, np.array([self.moves[played - 1].action]))
            else:
                views.begin(self.positions[0], ROW_0)
            views.update(self.positions[played])
            self._memory.append(views)
        return self._memory[number]

    def visible_position(self, emperor: str) -> batch.Games:
        """Return a copy of the position without everything that an Emperor does not know (R14); it needs `view_radius`."""
        return self._views(len(self.moves)).visible_copy(self.position, EMPERORS.index(emperor))

    def views(self) -> LocalViews | None:
        """Return a copy of the Emperors' views of the current position, for agents elsewhere; `None` without `view_radius`."""
        return None if self.local.view_radius is None else self._views(len(self.moves)).select(ROW_0)

    def last_messages(self) -> dict[str, tuple[int, int]]:
        """Return the last token of each Emperor who said one, and the number of turns finished since (R14.7)."""
        if not self.local.message_tokens:
            return {}
        messages = self._views(len(self.moves)).messages[0]
        said = zip(EMPERORS, messages.token.tolist(), messages.turn.tolist(), strict=True)
        return {emperor: (token, self.turn - turn) for emperor, token, turn in said if token}

    def visible_snapshot(self, emperor: str | None, actions: int | None = None) -> Snapshot:
        """Return the part of the game that an Emperor knows (R14), for drawing; it cannot be restored.

        Args:
            emperor: The Emperor; `None` for what is public.
            actions: The number of actions after which; None for the current position.

        Raises:
            TetrarchiaError: There is no such Emperor, or the game has no `view_radius`.

        >>> game = Game(level="4200", seed=7, view_radius=1)
        >>> game.visible_snapshot("galerius")["view"]["spaces"]
        ['ROMA', 'ETRVRIA', 'LVCANIA']
        """
        if self.local.view_radius is None:
            raise TetrarchiaError(f"view {emperor!r} needs view_radius; got view_radius=None, with which every Emperor sees everything")
        number = len(self.moves) if actions is None else actions
        return notation.visible_snapshot(self.positions[number], emperor, self._views(number))

    def play(self, action: str | int) -> tuple[str, ...]:
        """Play one action and everything that follows from it until the next decision.

        Args:
            action: the text or the id of a legal action

        Returns:
            The events, in words.

        Raises:
            TetrarchiaError: the action is not legal; the game is unchanged.

        >>> Game(level="4200", seed=7).play("move THRACIA")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tetrarchia_env.errors.TetrarchiaError: action 'move THRACIA' is not legal for diocletian now: choose from fleet ATLANTICVM, ...
        """
        self.play_pieces(action)
        return self._story

    def play_pieces(self, action: str | int) -> tuple[Piece, ...]:
        """Play one action like `play`; return the decision and each Barbarian event with the position after it."""
        chosen = action_id(action) if isinstance(action, str) else action
        with self.thread_guard:
            self.check_legal(chosen)
            pieces = tuple(narrate_pieces(self.position, int(chosen), self.local.message_tokens))
            self._story = tuple(line for piece in pieces for line in piece.lines)
            self._dice = next((piece.dice for piece in reversed(pieces) if piece.dice), self._dice)
            self.moves.append(Move(self.agent, int(chosen), self._story, self._dice))
            self.position = self.position.copy()
            batch.step(self.position, np.array([chosen]), self.masks)
            self.positions.append(self.position)
        return pieces

    def _show_last(self) -> None:
        self.position = self.positions[-1]
        self.masks = batch.legal_masks(self.position, self.local.message_tokens)
        self._story, self._dice = (self.moves[-1].story, self.moves[-1].dice) if self.moves else ((), "")

    @property
    def can_undo(self) -> bool:
        """Whether the last action can be undone: no dice were rolled since, and it is still the same turn."""
        if not self.moves:
            return False
        before, after = self.positions[-2][0], self.position[0]
        return bool(before.dice == after.dice and before.turn == after.turn)

    def undo(self) -> bool:
        """Undo the last action if `can_undo`; return whether it was undone."""
        with self.thread_guard:
            if not self.can_undo:
                return False
            self.positions.pop()
            self.moves.pop()
            del self._memory[len(self.positions) :]
            self._show_last()
            return True

    def ask(self, agent: Agent) -> str:
        """Return the action that an agent would play now, as text.

        The agent receives a copy with other dice, which depend on the game's seed and the number of actions played: asking
        twice gives the same answer, and `rollout`, `tetrarchia watch` and `tetrarchia eval` play the same game with this seed.
        """
        if self.is_over:
            raise TetrarchiaError(f"the game is over ({self.outcome}): no action is legal")
        if not any(known is agent for known in self._asked):
            self._asked.append(agent)
            begin_games(agent, ROW_0)
        rngs = agent_rngs(self._agent_stream, np.array([len(self.moves)]))
        return action_text(int(ask(agent, self.position, self.masks, ROW_0, rngs, self._observe)[0]))

    def play_turn(self, agent: Agent) -> tuple[str, ...]:
        """Let an agent choose every action until the end of the turn or of the game; return the events, in words."""
        turn = self.turn
        story: list[str] = []
        while not self.is_over and self.turn == turn:
            story += self.play(self.ask(agent))
        return tuple(story)

    def frame(self, number: int, view: str | None = None) -> Frame:
        """Return the position after `number` actions with the move that led to it, or the last one if there are fewer.

        If `policy` is set, it plays on until that position is reached or the game ends.

        Args:
            number: The number of actions.
            view: An Emperor, to show only what he knows (R14); by default the attribute `view`.
        """
        while self.policy and len(self.moves) < number and not self.is_over:
            self.play(self.policy(self))
        number, view = min(number, len(self.moves)), view or self.view
        position = self.visible_snapshot(view, number) if view else notation.snapshot(self.positions[number])
        if number == 0:
            return Frame(0, position)
        move = self.moves[number - 1]
        if not view:
            return Frame(number, position, move.agent, action_text(move.action), move.story, move.dice)
        action = action_text(move.action) if move.agent == view else UNSEEN_ACTION
        return Frame(number, position, move.agent, action, known_lines(move.story, position))

    def frames(self, first: int = 0, view: str | None = None) -> Iterator[Frame]:
        """Yield the frames from number `first` on; with a `policy`, until the end of the game."""
        while (frame := self.frame(first, view)).number == first:
            yield frame
            first += 1

    def play_to_end(self) -> None:
        """Let `policy` play until the end of the game; without a policy do nothing."""
        while self.policy and not self.is_over:
            self.play(self.policy(self))

    def copy(self, actions: int | None = None) -> Self:
        """Return an independent copy of the game, or of the game after its first `actions` actions."""
        other, length = copy.copy(self), len(self.moves) if actions is None else actions
        other.positions, other.moves = [*self.positions[:length], self.positions[length].copy()], self.moves[:length]
        other._asked, other.thread_guard, other._memory = [], SingleThreadGuard(), self._memory[: length + 1]
        other._show_last()
        return other

    def reseed(self, seed: int) -> None:
        """Replace the dice from here on, so that a planner's copy does not reveal future rolls; the game then has no replay."""
        with self.thread_guard:
            self.position = self.positions[-1] = self.position.copy()
            batch.reseed(self.position, seed)
            self.seed, self._agent_stream = None, agent_streams(seed)

    def replay(self) -> Replay:
        """Return the game so far, to save (`replay().save("game.json")`), watch or analyse.

        Raises:
            TetrarchiaError: the game was restored or reseeded; a replay begins with a seed.
        """
        if self.seed is None:
            raise TetrarchiaError("a game that was restored or reseeded has no replay: a replay begins with a seed")
        return record_replay(self.options, self.seed, [move.action for move in self.moves], self.local)

    def __repr__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        level = "".join(map(str, self.position["level"][0]))
        now = self.outcome if self.is_over else f"{self.agent} decides in the phase {PHASES[self.position['phase'][0]]}"
        return f"<Game at level {level}{seed}: turn {self.turn}, {now}>"

    def __str__(self) -> str:
        return draw_text(self.snapshot(), story=self._story, dice=self._dice)

    def _repr_svg_(self) -> str:
        """Return the board for a notebook."""
        return draw_svg(self.snapshot(), story=self._story, dice=self._dice)


@jit
def _status(games: batch.Games) -> tuple[int, int, int, int]:
    game = games[0]
    return agent_to_act(game), game.outcome, score(game), game.turn
