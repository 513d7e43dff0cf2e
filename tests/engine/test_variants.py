"""R10: the five variants."""

from typing import Any

import pytest

from helpers.positions import dice_used, legal, may, play, position, rng_for
from tetrarchia_env.board import EMPERORS
from tetrarchia_env.engine.the_great import is_half_emperor, the_great
from tetrarchia_env.engine.turn import agent_to_act

Changes = dict[str, Any]
IMPERIVM, PATRES, GREAT = ({"variants": [name]} for name in ("imperivm", "patres_patriae", "the_great"))
SYRIA, BITHYNIA = (5, 1), (5, 6)  # R6.3: Unrest far away; no change, because of the printed token

# Galerius, with his capital's printed token, attacks in NORICVM: R + 1 against N + 1
ATTACK: Changes = {"emperor": "galerius", "armies": [["NORICVM", "III", "army"]], "tokens": {"NORICVM": "revolt"}}
# Galerius, without support, is attacked after Maximian's turn: R against N + 1. In BLOCKADE it is Constantius, also over a normal link
ATTACKED: Changes = {"armies": [["PANNONIA INFERIOR", "III", "army"]], "tokens": {"PANNONIA INFERIOR": "revolt"}}
ATTACKED |= {"emperor": "maximian", "emperors": {"galerius": "NORICVM"}}
BLOCKADE: Changes = {"armies": [["GERMANIA INFERIOR", "II", "army"]], "tokens": {"GERMANIA INFERIOR": "revolt"}}
BLOCKADE |= {"emperor": "maximian", "emperors": {"constantius": "GERMANIA SVPERIOR"}}


def test_diocletian_buys_orders_for_a_token() -> None:
    """R10.1: the token leaves the game; the power costs no IP and allows moves of the other Emperors (R4.1: not into an army)."""
    game = position(rules=IMPERIVM, emperors={"maximian": None}, ip=2, **ATTACK | {"emperor": "diocletian"})
    assert not any(text.startswith("order") for text in legal(game))
    after = play(game, "imperivm")
    assert (after["supply"]["diocletian"], after["tokens"], after["ip"]) == (3, {"NORICVM": "revolt"}, 2)
    galerius = {"DALMATIA", "PANNONIA SVPERIOR", "MOESIA SVPERIOR", "DACIA", "GERMANIA MAGNA"}
    orders = {f"order galerius {space}" for space in galerius} | {"order constantius BELGICA", "order constantius GERMANIA SVPERIOR"}
    assert {text for text in legal(game) if text.startswith("order")} == orders


@pytest.mark.parametrize(("emperor", "space", "cost"), [("galerius", "NORICVM", 1), ("galerius", "DACIA", 3), ("maximian", "SICILIA", 1)])
def test_an_order_costs_as_much_as_the_move(emperor: str, space: str, cost: int) -> None:
    """R10.1: R4.1 applies to the moved Emperor: broken link, Revolt, fleet."""
    after = play(position(rules=IMPERIVM, tokens={"DACIA": "revolt"}, fleets=["INTERNVM"]), "imperivm", f"order {emperor} {space}")
    assert (after["emperors"][emperor], after["ip"], after["emperor"]) == (space, 6 - cost, "diocletian")


@pytest.mark.parametrize("host", ["diocletian", "maximian"])
def test_an_ordered_emperor_passes_like_any_other(host: str) -> None:
    """R10.1, R4.3: until the ordered Emperor has passed only his affordable moves are legal (not RHAETIA)."""
    places = {"maximian": None, host: "PANNONIA SVPERIOR"}
    game = position(rules=IMPERIVM, emperors=places, ip=2)
    assert play(game, "imperivm", "order galerius PANNONIA SVPERIOR")["passing"] == "galerius"
    assert legal(game) == {f"order galerius {space}" for space in ("PANNONIA INFERIOR", "NORICVM", "DALMATIA", "CISALPINA")}
    assert play(game, "order galerius NORICVM")["passing"] is None
    assert not may(position(rules=IMPERIVM, emperors=places, ip=1, pending={"used": ["power"]}), "order galerius PANNONIA SVPERIOR")


@pytest.mark.parametrize(("emperor", "power"), [("diocletian", True), ("galerius", False), ("constantius", False), ("maximian", True)])
def test_imperivm_is_legal_with_no_ip_left(emperor: str, power: bool) -> None:
    """R10.1, R3.5: the turn does not end automatically, except after buying orders with no IP left."""
    game = position(rules=IMPERIVM, emperor=emperor, ip=1, emperors={"diocletian": None, emperor: "GALATIA"})
    after = play(game, "move ASIA")
    assert (after["emperor"] == emperor, legal(game) == {"imperivm", "end"}) == (power, power)
    assert not power or (play(game, "imperivm")["emperor"] == "galerius") == (emperor == "diocletian")


@pytest.mark.parametrize("emperor", ["diocletian", "maximian"])
def test_imperivm_needs_the_variant_a_token_and_no_passing(emperor: str) -> None:
    """R10.1: the token comes from the supply, not from the board; while passing only moves are legal."""
    passing: Changes = {"emperors": {emperor: "NORICVM", "galerius": "NORICVM"}, "passing": emperor}
    assert not may(position(emperor=emperor), "imperivm")
    assert not may(position(rules=IMPERIVM, emperor=emperor, tokens={"ROMA": emperor}, supply={emperor: 0}), "imperivm")
    assert all(text.startswith("move") for text in legal(position(rules=IMPERIVM, emperor=emperor, **passing)))


@pytest.mark.parametrize(("emperor", "ip", "then"), [("diocletian", 6, 6), ("maximian", 6, 7), ("maximian", 0, 1)])
def test_a_power_is_bought_once_per_turn(emperor: str, ip: int, then: int) -> None:
    """R10.1: Maximian gets +1 IP; the token leaves the game; the next turn has 6 IP and no orders, and the power is available again."""
    game = position(rules=IMPERIVM, emperor=emperor, ip=ip)
    after = play(game, "imperivm")
    assert (after["ip"], after["supply"][emperor], after["tokens"], may(game, "imperivm")) == (then, 3, {}, False)
    after = play(game, "end", "end", "end", "end")
    assert (after["emperor"], after["ip"], after["supply"][emperor], may(game, "imperivm")) == (emperor, 6, 3, True)
    assert not any(text.startswith("order") for text in legal(game))


def test_galerius_decides_until_his_value_is_higher() -> None:
    """R10.1: 3 against 5: Galerius decides while his value is lower or equal; each +1 costs a token."""
    game = position(rules=IMPERIVM, dice=(2, 4), **ATTACK)
    for supply, text in zip((4, 3, 2), ("attack NORICVM", "boost", "boost"), strict=True):
        after = play(game, text)
        assert (after["phase"], agent_to_act(game[0]), legal(game)) == ("boost", 1, {"boost", "accept"})
        assert (after["supply"]["galerius"], after["emperors"]["galerius"]) == (supply, "PANNONIA INFERIOR")
    after = play(game, "boost")
    assert (after["phase"], after["ip"], after["supply"]["galerius"], after["armies"], after["tokens"]) == ("roman", 4, 1, [], {})


@pytest.mark.parametrize(
    ("dice", "supply", "answers", "place", "left"),
    [
        ((5, 4), 4, [], "NORICVM", 4),
        ((4, 4), 4, ["accept"], "PANNONIA INFERIOR", 4),
        ((2, 4, *BITHYNIA), 0, [], None, 0),
        ((1, 6, *BITHYNIA), 1, ["accept"], None, 1),  # asked even if a boost cannot win
        ((1, 6, *BITHYNIA), 1, ["boost"], None, 0),
    ],
)
def test_conditions_for_a_boost_decision(dice: tuple[int, ...], supply: int, answers: list[str], place: str | None, left: int) -> None:
    """R10.1, R5.4: a higher value wins without a decision, a tie may be accepted, a defeat ends the Roman phase."""
    after = play(position(rules=IMPERIVM, dice=dice, supply={"galerius": supply}, **ATTACK), "attack NORICVM", *answers)
    assert (after["phase"], after["emperors"]["galerius"], after["supply"]["galerius"]) == ("roman", place, left)
    assert after["emperor"] == ("galerius" if place else "constantius")


def test_boost_is_added_before_doubling_and_not_for_helpers() -> None:
    """R10.1: (1 + 1) x 2 against 7; two boosts make (3 + 1) x 2. Diocletian's 1 x 2 loses without a decision."""
    places = {"diocletian": "RHAETIA", "maximian": None}
    game = position(rules=IMPERIVM, dice=(1, 6), emperors=places, **ATTACK)
    assert play(game, "attack NORICVM", "boost")["phase"] == "boost"
    assert play(game, "boost")["emperors"]["galerius"] == "NORICVM"
    after = play(position(rules=IMPERIVM, dice=(1, 6, *SYRIA), emperors=places, **ATTACK | {"emperor": "diocletian"}), "attack NORICVM")
    assert (after["emperors"]["diocletian"], after["phase"]) == (None, "roman")


@pytest.mark.parametrize(("answers", "place"), [(["boost", "boost"], "NORICVM"), (["accept"], None)])
def test_attacked_galerius_decides_in_another_turn(answers: list[str], place: str | None) -> None:
    """R10.1, R5.5: 3 against 4; the next turn begins after the combat."""
    game = position(rules=IMPERIVM, dice=(*SYRIA, 3, 3), **ATTACKED)
    after = play(game, "end")
    assert (after["phase"], after["emperor"], agent_to_act(game[0])) == ("boost", "maximian", 1)
    after = play(game, *answers)
    assert (after["emperors"]["galerius"], after["emperor"]) == (place, "diocletian")
    assert after["armies"] == ([] if place else [["NORICVM", "III", "army"]])


def test_galerius_boosts_against_pirates() -> None:
    """R10.1, R11.2: ROMA supports Galerius on this coast: 3 against 5, and the third boost wins."""
    changes: Changes = {"emperor": "galerius", "emperors": {"galerius": "DALMATIA", "maximian": "RHAETIA"}, "pirates": "INTERNVM"}
    game = position(rules={**IMPERIVM, "modules": ["pirates"]}, dice=(2, 5), **changes)
    assert play(game, "attack PIRATES", "boost", "boost")["phase"] == "boost"
    assert play(game, "boost")["pirates"] == "gone"


@pytest.mark.parametrize(("answer", "supply", "place"), [("block", 3, "GERMANIA SVPERIOR"), ("accept", 4, None)])
def test_constantius_blocks_before_the_combat_dice(answer: str, supply: int, place: str | None) -> None:
    """R10.1: Constantius decides in another turn; if he blocks, the army stays without a roll; if he accepts, it wins 7 to 1."""
    game = position(rules=IMPERIVM, dice=(*SYRIA, 1, 6), **BLOCKADE)
    before = int(game["dice"][0])
    after = play(game, "end")
    assert (after["phase"], after["emperor"], agent_to_act(game[0]), legal(game)) == ("block", "maximian", 2, {"block", "accept"})
    after = play(game, answer)
    assert (after["supply"]["constantius"], after["emperors"]["constantius"], after["emperor"]) == (supply, place, "diocletian")
    assert dice_used(before, after["dice"]) == [5, 1] + [1, 6] * (answer == "accept")
    assert after["armies"] == [["GERMANIA INFERIOR" if place else "GERMANIA SVPERIOR", "II", "army"]]


@pytest.mark.parametrize(("link", "phase"), [(3, "roman"), (4, "block")])
def test_block_follows_the_roll_for_the_link(link: int, phase: str) -> None:
    """R10.1, R8.2: an army stopped by a broken link needs no block; only three dice are rolled."""
    changes = BLOCKADE | {"armies": [["TARRACONENSIS", "I", "army"]], "emperors": {"constantius": "NARBONENSIS"}}
    before = rng_for((*SYRIA, link))
    after = play(position(rules=IMPERIVM, dice=(*SYRIA, link), **changes), "end")
    assert (after["phase"], dice_used(before, after["dice"])) == (phase, [5, 1, link])


def test_the_other_armies_advance_after_a_block() -> None:
    """R10.1, R8.1: two armies are blocked one after the other; the third advances."""
    armies = [["TARRACONENSIS", "I", "army"], ["AQVITANIA", "II", "army"], ["AEGYPTVS", "VI", "army"]]
    changes = BLOCKADE | {"armies": armies, "tokens": {army[0]: "revolt" for army in armies}, "emperors": {"constantius": "NARBONENSIS"}}
    game = position(rules=IMPERIVM, dice=(*SYRIA, 4), **changes)
    for supply, text in ((4, "end"), (3, "block")):
        after = play(game, text)
        assert (after["phase"], after["supply"]["constantius"], after["armies"]) == ("block", supply, armies)
    after = play(game, "block")
    assert (after["emperor"], after["armies"]) == ("diocletian", [*armies[:2], ["CYRENAICA", "VI", "army"]])


@pytest.mark.parametrize(
    "changes", [{"supply": {"constantius": 0}}, {"emperors": {"diocletian": "GERMANIA SVPERIOR", "constantius": None}}]
)
def test_no_block_without_tokens_or_by_another_emperor(changes: Changes) -> None:
    """R10.1: only Constantius blocks, and only if he has tokens."""
    after = play(position(rules=IMPERIVM, dice=(*SYRIA, 1, 6), **BLOCKADE | changes), "end")
    assert after["armies"] == [["GERMANIA SVPERIOR", "II", "army"]]


@pytest.mark.parametrize(
    ("fleets", "goal", "joined"),
    [("AI", "SICILIA", True), ("AI", "SYRIA", False), ("AE", "SYRIA", False), ("IE", "SICILIA", False), ("AIE", "SYRIA", True)],
)
def test_adjacent_fleets_join_their_zones(fleets: str, goal: str, joined: bool) -> None:
    """R10.2: from the Atlantic coast for 1 IP, only over adjacent zones that all have fleets."""
    zones = [{"A": "ATLANTICVM", "I": "INTERNVM", "E": "AEGAEVM"}[letter] for letter in fleets]
    changes: Changes = {"fleets": zones, "emperors": {"diocletian": "TINGITANA"}, "ip": 1}
    assert may(position(rules={"level": "4311", "variants": ["mare_nostrvm"]}, **changes), f"move {goal}") == joined
    assert not may(position(rules={"level": "4311"}, **changes), f"move {goal}")


@pytest.mark.parametrize(
    ("tokens", "dice"),
    [
        ({}, (3, 3)),
        ({"PANNONIA INFERIOR": "unrest"}, (4, 3)),
        ({"NORICVM": "diocletian"}, (2, 3)),
        ({"NORICVM": "galerius", "PANNONIA SVPERIOR": "diocletian", "CISALPINA": "constantius"}, (1, 3)),
    ],
)
def test_a_couple_shares_its_support(tokens: dict[str, str], dice: tuple[int, int]) -> None:
    """R10.3: a tie needs support 1 from Galerius' printed token, 0 if it is covered, or 2 and 3 from a mixed chain."""
    changes: Changes = {"emperors": {"diocletian": "NORICVM", "maximian": "ROMA"}, "armies": [["RHAETIA", "III", "army"]]}
    after = play(position(rules={"variants": ["diarchia"]}, dice=dice, tokens={"RHAETIA": "revolt", **tokens}, **changes), "attack RHAETIA")
    assert (after["emperors"]["diocletian"], after["armies"], after["ip"]) == ("NORICVM", changes["armies"], 4)


def test_the_western_couple_shares_its_support() -> None:
    """R10.3: Maximian's CISALPINA supports Constantius, 4 + 1 against 4 + 1; without the variant he is beaten."""
    changes = ATTACK | {"emperor": "constantius", "emperors": {"constantius": "PANNONIA SVPERIOR", "galerius": None}}
    for variants, place in (["diarchia"], "PANNONIA SVPERIOR"), ([], None):
        after = play(position(rules={"variants": variants}, dice=(4, 4, *BITHYNIA), **changes), "attack NORICVM")
        assert after["emperors"]["constantius"] == place


@pytest.mark.parametrize(("galerius", "phase"), [("PANNONIA INFERIOR", "roman"), (None, "arrival")])
def test_diocletian_takes_from_galerius_next_turn(galerius: str | None, phase: str) -> None:
    """R10.4: 1 IP, once per turn, even with 0 IP left; only Galerius' next turn is shorter."""
    game = position(rules=PATRES, ip=0, emperors={"galerius": galerius})
    assert legal(game) == {"take", "end"}
    assert (play(game, "take")["ip"], may(game, "take")) == (1, False)
    after = play(game, "end")
    assert (after["emperor"], after["phase"], after["ip"]) == ("galerius", phase, 5)
    after = play(game, *["enter ROMA"] * (galerius is None), "end", "end", "end", "end")
    assert (after["emperor"], after["ip"]) == ("galerius", 6)


def test_constantius_gives_to_maximians_next_turn() -> None:
    """R10.4: 1 IP, once per turn; with 0 IP giving is impossible, so the turn ends automatically (R3.5)."""
    game = position(rules=PATRES, emperor="constantius")
    assert (play(game, "give")["ip"], may(game, "give")) == (5, False)
    assert [play(game, "end")["ip"] for _ in range(5)] == [7, 6, 6, 6, 6]
    assert play(position(rules=PATRES, emperor="constantius", ip=1), "move BELGICA")["emperor"] == "maximian"


@pytest.mark.parametrize("emperor", EMPERORS)
def test_conditions_for_take_and_give(emperor: str) -> None:
    """R10.4: Diocletian takes, Constantius gives, not while passing, and only with the variant."""
    passing: Changes = {"emperors": {emperor: "RHAETIA", EMPERORS[EMPERORS.index(emperor) - 1]: "RHAETIA"}, "passing": emperor}
    powers = {"diocletian": {"take"}, "constantius": {"give"}}.get(emperor, set())
    assert legal(position(rules=PATRES, emperor=emperor)) & {"take", "give"} == powers
    assert not legal(position(rules=PATRES, emperor=emperor, **passing)) & {"take", "give"}
    assert not legal(position(emperor=emperor)) & {"take", "give"}


@pytest.mark.parametrize(
    ("changes", "text", "dice", "glory", "reserve", "then"),
    [
        (ATTACK, "attack NORICVM", (6, 1), 1, 20, (2, 19)),
        (ATTACK, "attack NORICVM", (6, 1), 0, 0, (0, 0)),
        (ATTACK, "attack NORICVM", (3, 3), 1, 20, (1, 20)),
        (ATTACK, "attack NORICVM", (1, 6, *BITHYNIA), 1, 20, (0, 21)),
        (ATTACK, "attack NORICVM", (1, 6, *BITHYNIA), 0, 21, (0, 21)),
        (ATTACKED, "end", (*BITHYNIA, 6, 1), 1, 20, (2, 19)),
        (ATTACKED, "end", (*BITHYNIA, 1, 6), 1, 20, (0, 21)),
    ],
)
def test_glory(changes: Changes, text: str, dice: tuple[int, ...], glory: int, reserve: int, then: tuple[int, int]) -> None:
    """R10.5: a victory takes an Unrest token from the reserve, a defeat returns one, for attacker and defender."""
    stock: Changes = {"glory": {"galerius": glory}, "reserve": {"unrest": reserve, "revolt": 20, "armies": 2}}
    for rules, expected in ((GREAT, then), ({}, (glory, reserve))):
        after = play(position(rules=rules, dice=dice, **changes, **stock), text)
        assert (after["glory"]["galerius"], after["reserve"]["unrest"]) == expected


def test_glory_is_settled_before_the_game_ends() -> None:
    """R10.5, R9.4: the winning army enters and no Revolt is left; the glory was returned before that."""
    stock: Changes = {"glory": {"galerius": 1}, "reserve": {"revolt": 0, "unrest": 20, "armies": 2}}
    after = play(position(rules=GREAT, dice=(*BITHYNIA, 1, 6), **ATTACKED, **stock), "end")
    assert (after["outcome"], after["glory"]["galerius"], after["reserve"]["unrest"]) == ("reserve empty", 0, 21)


def test_glory_from_pirates_and_from_combats_of_the_dux() -> None:
    """R10.5: combats against Pirates count, combats of the Dux do not."""
    for text, glory in ("attack PIRATES", 1), ("dux attack PIRATES", 0):
        game = position(rules={**GREAT, "modules": ["dux", "pirates"]}, pirates="AEGAEVM", dux="ASIA", dice=(6, 1))
        assert (sum(play(game, text)["glory"].values()), game["pirates"][0]) == (glory, 0)


@pytest.mark.parametrize(
    ("borders", "glory", "outcome", "great", "halves"),
    [
        ("ddddcc", {}, "won", "diocletian", set()),
        ("dddccc", {}, "won", None, {"diocletian", "constantius"}),
        ("dddggm", {}, "won", None, set()),
        ("ddggcm", {"maximian": 3}, "won", "maximian", set()),
        ("ddggcm", {"maximian": 2}, "won", None, {"maximian"}),
        ("ddddgg", {}, "rome fell", None, set()),
    ],
)
def test_titles(borders: str, glory: dict[str, int], outcome: str, great: str | None, halves: set[str]) -> None:
    """R10.5: borders plus glory of a won game; 2 ahead of all others: the Great; else 2 ahead of the partner."""
    names = ["GAETVLIA", "BRITANNIA", "GERMANIA MAGNA", "SARMATIA", "PERSIA", "LIBYA"]
    tokens = {border: next(e for e in EMPERORS if e[0] == letter) for border, letter in zip(names, borders, strict=True)}
    game = position(rules=GREAT, phase="over", outcome=outcome, tokens=tokens, glory=glory)[0]
    assert (None if the_great(game) < 0 else EMPERORS[the_great(game)]) == great
    assert {name for e, name in enumerate(EMPERORS) if is_half_emperor(game, e)} == halves
