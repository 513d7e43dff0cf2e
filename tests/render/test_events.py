"""The event log: lines that describe each action, and positions identical to the engine's."""

import random
import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from helpers.configurations import random_options
from helpers.event_examples import EXAMPLES, LVSITANIA, QUIET, REVOLT, Changes, Dice
from helpers.play_through import DULL
from helpers.positions import position
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine.combat import margin
from tetrarchia_env.engine.state import OVER, GameRecord
from tetrarchia_env.events import EventLog, combats, narrate
from tetrarchia_env.notation import action_id, action_text

FAST = (0, 150)  # range of seeds of the random games shared by the fast tests


def stepped(game: batch.Games, action: int) -> batch.Games:
    after = game.copy()
    batch.step(after, np.array([action]), batch.legal_masks(game))
    return after


def stories(seed: int) -> Iterator[str]:
    """Yield the lines of a random game; check that each step equals the engine's."""
    game, masks = batch.new_games(random_options(seed), seed)
    chooser = random.Random(seed)
    while masks.any():
        action = choose(chooser, np.flatnonzero(masks[0]).tolist())
        before = game.tobytes()
        story = narrate(game, action)
        assert game.tobytes() == before
        batch.step(game, np.array([action]), masks)
        assert story.after.tobytes() == game.tobytes()
        assert story.lines
        yield from story.lines


def choose(chooser: random.Random, legal: list[int]) -> int:
    interesting = [action for action in legal if not action_text(action).startswith(DULL)]
    return chooser.choice(interesting if interesting and chooser.random() < 0.6 else legal)


@cache
def lines_of(first: int, end: int) -> tuple[str, ...]:
    return tuple(line for seed in range(first, end) for line in stories(seed))


EMPEROR, ZONE, PLACE = "|".join(EMPERORS), "|".join(BOARD.zones), "|".join(sorted(BOARD.names, key=len, reverse=True))
WORDS = {
    "EMPEROR": f"(?:{EMPEROR})",
    "FIGURE": f"(?:{EMPEROR}|the Dux)",
    "PLACES": f"(?:{PLACE})(?:, (?:{PLACE}))*",
    "PLACE": f"(?:{PLACE})",
    "ZONE": f"(?:{ZONE})",
    "FOE": f"(?:the (?:army|Goths|Rebel) in (?:{PLACE})|the Pirates in (?:{ZONE}))",
    "REGION": "(?:I|II|III|IV|V|VI)",
    "ARMY": "(?:the army from (?:I|II|III|IV|V|VI)|the Goths)",
    "VALUES": r"\d+ to \d+",
    "VERDICT": "(?:it is beaten|they are beaten|he is beaten|nothing happens|he may add 1)",
    "SOME": r"\d+",
}
KINDS = [
    "EMPEROR places a fleet in ZONE",
    "EMPEROR arrives in PLACE",
    "EMPEROR can enter neither ROMA nor PLACE",
    "EMPEROR begins with SOME IP",
    "EMPEROR ends his turn",
    "EMPEROR has nothing left to do",
    r"FIGURE (?:moves to|passes through) PLACE \(SOME IP\)",
    r"diocletian sends EMPEROR (?:to|through) PLACE \(SOME IP\)",
    r"a fleet sails from ZONE to ZONE \(SOME IP\)",
    r"EMPEROR secures PLACE \(1 IP\)",
    "EMPEROR secures PLACE: SOME of 6 borders",
    r"FIGURE subdues the (?:revolt|unrest) in PLACE \(SOME IP\)",
    r"FIGURE calms the revolt in PLACE \(1 IP\)",
    r"EMPEROR puts the Dux in PLACE \(2 IP\)",
    "diocletian pays a token: he may move the other Emperors",
    "maximian pays a token: 1 IP more",
    "diocletian takes 1 IP from the next turn of galerius",
    "constantius gives 1 IP to the next turn of maximian",
    "FIGURE attacks FOE: VALUES, VERDICT",
    "ARMY attacks? FIGURE: VALUES, VERDICT",
    "galerius pays a token and adds 1: VALUES, VERDICT",
    "galerius adds nothing: VALUES, VERDICT",
    "ARMY threatens? constantius, who may block",
    "constantius pays a token: ARMY stays? in PLACE",
    "FIGURE enters PLACE",
    "ARMY enters? PLACE",
    "ARMY (?:does|do) not find a way from PLACE to PLACE",
    "ARMY waits? behind another army",
    "revolt spreads to PLACES",
    "FIGURE is driven out of PLACE",
    "REGION SOME PLACE: unrest",
    "REGION SOME PLACE: unrest becomes revolt",
    "REGION SOME PLACE: protected by EMPEROR",
    "REGION SOME PLACE rises: PLACES revolts?",
    "REGION SOME PLACE rises(?: alone)?",
    "the Pirates come back to ZONE",
    "an army from REGION appears in PLACE",
    "the Goths arrive in PLACE(?: and drive out (?:FIGURE|ARMY))?",
    "no army appears in PLACE, it is not empty",
    "no army is left to appear",
    "EMPEROR loses his tokens? in PLACES",
    "EMPEROR (?:gains|loses) glory, he has SOME",
    "all six borders are secured: the Empire is saved",
    "Rome has fallen",
    "no (?:Unrest|Revolt) token is left: the Empire is lost",
    "SOME turns are over: the game ends here",
    "EMPEROR is the Great",
    "EMPEROR is Emperor of the (?:East|West)",
]


def pattern(kind: str) -> str:
    return re.sub("|".join(WORDS), lambda word: WORDS[word[0]], kind)


PATTERNS = {kind: re.compile(pattern(kind)) for kind in KINDS}


def kinds_of(line: str) -> list[str]:
    return [kind for kind, words in PATTERNS.items() if words.fullmatch(line)]


@pytest.mark.parametrize(("changes", "dice", "steps"), EXAMPLES)
def test_example_positions_have_the_expected_stories(changes: Changes, dice: Dice, steps: list[tuple[str, str]]) -> None:
    game = position(dice=dice, **changes)
    for text, lines in steps:
        story = narrate(game, action_id(text))
        assert story.lines == tuple(lines.split("; "))
        assert story.after.tobytes() == stepped(game, action_id(text)).tobytes()
        game = story.after


def test_narrated_random_games_equal_batch_step() -> None:
    assert len(lines_of(*FAST)) > 6000


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 3000, 500))
def test_many_narrated_random_games_equal_batch_step(first: int) -> None:
    lines = lines_of(first, first + 500)
    assert [line for line in lines if len(kinds_of(line)) != 1] == []


def test_every_line_matches_exactly_one_kind() -> None:
    assert {line: kinds_of(line) for line in set(lines_of(*FAST)) if len(kinds_of(line)) != 1} == {}


def test_every_kind_of_line_occurs() -> None:
    examples = [line for *_, steps in EXAMPLES for _, lines in steps for line in lines.split("; ")]
    assert {kind for line in [*lines_of(*FAST), *examples] for kind in kinds_of(line)} == set(KINDS)


def test_narrated_combat_values_have_the_margin_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """R5.1: the log shows the two combat values, the engine keeps only their difference."""

    def checked(game: GameRecord, figure: int, foe: int, dice: list[int]) -> combats.Combat:
        under_way = game.copy()
        under_way.fighter, under_way.foe, (under_way.roman_die, under_way.normal_die) = figure, foe, dice
        fought = combat(game, figure, foe, dice)
        margins.append(fought.margin)
        assert fought.margin == margin(under_way)
        return fought

    combat, margins = combats.combat, list[int]()
    monkeypatch.setattr(combats, "combat", checked)
    for seed in range(200, 240):
        list(stories(seed))
    assert min(margins) < 0 < max(margins)


@pytest.mark.parametrize(
    ("dice", "text", "words"),
    [((), "move ASIA", ""), ((4, 3), "end", "IV 3"), ((*LVSITANIA, 3, 1), "end", "I 4, III 1")],
)
def test_text_of_the_dice(dice: Dice, text: str, words: str) -> None:
    """R6.3, R7.2: there is none without a Barbarian phase, and two rolls when a taken border names another province."""
    game = position(dice=dice, tokens=REVOLT | {"GERMANIA MAGNA": "maximian"})
    assert narrate(game, action_id(text)).dice == words


def test_finished_game_has_no_story() -> None:
    game = narrate(position(dice=QUIET, rules={"max_turns": 9}), action_id("end")).after
    story = narrate(game, 0)
    assert (game[0].phase, story.lines, story.dice, story.after.tobytes()) == (OVER, (), "", game.tobytes())


@pytest.mark.parametrize("action", [-1, 9, 455])
def test_illegal_action_is_refused(action: int) -> None:
    with pytest.raises(ValueError, match="is not legal here: choose from end, secure"):
        narrate(position(), action)


@pytest.mark.parametrize("every", [1, 5, 1000])
def test_event_log_narrates_the_latest_action_whenever_it_is_read(every: int) -> None:
    """Reading after each action, after some or only at the end gives the same lines and dice."""
    for seed in range(300, 310):
        game, masks = batch.new_games(random_options(seed), seed)
        chooser, log, dice, played = random.Random(seed), EventLog(), "", 0
        assert (log.lines, log.dice) == ((), "")
        while masks.any():
            action = choose(chooser, np.flatnonzero(masks[0]).tolist())
            story = narrate(game, action)
            log.record(game, action)
            batch.step(game, np.array([action]), masks)
            dice, played = story.dice or dice, played + 1
            if played % every == 0 or not masks.any():
                assert (log.lines, log.dice) == (story.lines, dice)
        log.clear()
        assert (log.lines, log.dice) == ((), "")
