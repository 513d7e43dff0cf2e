"""The examples and questions of the rulebook, paraphrased; see "Worked examples" in docs/rules.md."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, may, play, position, rng_for
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, EMPERORS
from tetrarchia_env.engine.combat import support
from tetrarchia_env.engine.state import NOBODY
from tetrarchia_env.engine.the_great import is_half_emperor, the_great
from tetrarchia_env.engine.tokens import supporting
from tetrarchia_env.notation import snapshot

WON, LOST, DRAWN = "won", "lost", "drawn"
HISPANIA = ("TINGITANA", "BAETICA", "CARTHAGINENSIS", "LVSITANIA", "GALLAECIA", "TARRACONENSIS")
INVASION = dict.fromkeys((*HISPANIA, "NARBONENSIS"), "revolt") | {"ETRVRIA": "maximian", "LVGDVNENSIS": "constantius"}
PLACES = {"maximian": "GERMANIA SVPERIOR", "constantius": "AQVITANIA"}
BORDERS = ("GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA")


def army(space: str, origin: str) -> list[str]:
    return [space, origin, "army"]


def narbonensis(dice: tuple[int, ...] = (), *, emperor: str = "maximian", places: dict[str, str] = PLACES, **changes: Any) -> batch.Games:
    """Return a position with an army in NARBONENSIS, supported by seven Revolts, and optionally more armies."""
    armies = [army("NARBONENSIS", "I"), *changes.pop("armies", [])]
    return position(emperor=emperor, emperors=places, tokens=INVASION, armies=armies, dice=dice, **changes)


def result(game: batch.Games, text: str) -> str:
    """Return the result of an attack by the acting Emperor."""
    before = snapshot(game)
    emperor, goal = before["emperor"], text.removeprefix("attack ")
    place = play(game, text)["emperors"][emperor]
    return {goal: WON, None: LOST, before["emperors"][emperor]: DRAWN}[place]


def after_uprising(*more: int | None, **changes: Any) -> tuple[batch.Games, dict[str, Any]]:
    """End Diocletian's turn with a roll of BELGICA, which is in revolt; return the game and its snapshot."""
    tokens = {"BELGICA": "revolt"} | changes.pop("tokens", {})
    game = position(tokens=tokens, dice=(2, 1, *more), **changes)
    return game, play(game, "end")


@pytest.mark.parametrize(("space", "expected"), [("SYRIA", 1), ("AEGYPTVS", 2), ("CYRENAICA", 2), ("TRIPOLITANIA", 2)])
def test_support_of_a_token_a_gap_and_two_tokens(space: str, expected: int) -> None:
    """R5.3: 1 on the single token, 2 on the gap and on the pair; 0 for the other Emperors."""
    game = position(tokens=dict.fromkeys(("SYRIA", "CYRENAICA", "TRIPOLITANIA"), "diocletian"))[0]
    found = [support(supporting(game, emperor), BOARD.space_id(space)) for emperor in range(4)]
    assert found == [expected, 0, 0, 0]


@pytest.mark.parametrize(("maximian", "expected"), [("CISALPINA", LOST), ("CAPPADOCIA", WON)])
def test_one_token_against_three_revolts(maximian: str, expected: str) -> None:
    """R5.1, R5.4: 3 + 1 against 2 + 3 is lost; with Maximian next to the army it is 8 against 5."""
    tokens = dict.fromkeys(("SYRIA", "CYRENAICA", "TRIPOLITANIA"), "diocletian") | dict.fromkeys(
        ("CAPPADOCIA", "GALATIA", "ASIA"), "revolt"
    )
    game = position(emperors={"diocletian": "SYRIA", "maximian": maximian}, tokens=tokens, armies=[army("PERSIA", "V")], dice=(3, 2))
    assert result(game, "attack PERSIA") == expected


@pytest.mark.parametrize(("start", "cost"), [("GERMANIA SVPERIOR", 2), ("CISALPINA", 3)])
def test_cost_of_the_attack_on_narbonensis(start: str, cost: int) -> None:
    """R4.7: an army on a Revolt behind a normal link, or behind the Alps."""
    places = PLACES | {"maximian": start}
    assert play(narbonensis((6, 1), places=places), "attack NARBONENSIS")["ip"] == 6 - cost
    assert not may(narbonensis(places=places, ip=cost - 1), "attack NARBONENSIS")


@pytest.mark.parametrize(("dice", "expected"), [((1, 1), DRAWN), ((2, 2), WON), ((1, 2), LOST)])
@pytest.mark.parametrize("start", ["GERMANIA SVPERIOR", "CISALPINA"])
def test_maximian_attacks_narbonensis(start: str, dice: tuple[int, int], expected: str) -> None:
    """R5.1, R5.2, R5.3: (R + 3) x 2 against N + 7, from either space."""
    assert result(narbonensis(dice, places=PLACES | {"maximian": start}), "attack NARBONENSIS") == expected


@pytest.mark.parametrize(("dice", "expected"), [((3, 1), DRAWN), ((4, 2), WON), ((3, 2), LOST)])
def test_constantius_attacks_narbonensis(dice: tuple[int, int], expected: str) -> None:
    """R5.1, R5.3: (R + 1) x 2 against N + 7."""
    assert result(narbonensis(dice, emperor="constantius"), "attack NARBONENSIS") == expected


@pytest.mark.parametrize(("dice", "expected"), [((2, 3), DRAWN), ((3, 4), WON), ((2, 4), LOST)])
def test_the_chain_is_cut_in_tarraconensis(dice: tuple[int, int], expected: str) -> None:
    """R4.6, R5.2: Constantius subdues TARRACONENSIS for 2 IP; then the army has N + 1 against R x 2, for 3 more IP."""
    game = narbonensis(dice, emperor="constantius", places=PLACES | {"constantius": "TARRACONENSIS"})
    assert play(game, "subdue")["ip"] == 4
    assert result(game, "attack NARBONENSIS") == expected


@pytest.mark.parametrize(
    ("dice", "maximian", "space"),
    [
        ((3,), "CISALPINA", "NARBONENSIS"),
        ((4, 1, 1), "CISALPINA", "NARBONENSIS"),
        ((4, 2, 2), "CISALPINA", None),
        ((4, 1, 2), None, "CISALPINA"),
    ],
)
def test_maximian_defends_cisalpina(dice: tuple[int, ...], maximian: str | None, space: str | None) -> None:
    """R5.5, R6.5, R8.2: the army crosses the Alps only on 4 to 6; the values are the same as above."""
    game = narbonensis((5, 1, *dice), places=PLACES | {"maximian": "CISALPINA"})
    rng = snapshot(game)["dice"]
    after = play(game, "end")
    assert (after["emperors"]["maximian"], [place for place, _, _ in after["armies"]]) == (maximian, [space] if space else [])
    assert dice_used(rng, after["dice"]) == [5, 1, *dice]


@pytest.mark.parametrize(
    ("helpers", "foes", "even"),
    [
        ({"constantius": "BELGICA"}, [], (5, 1)),
        ({}, [], (1, 1)),
        ({"diocletian": "LVGDVNENSIS"}, ["BELGICA"], (1, 1)),
        ({"diocletian": "LVGDVNENSIS", "galerius": "CISALPINA"}, ["BELGICA", "GERMANIA INFERIOR"], (1, 1)),
    ],
    ids=["x1", "x2", "x4", "x8"],
)
def test_helpers_multiply_by_2_4_and_8(helpers: dict[str, str], foes: list[str], even: tuple[int, int]) -> None:
    """R5.1: each additional Emperor next to the army doubles again; armies next to Maximian are added to measure it."""
    changes: dict[str, Any] = {"places": PLACES | helpers, "armies": [army(space, "II") for space in foes]}
    assert result(narbonensis(even, **changes), "attack NARBONENSIS") == DRAWN
    assert result(narbonensis((even[0] + 1, even[1]), **changes), "attack NARBONENSIS") == WON
    assert result(narbonensis((even[0], even[1] + 1), **changes), "attack NARBONENSIS") == LOST


@pytest.mark.parametrize(("dice", "expected"), [((2, 4), DRAWN), ((2, 5), LOST), ((3, 4), WON)])
def test_only_one_of_two_chains_counts_in_pannonia_superior(dice: tuple[int, int], expected: str) -> None:
    """R5.3: a chain of three on one side, one token in DALMATIA on the other: support is 3, not 4."""
    tokens = {"ETRVRIA": "maximian", "DALMATIA": "maximian", "RHAETIA": "revolt"}
    places = {"maximian": "PANNONIA SVPERIOR"}
    game = position(emperor="maximian", emperors=places, tokens=tokens, armies=[army("RHAETIA", "III")], dice=dice)
    assert result(game, "attack RHAETIA") == expected


def test_question_can_a_province_hold_several_tokens() -> None:
    """R1.3, R4.5, R6.3: no; tokens are placed on empty spaces only, and a changed token is replaced."""
    assert not any(may(position(tokens={"BITHYNIA": kind}), "secure") for kind in EMPERORS)
    after = play(position(tokens={"SYRIA": "unrest"}, dice=(5, 1)), "end")
    assert (after["tokens"], after["reserve"]["unrest"], after["reserve"]["revolt"]) == ({"SYRIA": "revolt"}, 21, 20)


def test_question_can_placed_tokens_be_moved() -> None:
    """R1.4: no action takes a token back; an army that enters does."""
    changes: dict[str, Any] = {"tokens": {"BITHYNIA": "diocletian", "TARRACONENSIS": "diocletian"}, "supply": {"diocletian": 0}}
    game = position(**changes, armies=[army("CARTHAGINENSIS", "I")], dice=(1, 4))
    assert legal(game) == {"end", "move ASIA", "move GALATIA", "move THRACIA"}
    after = play(game, "end")
    assert (after["tokens"]["TARRACONENSIS"], after["supply"]["diocletian"]) == ("revolt", 1)


@pytest.mark.parametrize("emperor", EMPERORS)
def test_question_can_a_capital_be_secured(emperor: str) -> None:
    """R1.5, R3.2, R4.5: yes, by any Emperor; then Diocletian cannot arrive there and begins in ROMA."""
    places = {emperor: "BITHYNIA"} if emperor == "diocletian" else {"diocletian": None, emperor: "BITHYNIA"}
    assert may(position(emperor=emperor, emperors=places), "secure")
    closed = position(emperor="maximian", emperors={"diocletian": None}, tokens={"BITHYNIA": emperor}, dice=(1, 4))
    assert play(closed, "end")["emperors"]["diocletian"] == "ROMA"


def test_question_why_cover_a_capital_of_another_colour() -> None:
    """R1.5, R5.3: Maximian's CISALPINA separates two tokens of Galerius; covered by a third it joins them."""
    row = dict.fromkeys(("ETRVRIA", "PANNONIA SVPERIOR"), "galerius")
    parted, joined = position(tokens=row)[0], position(tokens=row | {"CISALPINA": "galerius"})[0]
    space = BOARD.space_id("ETRVRIA")
    assert support(supporting(parted, 1), space) == 2
    assert support(supporting(joined, 1), space) == 5  # with PANNONIA INFERIOR, the capital of Galerius


def test_question_does_an_uprising_free_a_secured_border() -> None:
    """R7.1: no; Uprisings do not reach borders, and the link is not rolled for."""
    _, after = after_uprising(tokens={"BRITANNIA": "constantius"}, reserve={"armies": 0})
    assert after["tokens"]["BRITANNIA"] == "constantius"
    assert dice_used(rng_for((2, 1)), after["dice"]) == [2, 1]


def test_question_is_an_emperor_removed_by_an_uprising() -> None:
    """R6.2, R7.1: not at once, but in the Empire status of the next turn."""
    game, after = after_uprising(5, 1, emperors={"maximian": "LVGDVNENSIS"}, reserve={"armies": 0})
    assert (after["tokens"]["LVGDVNENSIS"], after["emperors"]["maximian"]) == ("revolt", "LVGDVNENSIS")
    assert play(game, "end")["emperors"]["maximian"] is None


def test_question_who_can_escape_an_uprising() -> None:
    """R6.2, R7.1: the Emperor whose turn is next, if he leaves."""
    game, _ = after_uprising(5, 1, emperors={"galerius": "LVGDVNENSIS"}, reserve={"armies": 0})
    assert play(game, "move AQVITANIA", "end")["emperors"]["galerius"] == "AQVITANIA"


def test_question_can_an_emperor_act_while_passing() -> None:
    """R4.3, R3.3: no, neither on the way nor on arrival."""
    passing = position(emperors={"diocletian": "LVCANIA", "galerius": "ROMA"}, tokens={"ROMA": "unrest"}, fleets=["AEGAEVM"])
    arriving = position(emperors={"diocletian": None, "galerius": "ROMA"}, phase="arrival", tokens={"ROMA": "unrest"}, fleets=["AEGAEVM"])
    play(passing, "move ROMA")
    play(arriving, "enter ROMA")
    assert legal(passing) == legal(arriving) == {"move ETRVRIA", "move LVCANIA"}


def test_question_when_do_armies_come() -> None:
    """R7.2: after an Uprising, on an empty border; otherwise N is rolled and R6.3 applied to that province."""
    assert after_uprising(3, 1)[1]["armies"] == [army("GERMANIA MAGNA", "III")]
    taken = {"GERMANIA MAGNA": "galerius"}
    _, after = after_uprising(3, 5, tokens=taken)
    assert (after["armies"], after["tokens"]["DALMATIA"]) == ([], "unrest")
    _, again = after_uprising(3, 5, 4, tokens=taken | {"DALMATIA": "revolt", "MOESIA SVPERIOR": "revolt"})
    assert [origin for _, origin, _ in again["armies"]] == ["IV"]
    assert play(position(tokens={"BELGICA": "unrest"}, dice=(2, 1)), "end")["armies"] == []


def test_question_how_far_does_an_uprising_reach() -> None:
    """R7.1: to the direct neighbours only."""
    _, after = after_uprising(reserve={"armies": 0})
    assert after["tokens"] == dict.fromkeys(("BELGICA", "GERMANIA INFERIOR", "GERMANIA SVPERIOR", "LVGDVNENSIS"), "revolt")


def test_question_how_far_does_the_empire_status_reach() -> None:
    """R6.1: from neighbour to neighbour as long as there is Unrest; a gap stops it."""
    line = dict.fromkeys(("TRIPOLITANIA", "CYRENAICA", "AEGYPTVS", "CILICIA"), "unrest")
    after = play(position(tokens=line | {"PROCONSVLARIS": "revolt"}, dice=(1, 4)), "end")
    assert [after["tokens"][space] for space in line] == ["revolt", "revolt", "revolt", "unrest"]


def test_question_is_the_sea_a_stop_on_the_way() -> None:
    """R4.1: no, the whole move costs 1 IP."""
    assert play(position(fleets=["AEGAEVM"]), "move AEGYPTVS")["ip"] == 5


def test_question_does_a_fleet_help_over_a_strait() -> None:
    """R4.1, R4.7: a move by fleet costs 1 IP; an attack there costs 3."""
    changes: dict[str, Any] = {"emperors": {"diocletian": "TINGITANA"}, "fleets": ["ATLANTICVM"]}
    assert play(position(**changes), "move BAETICA")["ip"] == 5
    fight: dict[str, Any] = {"armies": [army("BAETICA", "I")], "tokens": {"BAETICA": "revolt"}}
    assert play(position(**changes, **fight, dice=(6, 1)), "attack BAETICA")["ip"] == 3
    assert not may(position(**changes, **fight, ip=2), "attack BAETICA")


def test_question_do_two_fleets_join_their_zones() -> None:
    """R4.1, R10.2: only with Mare nostrvm."""
    fleets = ["INTERNVM", "AEGAEVM"]
    assert not may(position(fleets=fleets), "move ROMA")
    assert play(position(fleets=fleets, rules={"variants": ["mare_nostrvm"]}), "move ROMA")["ip"] == 5


@pytest.mark.parametrize(("kind", "cost"), [("unrest", 1), ("revolt", 2)])
def test_question_can_an_emperor_land_on_unrest_or_a_revolt(kind: str, cost: int) -> None:
    """R4.1, R4.2: yes, a Revolt costs 1 more."""
    assert play(position(fleets=["AEGAEVM"], tokens={"AEGYPTVS": kind}), "move AEGYPTVS")["ip"] == 6 - cost


def test_question_can_a_beaten_emperor_still_sail() -> None:
    """R5.4: no, the Roman phase of a beaten Emperor is over."""
    game = position(emperors={"diocletian": "LVSITANIA"}, armies=[army("CARTHAGINENSIS", "I")], fleets=["INTERNVM"], dice=(1, 6, 5, 1))
    after = play(game, "attack CARTHAGINENSIS")
    assert (after["emperor"], after["turn"], after["fleets"]) == ("galerius", 9, ["INTERNVM"])


def test_question_which_zone_is_the_black_sea() -> None:
    """R4.1, R4.4: AEGAEVM, the last of three zones; its fleet reaches the mouth of the Danube."""
    assert BOARD.zones == ("ATLANTICVM", "INTERNVM", "AEGAEVM")
    assert may(position(emperors={"diocletian": "AEGYPTVS"}, fleets=["AEGAEVM"]), "move MOESIA INFERIOR")


def test_question_is_britannia_coastal() -> None:
    """R4.1: no; a fleet in ATLANTICVM neither reaches it nor makes the crossing cheaper."""
    assert not may(position(emperors={"diocletian": "LVSITANIA"}, fleets=["ATLANTICVM"]), "move BRITANNIA")
    assert play(position(emperors={"diocletian": "BELGICA"}, fleets=["ATLANTICVM"]), "move BRITANNIA")["ip"] == 4


def test_question_does_diarchia_share_supplies() -> None:
    """R4.5, R10.3: no, only support."""
    assert not may(position(supply={"diocletian": 0}, rules={"variants": ["diarchia"]}), "secure")


@pytest.mark.parametrize(("glory", "great"), [(0, NOBODY), (1, NOBODY), (2, 0), (3, 0)])
def test_question_does_the_great_need_a_lead_of_2(glory: int, great: int) -> None:
    """R9.1, R10.5: it is won in any case; the title needs 2 points more than any other Emperor has."""
    owners = dict(zip(BORDERS, ["galerius", "galerius", "constantius", "maximian"], strict=False)) | {"LIBYA": "diocletian"}
    game = position(emperors={"diocletian": "PERSIA"}, tokens=owners, glory={"diocletian": glory}, rules={"variants": ["the_great"]})
    assert play(game, "secure")["outcome"] == "won"
    assert the_great(game[0]) == great
    assert not is_half_emperor(game[0], 0)
