"""R14: local information, our extension of the game: each Emperor observes only the spaces near him.

The observation is the ordinary encoding of a *visible copy* of the game, from which everything out of view has been removed, followed
by the block `visible`. With memory (R14.6) spaces out of view show what was seen there last, and the block `age` follows. With messages
(R14.7) the last token of each Emperor and its age follow. The action mask is that of the true game (R14.5).
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tetrarchia_env.board import BOARD, SPACES
from tetrarchia_env.checks import check_limits
from tetrarchia_env.engine._jit import jit
from tetrarchia_env.engine.actions import ACTIONS, MAX_MESSAGE_TOKENS, SAY
from tetrarchia_env.engine.bits import first_of
from tetrarchia_env.engine.state import DUX, GAME, GONE, GOTHS, NOBODY, OFF, PIRATES, PLACES, REBEL, GameRecord
from tetrarchia_env.engine.tables import BIT, COAST, PRINTED, ROMA, STEPS, ZONES, frozen
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.observation import OBSERVATION, SIZE, View, encode, encode_combat, encode_public, mark, seat
from tetrarchia_env.options import MAX_TURNS, Options
from tetrarchia_env.schema import describe, validate_fields

MAX_RADIUS = 12  # every space is within 12 links of every other
MAX_AGE = 20  # in finished turns

Games = NDArray[np.void]
Rows = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class LocalOptions:
    """The arguments of local information (R14), which belong to the environment and not to the game.

    Args:
        view_radius: `None` for full observations, or 0 to 12 for local ones.
        last_seen: Whether spaces out of view show what was seen there last.
        message_tokens: The number of tokens that an Emperor can say, 0 to 16.

    Raises:
        TetrarchiaError: An argument is invalid, or needs `view_radius`.
    """

    view_radius: Annotated[Annotated[int, Meta(ge=0, le=MAX_RADIUS)] | None, describe(f"None or an integer from 0 to {MAX_RADIUS}")] = None
    last_seen: bool = False
    message_tokens: Annotated[int, Meta(ge=0, le=MAX_MESSAGE_TOKENS)] = 0

    def __post_init__(self) -> None:
        validate_fields(self)
        if self.view_radius is None and self.last_seen:
            raise TetrarchiaError("last_seen needs view_radius: without it every space is in view; got view_radius=None")
        if self.view_radius is None and self.message_tokens:
            raise TetrarchiaError(f"message_tokens needs view_radius; got view_radius=None and message_tokens={self.message_tokens}")

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments that make equal options, as JSON data; empty for full information."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name) != field.default}

    @property
    def text(self) -> str:
        """The arguments as text."""
        return ", ".join(f"{name}={value}" for name, value in self.arguments().items()) or "full information"

    @property
    def message_size(self) -> int:
        """The length of the message blocks of an observation."""
        return 4 * (self.message_tokens + 1) if self.message_tokens else 0

    @property
    def size(self) -> int:
        """The length of an observation."""
        if self.view_radius is None:
            return SIZE
        return SIZE + SPACES * (1 + self.last_seen) + self.message_size

    @property
    def actions(self) -> int:
        """The number of action ids."""
        return ACTIONS + self.message_tokens


FULL_INFORMATION = LocalOptions()


def parse_arguments(arguments: Mapping[str, Any]) -> tuple[Options, LocalOptions]:
    """Return the rules and the information of a game from keyword arguments whose names may be wrong, e.g. from a file.

    Raises:
        TetrarchiaError: A name or value is invalid.
    """
    names = [field.name for field in fields(LocalOptions)]
    rules = {name: value for name, value in arguments.items() if name not in names}
    return Options.of(**rules), LocalOptions(**{name: arguments[name] for name in names if name in arguments})


def _link_distances() -> NDArray[np.int64]:
    """Return the number of links between each two spaces; normal and broken links count alike, fleets do not (R14.1)."""
    distances = np.where(BOARD.links > 0, 1, SPACES).astype(np.int64)
    np.fill_diagonal(distances, 0)
    for middle in range(SPACES):
        np.minimum(distances, distances[:, middle : middle + 1] + distances[middle], out=distances)
    return distances


def _within() -> Any:
    """Return for each radius and place the spaces within that many links, as bits; off the board as from ROMA (R14.1)."""
    rows = [
        [sum(1 << space for space in range(SPACES) if row[space] <= radius) for row in LINK_DISTANCES] for radius in range(MAX_RADIUS + 1)
    ]
    return frozen([row + [row[ROMA]] * (PLACES - SPACES) for row in rows])


LINK_DISTANCES = frozen(_link_distances())  # [from][to]
WITHIN = _within()  # [radius][place]
AGES = np.arange(MAX_AGE + 1) / MAX_AGE  # by finished turns: a table, because 40 divisions per observation are slow
ALL_SPACES: Any = np.int64((1 << SPACES) - 1)
ANY_PRINTED = PRINTED[0] | PRINTED[1] | PRINTED[2] | PRINTED[3]

LOCAL_FIELDS: list[Any] = [  # the memory of each of the four Emperors (R14.6)
    ("unrest", np.int64, 4),  # spaces with Unrest when seen last, as bits
    ("revolts", np.int64, 4),
    ("tokens", np.int64, (4, 4)),  # of each Emperor
    ("figures", np.int64, (4, 5)),  # of each figure: it may be remembered in several places
    ("armies", np.int64, (4, 3)),  # of any kind, the Goths, Rebels
    ("origins", np.int64, (4, 3)),  # bits 0, 1 and 2 of the armies' regions of origin
    ("turn", np.int64, (4, SPACES)),  # the number of finished turns when each space was seen last
]
LOCAL = np.dtype((np.record, LOCAL_FIELDS))
LOCAL_RANGES = dict.fromkeys(("unrest", "revolts", "tokens", "figures", "armies", "origins"), (0, (1 << SPACES) - 1)) | {
    "turn": (0, MAX_TURNS)
}
LocalRecord = Any  # a record of LOCAL
LocalRecords = NDArray[np.void]
MESSAGE = np.dtype(
    (
        np.record,
        [  # the last message of each of the four Emperors (R14.7)
            ("token", np.int64, 4),  # from 1 on; 0: none yet
            ("turn", np.int64, 4),  # the number of finished turns when it was said
        ],
    )
)
MessageRecord = Any  # a record of MESSAGE


@jit
def spaces_in_view(game: GameRecord, emperor: int, radius: int) -> int:
    """R14.1: return the spaces within the radius of the Emperor's space, and those with his own tokens."""
    return WITHIN[radius, game.at[emperor]] | game.tokens[emperor]


@jit
def zones_in_view(spaces: int) -> int:
    """R14.2: return the sea zones, as bits, with a coastal space among these."""
    zones = 0
    for zone in range(ZONES):
        if COAST[1 << zone] & spaces:
            zones |= 1 << zone
    return zones


@jit
def knows_combat(game: GameRecord, viewer: int, spaces: int) -> bool:
    """R14.3: return whether the Emperor knows the combat under way: he fights, or sees the army's space or the Pirates' zone."""
    if game.fighter == viewer:
        return True
    if game.foe == PIRATES:
        return zones_in_view(spaces) & game.pirates != 0
    return BIT[game.foe] & spaces != 0


@jit
def hide_unseen(game: GameRecord, viewer: int, spaces: int) -> None:
    """R14.2, R14.3, R14.4: remove from a copy of a game everything that the Emperor does not know.

    Args:
        game: The copy, which becomes the visible copy.
        viewer: The observing Emperor, 0 to 3.
        spaces: The spaces in his view, as bits.
    """
    if game.fighter != NOBODY and not knows_combat(game, viewer, spaces):
        game.fighter, game.foe, game.roman_die, game.normal_die = NOBODY, OFF, 0, 0
    if game.emperor != viewer:
        game.ip, game.used = 0, 0
        if game.passing != NOBODY and BIT[game.at[game.passing]] & spaces == 0:
            game.passing = NOBODY
    game.unrest &= spaces
    game.revolts &= spaces
    for emperor in range(4):
        game.tokens[emperor] &= spaces
        if emperor != viewer:
            game.owed[emperor] = 0
            if BIT[game.at[emperor]] & spaces == 0:
                game.at[emperor], game.supply[emperor], game.glory[emperor] = OFF, 0, 0
    if game.at[DUX] < OFF and BIT[game.at[DUX]] & spaces == 0:
        game.at[DUX] = GONE
    _hide_armies(game, spaces)
    zones = zones_in_view(spaces)
    game.fleets &= zones
    game.pirates &= zones
    for kind in range(3):
        game.reserve[kind] = 0


@jit
def _hide_armies(game: GameRecord, spaces: int) -> None:
    """Remove armies and march entries out of view; the remaining march entries move up."""
    marching = 0
    for army in range(3):
        if BIT[game.army_at[army]] & spaces == 0:
            game.army_at[army], game.army_origin[army], game.army_kind[army] = OFF, 0, 0
        space = game.march[army]
        game.march[army] = OFF
        if BIT[space] & spaces:
            game.march[marching] = space
            marching += 1


@jit
def encode_local(game: GameRecord, viewer: int, radius: int, visible_copy: GameRecord, view: View, visible: Floats) -> None:
    """Write the local observation of one Emperor (R14.4).

    Args:
        game: The true game.
        viewer: The observing Emperor, 0 to 3.
        radius: The view radius.
        visible_copy: A copy of the game, which is overwritten.
        view: A record of OBSERVATION, all zero.
        visible: The block `visible`, all zero.
    """
    spaces = spaces_in_view(game, viewer, radius)
    hide_unseen(visible_copy, viewer, spaces)
    encode(visible_copy, viewer, view)
    encode_public(game, view)
    if visible_copy.fighter != NOBODY:
        encode_combat(game, viewer, view)  # with the true margin
    mark(visible, spaces, 1.0)


@jit
def remember(game: GameRecord, emperor: int, spaces: int, local: LocalRecord) -> None:
    """R14.6: store what is on these spaces, and when, in the memory of an Emperor."""
    rest = ~spaces
    local.unrest[emperor] = local.unrest[emperor] & rest | game.unrest & spaces
    local.revolts[emperor] = local.revolts[emperor] & rest | game.revolts & spaces
    for owner in range(4):
        local.tokens[emperor, owner] = local.tokens[emperor, owner] & rest | game.tokens[owner] & spaces
    for figure in range(5):
        local.figures[emperor, figure] = local.figures[emperor, figure] & rest | BIT[game.at[figure]] & spaces
    for i in range(3):
        local.armies[emperor, i] &= rest
        local.origins[emperor, i] &= rest
    for army in range(3):
        bit = BIT[game.army_at[army]] & spaces
        if bit == 0:
            continue
        local.armies[emperor, 0] |= bit
        if game.army_kind[army] == GOTHS:
            local.armies[emperor, 1] |= bit
        elif game.army_kind[army] == REBEL:
            local.armies[emperor, 2] |= bit
        for i in range(3):
            if game.army_origin[army] >> i & 1:
                local.origins[emperor, i] |= bit
    while spaces:
        space = first_of(spaces)
        local.turn[emperor, space] = game.turn
        spaces ^= BIT[space]


@jit
def encode_memory(game: GameRecord, viewer: int, radius: int, local: LocalRecord, view: View, age: Floats) -> None:
    """R14.6: write what the Emperor remembers of the spaces out of view over his local observation, and the age of each space."""
    hidden = ALL_SPACES & ~spaces_in_view(game, viewer, radius)
    placed = local.unrest[viewer] | local.revolts[viewer]
    mark(view.unrest[0], local.unrest[viewer] & hidden, 1.0)
    mark(view.revolt[0], local.revolts[viewer] & hidden, 1.0)
    for emperor in range(4):
        placed |= local.tokens[viewer, emperor]
        mark(view.token[seat(viewer, emperor)], local.tokens[viewer, emperor] & hidden, 1.0)
    mark(view.printed[0], ANY_PRINTED & hidden & placed, 0.0)
    for figure in range(5):
        mark(view.figure[seat(viewer, figure)], local.figures[viewer, figure] & hidden, 1.0)
    for i in range(3):
        mark(view.army[i], local.armies[viewer, i] & hidden, 1.0)
    armies = local.armies[viewer, 0] & hidden
    while armies:
        space = first_of(armies)
        armies ^= BIT[space]
        origin = remembered_origin(local, viewer, space)
        view.army_origin[0, space] = origin / 6
        view.army_nearness[0, space] = 1 - STEPS[origin, space] / 12
    while hidden:
        space = first_of(hidden)
        hidden ^= BIT[space]
        age[space] = AGES[min(game.turn - local.turn[viewer, space], MAX_AGE)]


@jit
def encode_messages(game: GameRecord, viewer: int, message: MessageRecord, block: Floats) -> None:
    """R14.7: write the last token of each Emperor, one-hot, and its age; the viewer comes first.

    Args:
        game: The game.
        viewer: The observing Emperor, 0 to 3.
        message: The last messages.
        block: The message blocks, all zero.
    """
    tokens = len(block) // 4 - 1
    for emperor in range(4):
        place, token = seat(viewer, emperor), message.token[emperor]
        if token == 0:
            block[4 * tokens + place] = 1.0
        else:
            block[place * tokens + token - 1] = 1.0
            block[4 * tokens + place] = AGES[min(game.turn - message.turn[emperor], MAX_AGE)]


@jit
def remembered_origin(local: LocalRecord, emperor: int, space: int) -> int:
    """Return the region of origin of the army that an Emperor remembers on this space."""
    origin = 0
    for i in range(3):
        origin |= (local.origins[emperor, i] >> space & 1) << i
    return origin


def check_memory(records: LocalRecords, games: Games, source: str) -> None:
    """Check memory from a file against its games, so that it can be encoded.

    Raises:
        TetrarchiaError: A number is out of range, an army is remembered off its path, or a space was seen after the game's turn.
    """
    check_limits(records, LOCAL_RANGES, source)
    if (records["turn"] > games["turn"][:, np.newaxis, np.newaxis]).any():
        raise TetrarchiaError(f"{source}: turn must be at most the number of finished turns; a space was seen later")
    spaces = np.arange(SPACES)
    origins = sum((records["origins"][..., bit, np.newaxis] >> spaces & 1) << bit for bit in range(3))
    steps = np.concatenate([STEPS, np.full((1, PLACES), OFF)])[origins, spaces]
    if ((records["armies"][..., 0, np.newaxis] >> spaces & 1 == 1) & (steps == OFF)).any():
        raise TetrarchiaError(f"{source}: army must be on the path of its region of origin")


def check_messages(messages: LocalRecords, games: Games, message_tokens: int, source: str) -> None:
    """Check messages from a file against their games, so that they can be encoded.

    Raises:
        TetrarchiaError: A token is unknown, or was said after the game's turn.
    """
    check_limits(messages, {"token": (0, message_tokens), "turn": (0, MAX_TURNS)}, source)
    if (messages["turn"] > games["turn"][:, np.newaxis]).any():
        raise TetrarchiaError(f"{source}: turn must be at most the number of finished turns; a token was said later")


class LocalViews:
    """The local views of the Emperors of several games, their memory and their messages.

    Args:
        options: The arguments of local information; `view_radius` is not `None`.
        num_games: The number of games.

    Attributes:
        records: The memory of each game, records of LOCAL; empty without memory.
        messages: The last messages of each game, records of MESSAGE; empty without messages.
    """

    def __init__(self, options: LocalOptions, num_games: int) -> None:
        assert options.view_radius is not None
        self.radius = options.view_radius
        self.last_seen = options.last_seen
        self.message_tokens = options.message_tokens
        self.records = np.zeros(num_games if options.last_seen else 0, dtype=LOCAL)
        self.messages = np.zeros(num_games if options.message_tokens else 0, dtype=MESSAGE)
        self.size = options.size
        self._message_size = options.message_size
        self._visible_copy = np.zeros(1, dtype=GAME)

    def begin(self, games: Games, rows: Rows) -> None:
        """Begin the memory of these games: every space has just been seen, and there are no messages."""
        if self.last_seen:
            _begin_memory(games, rows, self.records)
        if self.message_tokens:
            self.messages[rows] = np.zeros(1, dtype=MESSAGE)

    def say(self, games: Games, rows: Rows, actions: NDArray[np.int64]) -> None:
        """R14.7: keep the messages among these legal actions; call this before they are played.

        Args:
            games: All games.
            rows: The games in which the actions are played.
            actions: The action of each of these games.
        """
        if self.message_tokens and (said := actions >= SAY).any():
            rows = rows[said]
            speakers = games["emperor"][rows]
            self.messages["token"][rows, speakers] = actions[said] - SAY + 1
            self.messages["turn"][rows, speakers] = games["turn"][rows]

    def encode_messages(self, games: Games, viewers: NDArray[np.int64]) -> Floats:
        """Return the message blocks of the viewer of every game, of width 0 without messages."""
        blocks = np.zeros((len(games), self._message_size), dtype=np.float32)
        _encode_messages(games, viewers, self.messages, blocks)
        return blocks

    def update(self, games: Games) -> None:
        """Let every Emperor remember the spaces in his view; call this after each action."""
        if self.last_seen:
            _update_memory(games, self.radius, self.records)

    def encode(self, games: Games, rows: Rows, viewers: NDArray[np.int64], observations: Floats) -> None:
        """Write local observations.

        Args:
            games: All games.
            rows: The games to observe.
            viewers: The observing Emperor of every game.
            observations: Receives the observations in these rows; one row for every game.
        """
        views = np.ndarray(len(games), OBSERVATION, observations, strides=observations.strides[:1])
        _encode_rows(games, rows, viewers, self.radius, self.records, self.messages, self._visible_copy, views, observations)

    def observe(self, games: Games, viewers: NDArray[np.int64]) -> Floats:
        """Return the local observation of one Emperor in every game."""
        obs = np.empty((len(games), self.size), dtype=np.float32)
        self.encode(games, np.arange(len(games)), viewers, obs)
        return obs

    def select(self, rows: Rows) -> "LocalViews":
        """Return the views of some of the games, with a copy of their memory and messages."""
        chosen = copy.copy(self)
        chosen.records = self.records[rows] if self.last_seen else self.records
        chosen.messages = self.messages[rows] if self.message_tokens else self.messages
        return chosen

    def store(self, rows: Rows, chosen: "LocalViews") -> None:
        """Copy back memory and messages of views that `select` returned for these games."""
        if self.last_seen:
            self.records[rows] = chosen.records
        if self.message_tokens:
            self.messages[rows] = chosen.messages

    def visible_copy(self, game: Games, viewer: int) -> Games:
        """Return a copy of an array of one game without everything that an Emperor does not know; memory is not included."""
        visible = game.copy()
        hide_unseen(visible[0], viewer, spaces_in_view(game[0], viewer, self.radius))
        return visible


@jit
def _begin_memory(games: Games, rows: Rows, records: LocalRecords) -> None:
    for i in rows:
        for emperor in range(4):
            remember(games[i], emperor, ALL_SPACES, records[i])


@jit
def _update_memory(games: Games, radius: int, records: LocalRecords) -> None:
    for i in range(len(games)):
        for emperor in range(4):
            remember(games[i], emperor, spaces_in_view(games[i], emperor, radius), records[i])


@jit
def _encode_rows(
    games: Games,
    rows: Rows,
    viewers: NDArray[np.int64],
    radius: int,
    records: LocalRecords,
    messages: LocalRecords,
    visible_copy: Games,
    views: NDArray[np.void],
    observations: Floats,
) -> None:
    """Write the local observations of these rows, with memory if there are records, and with messages if there are any."""
    for i in rows:
        observations[i, :] = 0
        visible_copy[0] = games[i]
        encode_local(games[i], viewers[i], radius, visible_copy[0], views[i], observations[i, SIZE : SIZE + SPACES])
        if len(records):
            encode_memory(games[i], viewers[i], radius, records[i], views[i], observations[i, SIZE + SPACES : SIZE + 2 * SPACES])
        if len(messages):
            encode_messages(games[i], viewers[i], messages[i], observations[i, SIZE + SPACES * (1 + (len(records) > 0)) :])


@jit
def _encode_messages(games: Games, viewers: NDArray[np.int64], messages: LocalRecords, blocks: Floats) -> None:
    for i in range(len(messages)):
        encode_messages(games[i], viewers[i], messages[i], blocks[i])
