"""The tables of variants, modules, levels and tasks, read by the rules, options, notation, command line, lobby and docs.

It imports nothing heavy, so that shell completion can read it without the compiled rules.

>>> VARIANTS[0].name, VARIANTS[0].needs_all_actions
('imperivm', True)
"""

from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple


@dataclass(frozen=True)
class OptionalRule:
    """A variant or a module.

    Attributes:
        name: Its name in options, snapshots and replays.
        bit: Its bit in the field `variants` or `modules` of a game record.
        rule: Its section of docs/rules.md.
        help: One line for `--help`, `tetrarchia levels` and the lobby.
        actions: Its own actions: the name of the first id in `engine/actions.py` and the text, in which {space} and {emperor}
            mean one id for each.
    """

    name: str
    bit: int
    rule: str
    help: str
    actions: dict[str, str] = field(default_factory=dict)

    @property
    def needs_all_actions(self) -> bool:
        """Whether it has actions that the base game does not have."""
        return bool(self.actions)


VARIANTS = (
    OptionalRule(
        "imperivm",
        1,
        "R10.1",
        "each Emperor has a power that costs one token",
        {
            "IMPERIVM_POWER": "imperivm",
            "BOOST_COMBAT": "boost",
            "BLOCK_ARMY": "block",
            "ACCEPT": "accept",
            "ORDER": "order {emperor} {space}",
        },
    ),
    OptionalRule("mare_nostrvm", 2, "R10.2", "fleets in adjacent zones connect the coasts of these zones"),
    OptionalRule("diarchia", 4, "R10.3", "the two Emperors of a couple support each other with their tokens"),
    OptionalRule(
        "patres_patriae",
        8,
        "R10.4",
        "Diocletian may take an IP from Galerius, Constantius may give one to Maximian",
        {"TAKE": "take", "GIVE": "give"},
    ),
    OptionalRule("the_great", 16, "R10.5", "victories bring glory, and after a won game an Emperor may get a title"),
)

MODULES = (
    OptionalRule(
        "dux",
        1,
        "R11.1",
        "a general whom each Emperor can command in his turn",
        {
            "DUX_DEPLOY": "dux deploy {space}",
            "DUX_MOVE": "dux move {space}",
            "DUX_ATTACK": "dux attack {space}",
            "DUX_SUBDUE": "dux subdue",
            "DUX_CALM": "dux calm",
        },
    ),
    OptionalRule(
        "pirates",
        2,
        "R11.2",
        "occupy a sea zone against your fleets; for levels with fewer than 3 fleets",
        {"ATTACK_PIRATES": "attack PIRATES", "DUX_ATTACK_PIRATES": "dux attack PIRATES"},
    ),
    OptionalRule("goths", 4, "R11.3", "a stronger army that may appear on the borders III and IV"),
)


class Task(NamedTuple):
    """A named set-up: a level with a head start (R2.8)."""

    level: str
    revolts: int
    secured: int
    help: str


RULEBOOK_LEVELS = tuple(map("".join, product("543", "321", "012", "012")))  # R2.1, easiest first
TASKS = {  # from seconds of training to a day
    "last-border": Task("4200", 0, 5, "one border left, no Revolts"),
    "last-two": Task("4200", 0, 4, "two borders left, no Revolts"),
    "three-left": Task("4200", 2, 3, "three borders left, two Revolts"),
    "calm-empire": Task("4200", 0, 0, "all six borders, no Revolts"),
    "beginner": Task("4200", 6, 0, "the beginners' level"),
    "normal": Task("4211", 6, 0, "the normal level"),
    "hard": Task("4222", 6, 0, "a hard level"),
}
