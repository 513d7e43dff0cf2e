"""The Barbarian phase before the armies advance: Empire status, the roll for trouble, Uprisings (R6, R7)."""

from typing import Any

import pytest

from helpers.positions import dice_used, play, position
from tetrarchia_env.engine.dice import roll
from tetrarchia_env.notation import Snapshot, snapshot

QUIET = (5, 6)  # BITHYNIA, which its printed token protects
NO_ARMIES = {"armies": 0}  # so that an Uprising has no aftermath


def end_turn(*, dice: tuple[int | None, ...] = QUIET, **changes: Any) -> tuple[Snapshot, list[int]]:
    """Return the position after the Barbarian phase and the dice that it used."""
    game = position(dice=dice, **changes)
    before = snapshot(game)["dice"]
    after = play(game, "end")
    return after, dice_used(before, after["dice"])


# R6.1, R6.5: Empire status


def test_revolt_spreads_along_a_line_of_unrest() -> None:
    """R6.1: Unrest turns into Revolt from neighbour to neighbour, without a roll over normal links; unreachable Unrest stays."""
    line = {"BAETICA": "revolt", "CARTHAGINENSIS": "unrest", "TARRACONENSIS": "unrest", "GALLAECIA": "unrest"}
    after, used = end_turn(tokens={**line, "BELGICA": "unrest"})
    assert after["tokens"] == {**dict.fromkeys(line, "revolt"), "BELGICA": "unrest"}
    assert after["reserve"] == {"unrest": 20, "revolt": 17, "armies": 3}
    assert used == [5, 6]


def test_status_changes_only_unrest() -> None:
    """R6.1: empty neighbours and Emperors' tokens do not change."""
    tokens = {"CARTHAGINENSIS": "revolt", "BAETICA": "maximian"}
    after, used = end_turn(tokens=tokens)
    assert after["tokens"] == tokens
    assert used == [5, 6]


@pytest.mark.parametrize("die", [1, 2, 3, 4, 5, 6])
def test_status_rolls_for_a_broken_link(die: int) -> None:
    """R6.5, R6.1: the provinces are linked on 4 to 6 only."""
    after, used = end_turn(dice=(die, *QUIET), tokens={"TINGITANA": "revolt", "BAETICA": "unrest"})
    assert after["tokens"]["BAETICA"] == ("revolt" if die >= 4 else "unrest")
    assert used == [die, 5, 6]


@pytest.mark.parametrize(("dice", "risen"), [((4, 1), "BAETICA"), ((1, 4), "CAESARIENSIS")])
def test_neighbours_are_rolled_for_by_id(dice: tuple[int, int], risen: str) -> None:
    """R6.1: of TINGITANA's two neighbours, both over broken links, BAETICA is rolled for first."""
    tokens = {"CAESARIENSIS": "unrest", "TINGITANA": "revolt", "BAETICA": "unrest"}
    after, used = end_turn(dice=dice + QUIET, tokens=tokens)
    assert [name for name, kind in after["tokens"].items() if kind == "revolt"] == ["TINGITANA", risen]
    assert used == [*dice, 5, 6]


@pytest.mark.parametrize(("dice", "risen"), [((4, 1), "MOESIA SVPERIOR"), ((1, 4), "ACHAEA")])
def test_revolts_spread_in_order_of_id(dice: tuple[int, int], risen: str) -> None:
    """R6.1: DACIA's neighbour is rolled for before the neighbour of EPIRVS."""
    tokens = {"EPIRVS": "revolt", "DACIA": "revolt", "MOESIA SVPERIOR": "unrest", "ACHAEA": "unrest"}
    after, used = end_turn(dice=dice + QUIET, tokens=tokens)
    assert {name for name, kind in after["tokens"].items() if kind == "revolt"} == {"DACIA", "EPIRVS", risen}
    assert used == [*dice, 5, 6]


@pytest.mark.parametrize(("dice", "risen"), [((4, 1), "ACHAEA"), ((1, 4), "TARRACONENSIS")])
def test_new_revolts_join_the_end_of_the_queue(dice: tuple[int, int], risen: str) -> None:
    """R6.1: NARBONENSIS rises first, but its neighbour TARRACONENSIS is rolled for after the neighbour of EPIRVS."""
    unrest = dict.fromkeys(("NARBONENSIS", "TARRACONENSIS", "ACHAEA"), "unrest")
    after, used = end_turn(dice=dice + QUIET, tokens={"LVGDVNENSIS": "revolt", "EPIRVS": "revolt", **unrest})
    assert {name for name, kind in after["tokens"].items() if kind == "revolt"} == {"LVGDVNENSIS", "EPIRVS", "NARBONENSIS", risen}
    assert used == [*dice, 5, 6]


@pytest.mark.parametrize(("dice", "kind"), [((4,), "revolt"), ((3, 4), "revolt"), ((3, 3), "unrest")])
def test_each_broken_link_is_rolled_separately(dice: tuple[int, ...], kind: str) -> None:
    """R6.5, R6.1: CAPPADOCIA is rolled for from SYRIA and then from CILICIA, until it rises."""
    tokens = {"SYRIA": "revolt", "CILICIA": "revolt", "CAPPADOCIA": "unrest"}
    after, used = end_turn(dice=dice + QUIET, tokens=tokens)
    assert after["tokens"]["CAPPADOCIA"] == kind
    assert used == [*dice, 5, 6]


def test_failed_roll_does_not_prevent_a_detour() -> None:
    """R6.1: the link from DACIA to MOESIA SVPERIOR fails, but PANNONIA INFERIOR reaches it without a roll."""
    tokens = {"DACIA": "revolt", "PANNONIA INFERIOR": "unrest", "MOESIA SVPERIOR": "unrest"}
    after, used = end_turn(dice=(4, 1, *QUIET), tokens=tokens)
    assert after["tokens"] == dict.fromkeys(tokens, "revolt")
    assert used == [4, 1, 5, 6]


# R6.2: removal


def test_emperors_on_revolts_are_removed() -> None:
    """R6.2: an Emperor on an old or a new Revolt is removed, but not one on Unrest or next to a Revolt."""
    emperors = {"diocletian": "BAETICA", "galerius": "CARTHAGINENSIS", "constantius": "BELGICA", "maximian": "GALLAECIA"}
    tokens = {"BAETICA": "revolt", "CARTHAGINENSIS": "unrest", "BELGICA": "unrest"}
    after, _ = end_turn(tokens=tokens, emperors=emperors)
    assert after["emperors"] == {"diocletian": None, "galerius": None, "constantius": "BELGICA", "maximian": "GALLAECIA"}
    assert (after["emperor"], after["phase"]) == ("galerius", "arrival")


def test_emperor_on_a_newly_rolled_revolt_stays() -> None:
    """R6.2: removal precedes the roll of R6.3, so the Emperor stays until the next Empire status."""
    game = position(dice=(2, 1, *QUIET), tokens={"BELGICA": "unrest"}, emperors={"constantius": "BELGICA"})
    after = play(game, "end")
    assert (after["tokens"], after["emperors"]["constantius"]) == ({"BELGICA": "revolt"}, "BELGICA")
    assert play(game, "end")["emperors"]["constantius"] is None


# R6.3, R6.4: the roll


@pytest.mark.parametrize(
    ("lying", "then"), [(None, "unrest"), ("unrest", "revolt"), ("diocletian", "diocletian"), ("maximian", "maximian")]
)
def test_roll_for_trouble(lying: str | None, then: str) -> None:
    """R6.3: the roll IV 5 meets no token, Unrest, or an Emperor's token."""
    after, used = end_turn(dice=(4, 5), tokens={"ACHAEA": lying} if lying else {})
    assert after["tokens"] == {"ACHAEA": then}
    assert after["reserve"] == {"unrest": 21 - (then == "unrest"), "revolt": 21 - (then == "revolt"), "armies": 3}
    assert used == [4, 5]


@pytest.mark.parametrize(("dice", "capital"), [((5, 6), "BITHYNIA"), ((3, 2), "PANNONIA INFERIOR"), ((2, 2), "GERMANIA INFERIOR")])
@pytest.mark.parametrize(("lying", "then"), [(None, None), ("unrest", "revolt"), ("galerius", "galerius")])
def test_printed_token_protects_while_no_token_lies_on_it(dice: tuple[int, int], capital: str, lying: str | None, then: str | None) -> None:
    """R6.3: a capital without a token is protected whether its Emperor is there or not; a capital with Unrest is not."""
    off_board = dict.fromkeys(("galerius", "constantius"))
    after, used = end_turn(dice=dice, tokens={capital: lying} if lying else {}, emperors={"diocletian": "ASIA", **off_board})
    assert after["tokens"].get(capital) == then
    assert used == list(dice)


@pytest.mark.parametrize(("region", "number"), [(1, 1), (1, 6), (2, 1), (3, 4), (4, 2), (6, 6)])
def test_first_die_is_the_region_second_the_number(region: int, number: int) -> None:
    """R6.3: the dice R and N select province R N."""
    names = {(1, 1): "TINGITANA", (1, 6): "TARRACONENSIS", (2, 1): "BELGICA", (3, 4): "RHAETIA", (4, 2): "MOESIA SVPERIOR"}
    after, _ = end_turn(dice=(region, number))
    assert after["tokens"] == {names.get((region, number), "PROCONSVLARIS"): "unrest"}


@pytest.mark.parametrize(("status", "army"), [(4, 1), (1, 4)])
def test_order_of_the_barbarian_phase(status: int, army: int) -> None:
    """R6.4: the three parts roll their dice in this order, then galerius begins with 6 IP."""
    tokens = {"TINGITANA": "revolt", "BAETICA": "unrest"}
    after, used = end_turn(dice=(status, 4, 5, army), tokens=tokens, armies=[["LIBYA", "VI", "army"]], ip=2)
    assert after["tokens"]["BAETICA"] == ("revolt" if status == 4 else "unrest")
    assert after["tokens"]["ACHAEA"] == "unrest"
    assert after["armies"][0][0] == ("AEGYPTVS" if army == 4 else "LIBYA")
    assert used == [status, 4, 5, army]
    assert (after["turn"], after["emperor"], after["phase"], after["ip"]) == (9, "galerius", "roman", 6)


def test_revolt_of_an_advance_spreads_only_in_the_next_status() -> None:
    """R6.4: the armies advance last, so Unrest next to their new Revolt stays Unrest."""
    tokens = {"THRACIA": "revolt", "ACHAEA": "unrest"}
    after, _ = end_turn(tokens=tokens, armies=[["THRACIA", "IV", "army"]])
    assert after["tokens"] == {**tokens, "MACEDONIA": "revolt"}


@pytest.mark.parametrize(("region", "number"), [(1, 4), (2, 1), (5, 1), (5, 6)], ids=["Uprising", "Revolt", "Unrest", "nothing"])
def test_given_province_equals_the_rolled_one(region: int, number: int) -> None:
    """R6.3: a province in `foe` when the phase begins replaces the dice that would select it; the resulting records are equal."""
    rolled = position(dice=(region, number), tokens={"LVSITANIA": "revolt", "BELGICA": "unrest"}, armies=[["PERSIA", "V", "army"]])
    given = rolled.copy()
    given["foe"] = 6 * (roll(given[0]) - 1) + roll(given[0]) - 1
    play(rolled, "end")
    play(given, "end")
    assert given.tobytes() == rolled.tobytes()


# R7.1: Uprising


@pytest.mark.parametrize(("dice", "risen"), [((4, 1), "RHAETIA"), ((1, 4), "CISALPINA")])
def test_uprising_rolls_for_neighbours_by_id(dice: tuple[int, int], risen: str) -> None:
    """R7.1, R6.5: GERMANIA SVPERIOR spreads over its normal links without a roll, rolls for RHAETIA, then CISALPINA, and no further."""
    after, used = end_turn(dice=(2, 3, *dice), tokens={"GERMANIA SVPERIOR": "revolt"}, reserve=NO_ARMIES)
    normal = ("BELGICA", "GERMANIA INFERIOR", "GERMANIA SVPERIOR", "LVGDVNENSIS", "NARBONENSIS")
    assert after["tokens"] == dict.fromkeys((*normal, risen), "revolt")
    assert used == [2, 3, *dice]


def test_uprising_does_not_roll_for_a_neighbour_with_a_revolt() -> None:
    """R7.1: RHAETIA already has a Revolt, so only CISALPINA is rolled for."""
    tokens = {"GERMANIA SVPERIOR": "revolt", "RHAETIA": "revolt"}
    after, used = end_turn(dice=(2, 3, 4), tokens=tokens, reserve=NO_ARMIES)
    assert after["tokens"]["CISALPINA"] == "revolt"
    assert used == [2, 3, 4]


def test_uprising_replaces_other_tokens() -> None:
    """R7.1: an Emperor's token returns to his supply, Unrest to the reserve; a printed token gives no protection."""
    tokens = {"GERMANIA SVPERIOR": "revolt", "BELGICA": "galerius", "RHAETIA": "unrest"}
    after, used = end_turn(dice=(1, 2, 3, 4, 1), tokens=tokens, reserve=NO_ARMIES)
    assert {after["tokens"][name] for name in ("BELGICA", "RHAETIA", "GERMANIA INFERIOR")} == {"revolt"}
    assert (after["supply"]["galerius"], after["reserve"]["unrest"]) == (4, 21)
    assert used == [1, 2, 3, 4, 1]


# R7.2: aftermath

GALLAECIA_ROSE = dict.fromkeys(("GALLAECIA", "LVSITANIA", "TARRACONENSIS"), "revolt")


def uprising_in_gallaecia(*dice: int, tokens: dict[str, str] | None = None, **changes: Any) -> tuple[Snapshot, list[int]]:
    """Roll an Uprising in GALLAECIA, whose links are normal; `dice` and the returned dice are those after it."""
    after, used = end_turn(dice=(1, 5, *dice), tokens={"GALLAECIA": "revolt"} | (tokens or {}), **changes)
    assert GALLAECIA_ROSE.items() <= after["tokens"].items()
    assert used[:2] == [1, 5]
    return after, used[2:]


@pytest.mark.parametrize(("region", "name", "origin"), [(1, "GAETVLIA", "I"), (4, "SARMATIA", "IV"), (6, "LIBYA", "VI")])
def test_uprising_brings_an_army_to_an_empty_border(region: int, name: str, origin: str) -> None:
    """R7.2: the army comes from the reserve and tries to advance in the same turn; on 1 its broken link stops it."""
    after, used = uprising_in_gallaecia(region, 1)
    assert after["armies"] == [[name, origin, "army"]]
    assert after["reserve"]["armies"] == 2
    assert used == [region, 1]


@pytest.mark.parametrize(
    "there",
    [{"tokens": {"LIBYA": "galerius"}}, {"emperors": {"maximian": "LIBYA"}}, {"dux": "LIBYA", "rules": {"modules": ["dux"]}}],
    ids=["token", "emperor", "dux"],
)
def test_occupied_border_causes_trouble_in_its_region(there: dict[str, Any]) -> None:
    """R7.2: N is rolled and R6.3 applied to VI N; no army is placed."""
    after, used = uprising_in_gallaecia(6, 3, **there)
    assert after["tokens"] == GALLAECIA_ROSE | {"TRIPOLITANIA": "unrest"} | there.get("tokens", {})
    assert (after["armies"], after["reserve"]["armies"]) == ([], 3)
    assert used == [6, 3]


def test_army_on_the_border_occupies_it() -> None:
    """R7.2: an army counts as a figure; it then tries to advance."""
    after, used = uprising_in_gallaecia(6, 3, 1, armies=[["LIBYA", "VI", "army"]])
    assert (after["armies"], after["tokens"]["TRIPOLITANIA"]) == ([["LIBYA", "VI", "army"]], "unrest")
    assert used == [6, 3, 1]


@pytest.mark.parametrize(("lying", "then"), [("unrest", "revolt"), ("maximian", "maximian")])
def test_trouble_of_an_occupied_border_follows_the_roll_for_trouble(lying: str, then: str) -> None:
    """R7.2: R6.3 applies, with its protection."""
    after, used = uprising_in_gallaecia(6, 3, tokens={"LIBYA": "galerius", "TRIPOLITANIA": lying})
    assert after["tokens"]["TRIPOLITANIA"] == then
    assert used == [6, 3]


def test_no_army_in_the_reserve_ends_the_uprising() -> None:
    """R7.2: no die is rolled, whatever is on the borders."""
    after, used = uprising_in_gallaecia(6, 3, reserve=NO_ARMIES, tokens={"LIBYA": "galerius"})
    assert after["tokens"] == GALLAECIA_ROSE | {"LIBYA": "galerius"}
    assert used == []


def test_uprising_causes_another_uprising() -> None:
    """R7.2: LIBYA is occupied, so TRIPOLITANIA, in Revolt, rises too; its own border roll then brings the army."""
    after, used = uprising_in_gallaecia(6, 3, 4, tokens={"LIBYA": "galerius", "TRIPOLITANIA": "revolt"})
    risen = dict.fromkeys(("TRIPOLITANIA", "CYRENAICA", "PROCONSVLARIS"), "revolt")
    assert risen.items() <= after["tokens"].items()
    assert [army[1:] for army in after["armies"]] == [["IV", "army"]]
    assert (used[:3], len(used)) == ([6, 3, 4], 4)  # the last die is that of the army's first step
