"""R3: the turn, arrival and the 6 IP; R4.8: ending the turn."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, may, play, position
from tetrarchia_env import batch
from tetrarchia_env.notation import snapshot

CAPITALS = {"diocletian": "BITHYNIA", "galerius": "PANNONIA INFERIOR", "constantius": "GERMANIA INFERIOR", "maximian": "CISALPINA"}
OFF_BOARD = {"diocletian": None}
AROUND_ROMA = [["ETRVRIA", "I", "army"], ["LVCANIA", "IV", "army"]]


def arriving(emperor: str = "diocletian", **changes: Any) -> batch.Games:
    """Return a position with the Emperor off the board at the start of his turn."""
    places = {emperor: None} | changes.pop("emperors", {})
    return position(emperor=emperor, phase="arrival", emperors=places, **changes)


def before_diocletian(**changes: Any) -> batch.Games:
    """Return a position in Maximian's turn with Diocletian off the board; the next two dice only place Unrest in LVSITANIA."""
    places = OFF_BOARD | changes.pop("emperors", {})
    return position(emperor="maximian", emperors=places, dice=(1, 4, *changes.pop("dice", ())), **changes)


@pytest.mark.parametrize(
    ("emperor", "following"),
    [("diocletian", "galerius"), ("galerius", "constantius"), ("constantius", "maximian"), ("maximian", "diocletian")],
)
def test_turns_follow_the_order_of_the_emperors_r3_1(emperor: str, following: str) -> None:
    """R3.1: the order is cyclic; each completed turn counts one."""
    after = play(position(emperor=emperor, dice=(1, 4)), "end")
    assert (after["emperor"], after["phase"], after["turn"]) == (following, "roman", 9)


def test_the_barbarian_phase_follows_the_roman_phase_r3_1() -> None:
    """R3.1: dice are rolled only after the Roman phase."""
    game = position(dice=(1, 4))
    rng = snapshot(game)["dice"]
    assert play(game, "secure", "move ASIA")["dice"] == rng
    after = play(game, "end")
    assert dice_used(rng, after["dice"]) == [1, 4]
    assert after["tokens"] == {"BITHYNIA": "diocletian", "LVSITANIA": "unrest"}


@pytest.mark.parametrize("emperor", CAPITALS)
def test_arrival_is_in_roma_or_the_capital_r3_2(emperor: str) -> None:
    """R3.2: the Emperor chooses, and then begins his Roman phase with all his IP."""
    assert legal(arriving(emperor)) == {"enter ROMA", "enter capital"}
    for text, space in (("enter ROMA", "ROMA"), ("enter capital", CAPITALS[emperor])):
        after = play(arriving(emperor), text)
        assert (after["emperors"][emperor], after["phase"], after["ip"]) == (space, "roman", 6)


@pytest.mark.parametrize("kind", ["unrest", "revolt", "diocletian", "galerius"])
def test_no_arrival_in_a_capital_with_a_token_r3_2(kind: str) -> None:
    """R3.2, R3.3: any token closes the capital, even his own; only ROMA is left, so he arrives there without a decision."""
    after = play(before_diocletian(tokens={"BITHYNIA": kind}), "end")
    assert (after["emperors"]["diocletian"], after["phase"], after["ip"]) == ("ROMA", "roman", 6)


def test_no_arrival_in_a_capital_with_an_army_r3_2() -> None:
    """R3.2: an army, stopped by the strait, is in BITHYNIA."""
    after = play(before_diocletian(armies=[["BITHYNIA", "V", "army"]], dice=(1,)), "end")
    assert (after["emperor"], after["emperors"]["diocletian"], after["phase"]) == ("diocletian", "ROMA", "roman")


@pytest.mark.parametrize("kind", ["unrest", "revolt", "maximian"])
def test_a_token_does_not_close_roma_r3_2(kind: str) -> None:
    """R3.2: the condition applies only to the capital."""
    assert may(arriving(tokens={"ROMA": kind}), "enter ROMA")


@pytest.mark.parametrize("obstacle", ["galerius", "dux"])
def test_arrival_in_occupied_roma_r3_3(obstacle: str) -> None:
    """R3.3, R4.3: the arrival is legal, but only moves are legal after it."""
    there: dict[str, Any] = {"emperors": {"galerius": "ROMA"}}
    if obstacle == "dux":
        there = {"dux": "ROMA", "rules": {"modules": ["dux"]}}
    game = arriving(fleets=["AEGAEVM"], **there)
    after = play(game, "enter ROMA")
    assert (after["passing"], after["ip"]) == ("diocletian", 6)
    assert legal(game) == {"move ETRVRIA", "move LVCANIA"}


def test_arrival_in_an_occupied_capital_r3_3() -> None:
    """R3.3, R4.3: Constantius is in CISALPINA; even the exit to ETRVRIA, where Galerius is, is open, since it can be left."""
    game = arriving("maximian", emperors={"constantius": "CISALPINA", "galerius": "ETRVRIA"})
    assert play(game, "enter capital")["passing"] == "maximian"
    ways_out = {"ETRVRIA", "PANNONIA SVPERIOR", "RHAETIA", "NARBONENSIS", "GERMANIA SVPERIOR"}
    assert legal(game) == {f"move {name}" for name in ways_out}


@pytest.mark.parametrize("taken", [False, True])
def test_arrival_on_an_occupied_space_needs_ip_to_leave_r3_3(taken: bool) -> None:
    """R3.3: a free space is 6 IP away, past three Emperors; if R10.4 takes one IP, Galerius cannot arrive."""
    game = position(
        emperors={"diocletian": "SICILIA", "galerius": None, "constantius": "ROMA", "maximian": "LVCANIA"},
        armies=[["ETRVRIA", "I", "army"], ["EPIRVS", "IV", "army"]],
        tokens={"PANNONIA INFERIOR": "maximian", "PROCONSVLARIS": "revolt", "SARDINIA": "revolt"},
        rules={"variants": ["imperivm", "patres_patriae"]},
        dice=(1, 4, 1, 1, 5),  # LVSITANIA; the army in EPIRVS stays; GALLAECIA
    )
    after = play(game, *["take"] * taken, "end", "block")
    assert (after["emperor"], after["emperors"]["galerius"], after["ip"]) == (("galerius", None, 5) if taken else ("galerius", "ROMA", 6))
    assert legal(game) == ({"block", "accept"} if taken else {"move LVCANIA"})


def test_arrival_in_the_only_place_is_no_decision_r3_3() -> None:
    """R3.3: armies close both exits from ROMA, where Constantius blocks them; only the capital is left."""
    blocked = before_diocletian(emperors={"constantius": "ROMA"}, armies=AROUND_ROMA, rules={"variants": ["imperivm"]})
    after = play(blocked, "end", "block", "block")
    assert (after["emperor"], after["phase"], after["emperors"]["diocletian"]) == ("diocletian", "roman", "BITHYNIA")


def test_turn_without_a_place_to_arrive_is_skipped_r3_3() -> None:
    """R3.3: with a token in BITHYNIA the Emperor stays off the board, and the Barbarian phase follows at once."""
    game = before_diocletian(
        emperors={"constantius": "ROMA"}, armies=AROUND_ROMA, tokens={"BITHYNIA": "unrest"}, dice=(1, 5), rules={"variants": ["imperivm"]}
    )
    waiting = play(game, "end", "block", "block")
    assert (waiting["emperor"], waiting["phase"], waiting["emperors"]["diocletian"]) == ("diocletian", "block", None)
    assert waiting["tokens"] == {"BITHYNIA": "unrest", "LVSITANIA": "unrest", "GALLAECIA": "unrest"}
    after = play(game, "block", "block")
    assert (after["emperor"], after["turn"], after["emperors"]["diocletian"]) == ("galerius", 10, None)


def test_move_after_a_forced_arrival_is_a_decision_r3_3() -> None:
    """R3.3, R3.5: the arrival in ROMA is no decision, but the move out of it is."""
    game = before_diocletian(emperors={"galerius": "ROMA"}, tokens={"BITHYNIA": "unrest"})
    after = play(game, "end")
    assert (after["emperors"]["diocletian"], after["passing"], after["phase"]) == ("ROMA", "diocletian", "roman")
    assert legal(game) == {"move ETRVRIA", "move LVCANIA"}


def test_each_turn_has_6_ip_and_unspent_ip_are_lost_r3_4() -> None:
    """R3.4: four turns later the Emperor has 6 IP again, whatever he left unspent."""
    game = position(ip=5, dice=(1, 4, 1, 5))
    assert [play(game, "end")["ip"] for _ in range(4)] == [6, 6, 6, 6]


def test_turn_ends_when_all_ip_are_spent_r3_4() -> None:
    """R3.4: the turn ends after six moves over normal links."""
    game = position(emperors={"diocletian": "BAETICA"}, supply={"diocletian": 0}, dice=(5, 1))
    there_and_back = ["move LVSITANIA", "move BAETICA"] * 3
    assert play(game, *there_and_back[:-1])["ip"] == 1
    assert not may(game, "move TINGITANA")  # a strait: 2 IP
    assert play(game, there_and_back[-1])["emperor"] == "galerius"


def test_turn_ends_automatically_without_ip_r3_5() -> None:
    """R3.5: the last IP is spent, so Galerius is next."""
    after = play(position(ip=1, dice=(1, 4)), "secure")
    assert (after["emperor"], after["turn"], after["tokens"]) == ("galerius", 9, {"BITHYNIA": "diocletian", "LVSITANIA": "unrest"})


def test_turn_ends_automatically_with_unusable_ip_r3_5() -> None:
    """R3.5: all links of SARDINIA are broken; 1 IP cannot be used without a token to place."""
    island = {"diocletian": "ETRVRIA"}
    assert play(position(emperors=island, ip=3, supply={"diocletian": 0}, dice=(1, 4)), "move SARDINIA")["emperor"] == "galerius"
    assert play(position(emperors=island, ip=3, dice=(1, 4)), "move SARDINIA")["emperor"] == "diocletian"


@pytest.mark.parametrize(
    ("emperor", "variant", "power"),
    [("diocletian", "imperivm", "imperivm"), ("maximian", "imperivm", "imperivm"), ("diocletian", "patres_patriae", "take")],
)
def test_an_unused_power_keeps_the_turn_open_r3_5(emperor: str, variant: str, power: str) -> None:
    """R3.5: with 0 IP left the turn waits for the power or for `end`."""
    game = position(emperor=emperor, ip=1, rules={"variants": [variant]})
    assert play(game, "secure")["emperor"] == emperor
    assert legal(game) == {"end", power}


def test_an_ip_to_give_keeps_the_turn_open_r3_5() -> None:
    """R3.5, R10.4: in SARDINIA Constantius has 1 IP left, which he may give; then the turn is over."""
    game = position(
        emperor="constantius",
        emperors={"constantius": "ETRVRIA"},
        ip=3,
        supply={"constantius": 0},
        rules={"variants": ["patres_patriae"]},
        dice=(1, 4),
    )
    play(game, "move SARDINIA")
    assert legal(game) == {"end", "give"}
    after = play(game, "give")
    assert (after["emperor"], after["ip"]) == ("maximian", 7)


def test_a_single_passing_move_is_still_a_decision_r3_5() -> None:
    """R3.5: from ETRVRIA only ROMA can be reached, but the move is not made automatically."""
    game = position(emperors={"diocletian": "SARDINIA", "galerius": "ETRVRIA"}, ip=3)
    after = play(game, "move ETRVRIA")
    assert (after["emperors"]["diocletian"], after["ip"]) == ("ETRVRIA", 1)
    assert legal(game) == {"move ROMA"}


@pytest.mark.parametrize("ip", [1, 3, 6])
def test_ending_the_turn_is_possible_at_any_time_r4_8(ip: int) -> None:
    """R4.8: the turn may end with IP left; the Emperor's position and supply do not change."""
    game = position(ip=ip, dice=(1, 4))
    assert may(game, "end")
    after = play(game, "end")
    assert (after["emperor"], after["emperors"]["diocletian"], after["supply"]["diocletian"]) == ("galerius", "BITHYNIA", 4)


def test_a_turn_cannot_end_while_passing_r4_8() -> None:
    """R4.8, R4.3: the Emperor must pass the other figure first."""
    game = position(emperors={"diocletian": "LVCANIA", "galerius": "ROMA"})
    play(game, "move ROMA")
    assert not may(game, "end")
    play(game, "move ETRVRIA")
    assert may(game, "end")
