"""Configurations for tests that cover all options."""

import random

from tetrarchia_env.engine.scenarios import SCENARIOS
from tetrarchia_env.engine.state import MODULES, VARIANTS
from tetrarchia_env.options import Options

ONE_BY_ONE: dict[str, Options] = {
    "base": Options(),
    **{name: Options(variants=[name]) for name in VARIANTS},
    **{name: Options(modules=[name]) for name in MODULES},
    **{name: Options(scenario=name) for name in SCENARIOS},
    "everything": Options(variants=VARIANTS, modules=MODULES),
}


def random_options(seed: int) -> Options:
    """Return a random valid combination of options, including lists of levels, fixed set-ups, head starts and short games."""
    dice = random.Random(seed)
    variants = [name for name in VARIANTS if dice.random() < 0.5]
    rest = {"variants": variants, "fixed_setup": dice.random() < 0.2, "max_turns": dice.choice([400, 400, 400, 6])}
    if dice.random() < 0.3:
        return Options(scenario=dice.choice(SCENARIOS), **rest)
    modules = [name for name in MODULES if dice.random() < 0.5]
    levels = [random_level(dice, "pirates" in modules) for _ in range(dice.randint(1, 3))]
    if dice.random() < 0.3:
        rest |= {"revolts": dice.choice([0, 3, [0, 6]]), "secured": dice.choice([2, [0, 3]])}
    return Options(level=levels if dice.random() < 0.2 else levels[0], modules=modules, **rest)


def random_level(dice: random.Random, pirates: bool) -> str:
    """R2.1, R11.2: return a random level; with Pirates at most 2 fleets."""
    return dice.choice("2345") + dice.choice("012" if pirates else "0123") + dice.choice("0123") + dice.choice("0123")
