"""The table of actions in section 3 of the interface: every id and its text, in both directions."""

import pytest

from helpers.random_games import random_replay
from tetrarchia_env.board import BOARD
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.game import Game
from tetrarchia_env.notation import ACTION_TEXTS, action_id, action_label, action_text, legal_actions, play_replay, snapshot
from tetrarchia_env.options import Options

SPACES = BOARD.names
SINGLE = {
    0: "end",
    1: "secure",
    2: "subdue",
    3: "calm",
    4: "sail ATLANTICVM INTERNVM",
    5: "sail INTERNVM ATLANTICVM",
    6: "sail INTERNVM AEGAEVM",
    7: "sail AEGAEVM INTERNVM",
    8: "fleet ATLANTICVM",
    9: "fleet INTERNVM",
    10: "fleet AEGAEVM",
    11: "enter ROMA",
    12: "enter capital",
    109: "imperivm",
    110: "boost",
    111: "block",
    112: "accept",
    113: "take",
    114: "give",
    115: "attack PIRATES",
    260: "dux subdue",
    261: "dux calm",
    262: "dux attack PIRATES",
}
BY_SPACE = {13: "move", 61: "attack", 116: "dux deploy", 164: "dux move", 212: "dux attack"}
BY_SPACE |= {263: "order diocletian", 311: "order galerius", 359: "order constantius", 407: "order maximian"}
TABLE = SINGLE | {first + s: f"{words} {name}" for first, words in BY_SPACE.items() for s, name in enumerate(SPACES)}


def test_the_table_has_455_ids() -> None:
    assert sorted(TABLE) == list(range(455))
    assert len(set(TABLE.values())) == len(ACTION_TEXTS) == 455


@pytest.mark.parametrize("action", range(455))
def test_ids_and_texts_convert_in_both_directions(action: int) -> None:
    assert action_text(action) == TABLE[action]
    assert action_id(TABLE[action]) == action


@pytest.mark.parametrize("text", ["  move   germania magna ", "MOVE GERMANIA MAGNA", "Move Germania Magna"])
def test_case_and_spacing_are_ignored(text: str) -> None:
    assert action_id(text) == 13 + SPACES.index("GERMANIA MAGNA")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "move",
        "move ATLANTIS",
        "sail ATLANTICVM AEGAEVM",
        "sail INTERNVM",
        "fleet ROMA",
        "enter BITHYNIA",
        "dux secure",
        "order nero ROMA",
        "0",
    ],
)
def test_unknown_text_is_quoted_in_the_error(text: str) -> None:
    with pytest.raises(TetrarchiaError, match="unknown action") as error:
        action_id(text)
    assert repr(text) in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_text_gets_a_suggestion() -> None:
    with pytest.raises(TetrarchiaError, match=r"did you mean .*'move BELGICA'"):
        action_id("move BELGIKA")


@pytest.mark.parametrize("action", [-1, 471, 10**9])
def test_unknown_id_error_states_the_allowed_range(action: int) -> None:
    with pytest.raises(TetrarchiaError, match=f"0 to 470; got {action}"):
        action_text(action)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("end", "End the turn"),
        ("secure", "Secure ROMA"),
        ("subdue", "Subdue the Unrest in ROMA"),
        ("calm", "Calm the Revolt in ROMA"),
        ("move GERMANIA MAGNA", "Move to GERMANIA MAGNA"),
        ("attack PIRATES", "Attack the Pirates"),
        ("enter capital", "Arrive in BITHYNIA"),
        ("sail INTERNVM AEGAEVM", "Sail from INTERNVM to AEGAEVM"),
        ("order galerius SYRIA", "Order Galerius to SYRIA"),
        ("dux attack LIBYA", "Attack LIBYA with the Dux"),
    ],
)
def test_labels_are_sentences_for_the_player(text: str, label: str) -> None:
    game = Game(level="4200", seed=7)
    game.play("fleet INTERNVM")
    game.play("fleet AEGAEVM")

    assert action_label(game.position, action_id(text)) == label


def test_label_of_subdue_names_the_token_on_the_space() -> None:
    subdue, seen = action_id("subdue"), set()
    for game, _, _ in play_replay(random_replay(Options(level="4222"), seed=0, most=400)):
        position = snapshot(game)
        place = position["emperors"][position["emperor"]]
        if subdue in legal_actions(game):
            token = position["tokens"][place]
            seen.add(token)
            assert action_label(game, subdue) == f"Subdue the {token.capitalize()} in {place}"
    assert seen == {"unrest", "revolt"}


def test_every_action_has_a_label() -> None:
    game = Game(seed=1)
    labels = {action_label(game.position, action) for action in range(455)}

    assert all(label[0].isupper() for label in labels)
    assert len(labels) > 440  # equal only where the text does not name the place
