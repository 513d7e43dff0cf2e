"""Set-up (R2), compared with a set-up computed here from the seed by an independent generator."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest

from helpers.positions import legal, play
from tetrarchia_env import batch
from tetrarchia_env.board import BOARD, EMPERORS, NUMERALS
from tetrarchia_env.notation import snapshot
from tetrarchia_env.options import Options
from tetrarchia_env.variants import TASKS

LEVELS = ("4211", "4200", "5300", "3122", "2033", "4003")
ALL_LEVELS = ["".join(digits) for digits in product("2345", "0123", "0123", "0123")]
SEEDS = (*range(60), 2**32 + 5, 2**63, 2**64 - 1)
RNG_STATES = {  # SplitMix64's first output, as published for 0 and 1234567
    0: 0xE220A8397B1DCDAF,
    1234567: 6457827717110365317,
    2**64 - 0x9E3779B97F4A7C15: 1,  # the one seed that would give 0
}


class Dice:
    """The random number generator of INTERFACE, section 2."""

    def __init__(self, seed: int) -> None:
        z = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        self.rng = z ^ z >> 31 or 1

    def draw(self, number: int) -> int:
        x = self.rng
        x ^= x << 13 & 2**64 - 1
        x ^= x >> 7
        x ^= x << 17 & 2**64 - 1
        self.rng = x
        return (x >> 32) * number >> 32

    def roll(self) -> int:
        return 1 + self.draw(6)

    def roll_until(self, *wanted: int) -> int:
        while (die := self.roll()) not in wanted:
            pass
        return die


def province(region: int, number: int) -> str:
    return BOARD.names[6 * (region - 1) + number - 1]


def deal(dice: Dice, level: str, modules: Sequence[str] = (), fixed: bool = False, initial: int = 6, secured: int = 0) -> dict[str, Any]:
    """R2.2 to R2.5, R2.8: return the expected entries of a snapshot."""
    extra, armies = int(level[2]), int(level[3])
    regions = {1, 2, 3, 4, 5, 6}
    for _ in range(6 - initial):
        regions.remove(dice.roll_until(*regions))
    revolts = {province(region, 3 if fixed else dice.roll_until(2, 3, 4, 5, 6)) for region in sorted(regions)}
    while len(revolts) < initial + extra:
        region = dice.roll()
        revolts.add(province(region, dice.roll()))
    kinds: dict[int, str] = {}
    while len(kinds) < armies:
        region = dice.roll_until(*{1, 2, 3, 4, 5, 6} - set(kinds))
        goths = "goths" in modules and region in (3, 4) and "goths" not in kinds.values()
        kinds[region] = "goths" if goths else "army"
    zone = BOARD.zones[dice.roll_until(2, 3) - 1] if "pirates" in modules else None
    free, supply = {1, 2, 3, 4, 5, 6} - set(kinds), dict.fromkeys(EMPERORS, int(level[0]))
    tokens: dict[str, str] = dict.fromkeys(revolts, "revolt")
    for _ in range(secured):
        region = dice.roll_until(*free)
        free.remove(region)
        owner = max(EMPERORS, key=lambda name: supply[name])  # the first of equals
        supply[owner] -= 1
        tokens[BOARD.names[41 + region]] = owner
    return {
        "tokens": tokens,
        "armies": [[BOARD.names[41 + region], NUMERALS[region - 1], kinds[region]] for region in sorted(kinds)],
        "pirates": zone,
        "reserve": {"unrest": 21, "revolt": 21 - len(revolts), "armies": 3 - armies},
        "supply": supply,
        "dice": dice.rng,
    }


def new(seed: int = 0, **arguments: Any) -> batch.Games:
    return batch.new_games(Options(**arguments), seed)[0]


def dealt(seed: int = 0, **arguments: Any) -> dict[str, Any]:
    """Return the entries of the engine's snapshot that `deal` computes."""
    whole = snapshot(new(seed, **arguments))
    return {name: whole[name] for name in ("tokens", "armies", "pirates", "reserve", "supply", "dice")}


@pytest.mark.parametrize(("seed", "rng"), RNG_STATES.items())
def test_seed_becomes_an_rng_state(seed: int, rng: int) -> None:
    """R2.7 and INTERFACE 2: the fixed set-up of level 4000 rolls no dice, so the RNG state is that of the seed."""
    game = new(seed, level="4000", fixed_setup=True)
    assert snapshot(game)["dice"] == rng == Dice(seed).rng
    batch.reseed(game, seed)
    assert snapshot(game)["dice"] == rng


@pytest.mark.parametrize("level", LEVELS)
def test_set_up_equals_the_expected_dice_rolls(level: str) -> None:
    """R2.2, R2.3, R2.4: regions I to VI, extra Revolts and armies are rolled in this order."""
    for seed in SEEDS:
        assert dealt(seed, level=level) == deal(Dice(seed), level), seed


@pytest.mark.parametrize("modules", [("pirates",), ("goths",), ("pirates", "goths"), ("dux",)])
@pytest.mark.parametrize("level", ["4211", "3233", "2003"])
def test_set_up_with_modules_equals_the_expected_dice_rolls(level: str, modules: tuple[str, ...]) -> None:
    """R2.4, R2.5: the first army on border III or IV is the Goths; the Pirates are rolled last."""
    for seed in SEEDS:
        assert dealt(seed, level=level, modules=modules) == deal(Dice(seed), level, modules), seed


@pytest.mark.parametrize("levels", [("4211",), ("4211", "4200"), ("5300", "4211", "2033"), LEVELS])
def test_level_is_drawn_before_the_set_up(levels: tuple[str, ...]) -> None:
    """R2.1 and INTERFACE 1: one step of the RNG selects the level before anything else, even from a list of one."""
    for seed in SEEDS:
        dice = Dice(seed)
        level = levels[dice.draw(len(levels))]
        assert dealt(seed, level=list(levels)) == deal(dice, level), seed
        assert snapshot(new(seed, level=list(levels)))["rules"]["level"] == level


@pytest.mark.parametrize("tokens", "2345")
def test_level_digits_mean_tokens_fleets_revolts_armies(tokens: str) -> None:
    """R2.1: check all 256 levels."""
    for level in ALL_LEVELS:
        if level[0] == tokens:
            game = new(7, level=level)
            start = snapshot(game)
            zones = [f"fleet {zone}" for zone in BOARD.zones[: int(level[1])]]
            assert set(start["supply"].values()) == {int(tokens)}
            assert (len(start["tokens"]), len(start["armies"])) == (6 + int(level[2]), int(level[3]))
            assert play(game, *zones)["phase"] in ("arrival", "roman")


def test_goths_are_on_the_board_at_most_once_at_set_up() -> None:
    """R2.4: with armies on III and IV, the one placed first is the Goths, on either border."""
    games, _ = batch.new_games(Options(level="4203", modules=["goths"]), range(300))
    both = [[kind for _, region, kind in snapshot(game)["armies"] if region in ("III", "IV")] for game in games]
    assert {tuple(kinds) for kinds in both} == {(), ("goths",), ("goths", "army"), ("army", "goths")}


def test_pirates_begin_in_internvm_or_aegaevm() -> None:
    """R2.5: INTERNVM on 2, AEGAEVM on 3, never ATLANTICVM; without the module there are no Pirates."""
    games, _ = batch.new_games(Options(modules=["pirates"]), range(100))
    assert {snapshot(game)["pirates"] for game in games} == {"INTERNVM", "AEGAEVM"}
    assert snapshot(new())["pirates"] is None


def test_diocletian_places_each_fleet_by_decision() -> None:
    """R2.6: one at a time, each in a zone without a fleet, including the last free zone; then Diocletian's turn begins."""
    game = new(0, level="4300")
    rng = snapshot(game)["dice"]
    assert (snapshot(game)["phase"], snapshot(game)["emperor"], snapshot(game)["ip"]) == ("fleets", "diocletian", 0)
    assert legal(game) == {"fleet ATLANTICVM", "fleet INTERNVM", "fleet AEGAEVM"}
    play(game, "fleet INTERNVM")
    assert legal(game) == {"fleet ATLANTICVM", "fleet AEGAEVM"}
    assert play(game, "fleet AEGAEVM")["phase"] == "fleets"
    assert legal(game) == {"fleet ATLANTICVM"}
    after = play(game, "fleet ATLANTICVM")
    assert after["fleets"] == ["ATLANTICVM", "INTERNVM", "AEGAEVM"]
    assert (after["emperor"], after["turn"], after["ip"], after["dice"]) == ("diocletian", 0, 6, rng)


def test_no_fleet_is_placed_in_the_pirates_zone() -> None:
    """R2.6: the Pirates' zone is not offered; a single remaining zone is still a decision."""
    for seed in range(20):
        game = new(seed, modules=["pirates"])
        pirates = snapshot(game)["pirates"]
        assert legal(game) == {f"fleet {zone}" for zone in BOARD.zones if zone != pirates}
        play(game, "fleet ATLANTICVM")
        assert legal(game) == {f"fleet {zone}" for zone in ("INTERNVM", "AEGAEVM") if zone != pirates}


def test_game_without_fleets_begins_with_the_first_arrival() -> None:
    """R2.6: diocletian chooses where to arrive, unless a Revolt is on BITHYNIA."""
    for seed in range(40):
        start = snapshot(new(seed, level="4033"))
        in_roma = "BITHYNIA" in start["tokens"]
        assert (start["phase"], start["emperor"], start["ip"], start["turn"]) == ("roman" if in_roma else "arrival", "diocletian", 6, 0)
        assert start["emperors"] == {"diocletian": "ROMA" if in_roma else None, "galerius": None, "constantius": None, "maximian": None}


@pytest.mark.parametrize("level", ["4200", "4211", "2033"])
def test_fixed_set_up_takes_province_3_without_dice(level: str) -> None:
    """R2.7: the first die is that of R2.3; extra Revolts and armies are rolled as usual."""
    for seed in SEEDS:
        start = dealt(seed, level=level, fixed_setup=True)
        assert start == deal(Dice(seed), level, fixed=True), seed
        assert {"CARTHAGINENSIS", "GERMANIA SVPERIOR", "NORICVM", "THRACIA", "GALATIA", "TRIPOLITANIA"} <= set(start["tokens"])


@pytest.mark.parametrize("modules", [(), ("pirates", "goths")])
@pytest.mark.parametrize(("level", "initial", "secured"), [("4200", 0, 5), ("4211", 3, 2), ("2223", 5, 3), ("4200", 6, 1), ("5033", 1, 0)])
@pytest.mark.parametrize("fixed", [False, True])
def test_head_start_equals_the_expected_dice_rolls(level: str, initial: int, secured: int, fixed: bool, modules: tuple[str, ...]) -> None:
    """R2.8: spared regions are rolled first, secured borders last; it combines with R2.7 and with modules."""
    for seed in SEEDS:
        expected = deal(Dice(seed), level, modules, fixed, initial, secured)
        assert dealt(seed, level=level, modules=modules, fixed_setup=fixed, revolts=initial, secured=secured) == expected, seed


def test_head_start_is_drawn_after_the_level() -> None:
    """R2.8 and INTERFACE 1: level, revolts and secured are drawn in this order, each by one step of the RNG, even from a list of one."""
    levels, initial, secured = ["4200", "5300"], [0, 3, 6], [4]
    for seed in SEEDS:
        dice = Dice(seed)
        drawn = [numbers[dice.draw(len(numbers))] for numbers in (levels, initial, secured)]
        expected = deal(dice, drawn[0], initial=drawn[1], secured=drawn[2])
        assert dealt(seed, level=levels, revolts=initial, secured=secured) == expected, seed


@pytest.mark.parametrize("task", TASKS)
def test_task_is_a_named_head_start(task: str) -> None:
    """R2.8 and INTERFACE 8."""
    level, initial, secured, _ = TASKS[task]
    for seed in range(20):
        assert dealt(seed, task=task) == deal(Dice(seed), level, initial=initial, secured=secured)


def test_head_start_is_not_part_of_the_record() -> None:
    """R2.8: it acts at set-up alone; the snapshot's rules do not name it."""
    start = snapshot(new(3, task="last-two"))
    assert start["rules"] == snapshot(new(3, level="4200"))["rules"]
