"""A game that a person plays in the terminal: its frames so far, and the way back."""

from tetrarchia_env import batch
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.state import OVER
from tetrarchia_env.engine.turn import agent_to_act
from tetrarchia_env.events import narrate
from tetrarchia_env.notation import Replay, action_id, action_text, record_replay, snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.show import Frame


class Session:
    """The game, what was played, and the positions that may still be taken back."""

    def __init__(self, options: Options, seed: int) -> None:
        self._options = options
        self._seed = seed
        self._past: list[batch.Games] = []
        self.game, _ = batch.new_games(options, seed)
        self.frames = [Frame(0, snapshot(self.game))]

    @property
    def agent(self) -> str:
        """Who decides."""
        return EMPERORS[agent_to_act(self.game[0])]

    @property
    def is_over(self) -> bool:
        """Whether nobody does any more."""
        return bool(self.game[0].phase == OVER)

    def play(self, action: int) -> None:
        """One legal action of whose turn it is to decide."""
        story, last, agent = narrate(self.game, action), self.frames[-1], self.agent
        self._past = [*self._past, self.game] if self._may_return(story.after) else []
        self.game = story.after
        self.frames.append(Frame(last.number + 1, snapshot(self.game), agent, action_text(action), story.lines, story.dice or last.dice))

    def undo(self) -> bool:
        """Take back one action; not beyond fallen dice or the beginning of the turn."""
        if not self._past:
            return False
        self.game = self._past.pop()
        self.frames.pop()
        return True

    def replay(self) -> Replay:
        """The game so far."""
        return record_replay(self._options, self._seed, [action_id(str(frame.action)) for frame in self.frames[1:]])

    def _may_return(self, after: batch.Games) -> bool:
        before = self.game[0]
        return bool(before.dice == after[0].dice and before.turn == after[0].turn)
