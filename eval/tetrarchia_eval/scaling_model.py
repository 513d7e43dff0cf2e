"""How fast an evaluation is with more cores: what they play, or what the driver can take in, whichever is less.

Games are independent: the only serial part is the driver, which hands chunks out and appends games to one file. It bounds the speed as in
Amdahl, "Validity of the Single Processor Approach to Achieving Large Scale Computing Capabilities", 1967.
"""

from dataclasses import dataclass

from tetrarchia_eval.arena import GOAL, MOST


@dataclass(frozen=True)
class Driver:
    """What the one process that keeps the file spends: seconds for each chunk, and for each game in it."""

    chunk: float
    game: float

    def seconds(self, games: int) -> float:
        """For a chunk of so many games."""
        return self.chunk + games * self.game


def games_a_chunk(pace: float) -> int:
    """As the arena cuts a match whose games take so many seconds each."""
    return int(max(1, min(GOAL / pace, MOST)))


def rate(cores: float, pace: float, games: int, driver: Driver, delay: float = 0.0) -> float:
    """Games a second in the long run, with chunks of so many games, of which each keeps its core waiting for `delay` seconds."""
    return min(cores * games / (games * pace + delay), games / driver.seconds(games))


def bend(pace: float, driver: Driver) -> float:
    """The number of cores from which on the driver is the limit."""
    games = games_a_chunk(pace)
    return games * pace / driver.seconds(games)


def seconds(total: int, cores: float, pace: float, driver: Driver) -> float:
    """For a match of so many games: the long run, and a chunk's time at the end, when cores wait for the last ones."""
    games = min(games_a_chunk(pace), total)
    return total / rate(cores, pace, games, driver) + games * pace
