"""What the user of `tetrarchia eval` asks for, checked at the door, and the line-ups that play it."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tetrarchia_env.files import check_folder
from tetrarchia_env.options import Options
from tetrarchia_eval.arena.match import check_file, identity, plan
from tetrarchia_eval.crossplay import odd_one_out_seatings, pair_seatings
from tetrarchia_eval.plots import check_picture
from tetrarchia_eval.results import Header
from tetrarchia_eval.sweep import level_words, levels_named
from tetrarchia_eval.tables import check_table
from tetrarchia_eval.wording import BASE_GAME, rules, team

KEPT = Path("runs/eval")  # where results go if the user does not say
PAIRS, ODDS = "pair", "odd"  # the two kinds of cross-play, and their folders
FEW = 4  # levels that a file's name can tell
LONGEST = 150  # letters of the words in a file's name: file systems take about 255 in all


@dataclass(frozen=True)
class Wishes:
    """The options of the command, in their own words."""

    level: str | None = None
    variants: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    scenario: str | None = None
    fixed_setup: bool = False
    max_turns: int = Options.max_turns
    agents: str = "planner"
    players: int | None = None
    against: tuple[str, ...] = ()
    partners: bool = False
    games: int = 100
    seed: int = 0
    agents_seed: int = 0
    workers: int | None = None
    out: Path | None = None
    table: Path | None = None
    plot: Path | None = None
    report: Path | None = None

    def __post_init__(self) -> None:
        for name in ("variants", "modules", "against"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))  # to be compared with other wishes

    @property
    def cores(self) -> int:
        """The workers wished for, else as many as this process may use."""
        if self.workers is not None:
            return self.workers
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class LineUp:
    """Who plays, in a word; what they play; and where it is kept."""

    name: str
    plan: Header
    file: Path


def line_ups(wishes: Wishes) -> list[LineUp]:
    """Those that the user wishes to see, the first one first; ValueError before a game is played if anything is wrong."""
    _check_goals(wishes)
    teams = _partners(wishes) if wishes.partners else _rivals(wishes)
    plans = {name: _plan(wishes, agents) for name, agents in teams.items()}
    found = [LineUp(name, plan, _file(wishes, name, plan, alone=len(plans) == 1)) for name, plan in plans.items()]
    _check_distinct(found)
    for one in found:
        one.file.parent.mkdir(parents=True, exist_ok=True)
        check_file(one.plan, one.file)
    return found


def _check_goals(wishes: Wishes) -> None:
    """That what is asked for in the end can be written."""
    if wishes.table:
        check_table(wishes.table)
    if wishes.plot:
        check_picture(wishes.plot)
    if wishes.out:
        check_folder(wishes.out)
        if wishes.partners or wishes.against:
            _check_out_folder(wishes.out)
        elif wishes.out.suffix != ".jsonl" or wishes.out.is_dir():
            raise ValueError(f"out: one line-up is kept in a file that ends with .jsonl, not {str(wishes.out)!r}")


def _check_out_folder(out: Path) -> None:
    if out.suffix == ".jsonl" or (out.exists() and not out.is_dir()):
        raise ValueError(f"out: several line-ups are kept in a folder, a file for each, not {str(out)!r}")


def _check_distinct(found: Sequence[LineUp]) -> None:
    """Letters that a file's name cannot have may be all that tells two line-ups apart."""
    kept: dict[Path, str] = {}
    for one in found:
        if one.file in kept:
            raise ValueError(f"out: {kept[one.file]} and {one.name} would both be kept in {one.file}: play them into different folders")
        kept[one.file] = one.name


def _rivals(wishes: Wishes) -> dict[str, str]:
    """The names of each line-up by a word for it."""
    found: dict[str, str] = {}
    for names in (wishes.agents, *wishes.against):
        word = team(_plan(wishes, names).agents)
        if word in found:
            raise ValueError(f"against: {word} would be compared with itself: give each line-up once")
        found[word] = names
    return found


def _partners(wishes: Wishes) -> dict[str, str]:
    """Every pair, then every odd one out; an agent with itself is played once, as a pair."""
    names = list(dict.fromkeys(wishes.agents.split(",")))
    if wishes.against or wishes.players is not None:
        raise ValueError("partners: cross-play has its own line-ups: give neither against nor players beside it")
    if len(names) < 2:
        raise ValueError(f"partners: give at least two agents, with commas, not {wishes.agents!r}")
    odds = [seating for seating in odd_one_out_seatings(names) if len(set(seating.agents)) == 2]
    seatings = {PAIRS: pair_seatings(names), ODDS: odds}
    return {f"{kind}/{one.label}": ",".join(one.agents) for kind, some in seatings.items() for one in some}


def _plan(wishes: Wishes, agents: str) -> Header:
    return plan(
        agents,
        wishes.games,
        players=wishes.players,
        levels=levels_named(wishes.level) if wishes.level is not None else (),
        first_seed=wishes.seed,
        seed=wishes.agents_seed,
        variants=wishes.variants,
        modules=wishes.modules,
        scenario=wishes.scenario,
        fixed_setup=wishes.fixed_setup,
        max_turns=wishes.max_turns,
    )


def _file(wishes: Wishes, name: str, plan: Header, alone: bool) -> Path:
    if wishes.out is None:
        return KEPT / f"{own_name(plan)}.jsonl"
    if alone:
        return wishes.out
    *folder, seating = name.split("/", maxsplit=1) if wishes.partners else [name]
    return Path(wishes.out, *folder, f"{file_name(seating)}.jsonl")


def own_name(plan: Header) -> str:
    """A name that tells who plays what, and that no other run has: nor the same one by another version of an agent."""
    levels = level_words(plan.levels) if len(plan.levels) <= FEW or "," not in level_words(plan.levels) else f"{len(plan.levels)} levels"
    seeds = f"seeds {plan.first_seed}-{plan.first_seed + plan.games - 1}"
    words = [team(plan.agents), *(word for word in [rules(plan)] if word != BASE_GAME), levels, seeds]
    digest = sha256(json.dumps([identity(plan), plan.fingerprints], sort_keys=True).encode()).hexdigest()
    return file_name(f"{'_'.join(words)[:LONGEST]}_{digest[:8]}")


def file_name(words: str) -> str:
    """As a file may be called."""
    return re.sub(r"[^\w.=@+]+", "-", words.replace(",", "+").replace(" + ", "+"))
