"""All that can be chosen for a training run, and the presets that are kept in the repository."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import yaml

from agents.network import Shape
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.options import Options

PRESETS = Path(__file__).parent / "presets"
RULEBOOK = tuple("".join(digits) for digits in product("543", "321", "012", "012"))  # R2.1: its 81 levels
EVALUATED = ("4200", "4211", "4222")


@dataclass(frozen=True)
class TrainOptions:
    """One training run; the same options on one thread give the same run."""

    # the games
    levels: tuple[str, ...] = RULEBOOK
    focus: tuple[str, ...] = ()  # levels drawn more often
    focus_share: float = 0.0  # the share of games that are at one of them
    rules: tuple[dict[str, Any], ...] = field(default_factory=lambda: ({},))  # variants, modules, scenario; the games are shared out
    actions: str = "base"  # base or all
    seed: int = 1
    threads: int = 2
    # the network (agents.network.Shape)
    network: str = "graph"
    width: int = 16
    layers: int = 2
    reading: int = 16
    hidden: int = 256
    policies: int = 1
    # the warm start: copy a teacher, or go on from a checkpoint
    teacher: str = "planner"  # none: begin with random weights
    lessons: str = ""  # a file of lessons made before
    decisions: int = 1_000_000
    noise: float = 0.05
    workers: int = 2
    copy_epochs: int = 6
    copy_minibatch: int = 1024
    copy_rate: float = 1e-3
    start: str = ""  # the checkpoint to begin with instead
    value_rollouts: int = 8  # in which only the value is learned
    value_rate: float = 1e-3
    # PPO
    steps: int = 30_000_000
    minutes: float = 0.0  # of PPO; 0: as long as the steps take
    games: int = 512
    rollout: int = 64  # steps in each game between two updates
    epochs: int = 3
    minibatch: int = 2048
    learning_rate: float = 3e-4
    last_learning_rate: float = 3e-5
    gamma: float = 0.999
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.005
    last_entropy: float = 0.001
    value_weight: float = 0.5
    gradient_norm: float = 0.5
    # what makes it easier at first
    shaping: float = 1.0  # weight of the potential in the reward
    shaping_ends: float = 0.6  # the share of the run after which it is 0
    difficulty: int = 8  # of the hardest levels at first; 8: all levels at once
    next_difficulty: float = 0.5  # the win rate at the hardest that brings the next harder ones
    middle_share: float = 0.3  # games begun from the middle of games, at first
    middle_ends: float = 0.5  # the win rate at which none are any more
    # what is told and kept
    evaluate_every: int = 2_000_000  # steps
    evaluate_games: int = 256  # at each level
    evaluate_levels: tuple[str, ...] = EVALUATED
    save_every: int = 1_000_000  # steps

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, _fitting(one.name, getattr(self, one.name), one.type))
        for name, least, most in LIMITS:
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"training option {name} is from {least:g} to {most:g}, not {getattr(self, name)!r}")
        if self.actions not in ("base", "all"):
            raise ValueError(f"training option actions is base or all, not {self.actions!r}")
        if self.games * self.rollout % self.minibatch or self.games % len(self.rules):
            raise ValueError("games x rollout is a multiple of the minibatch, and games one of the number of rules")
        Options(level=[*self.levels, *self.focus, *self.evaluate_levels])
        for rule in self.rules:
            if Options.of(**rule).needs_all_actions and self.actions == "base":
                raise ValueError(f"training option actions must be all for the rules {rule}")
        self.shape  # noqa: B018 - it checks its own values

    @property
    def shape(self) -> Shape:
        """The network these options describe."""
        actions = BASE_ACTIONS if self.actions == "base" else ACTIONS
        return Shape(self.network, actions, self.width, self.layers, self.reading, self.hidden, self.policies)

    def changed(self, changes: Mapping[str, Any]) -> "TrainOptions":
        """The same but for these; an unknown name is a ValueError that names them all."""
        names = [one.name for one in fields(self)]
        for name in changes:
            if name not in names:
                raise ValueError(f"unknown training option {name!r}: choose from {', '.join(names)}")
        return replace(self, **changes)

    def as_data(self) -> dict[str, Any]:
        """As JSON or YAML data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


LIMITS: list[tuple[str, float, float]] = [
    *((name, 1, 10**12) for name in ("games", "rollout", "epochs", "minibatch", "steps", "threads", "workers", "decisions")),
    *((name, 1, 10**12) for name in ("copy_epochs", "copy_minibatch", "evaluate_every", "evaluate_games", "save_every")),
    *((name, 0, 1) for name in ("focus_share", "noise", "gamma", "gae_lambda", "clip", "shaping_ends", "middle_share")),
    *((name, 0, 1e6) for name in ("minutes", "entropy", "last_entropy", "value_weight", "shaping", "value_rollouts", "difficulty")),
    *((name, 1e-9, 1e6) for name in ("learning_rate", "last_learning_rate", "copy_rate", "value_rate", "gradient_norm", "middle_ends")),
    ("seed", 0, 2**31 - 1),
]


def read_preset(name: str) -> TrainOptions:
    """The options of a preset, or of a YAML file."""
    path = PRESETS / f"{name}.yaml" if not name.endswith(".yaml") else Path(name)
    if not path.is_file():
        known = sorted(preset.stem for preset in PRESETS.glob("*.yaml"))
        raise ValueError(f"no preset {name!r}: choose from {', '.join(known)}, or give a file that ends in .yaml")
    return options_of(path.read_text(encoding="utf-8"), str(path))


def options_of(text: str, source: str) -> TrainOptions:
    """What a YAML text says."""
    try:
        data = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(f"{source} is not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{source} is a list of options with values, not {data!r}")
    return TrainOptions().changed(data)


def _fitting(name: str, value: Any, kind: Any) -> Any:
    """A value from YAML, the command line or Python as its field wants it."""
    if get_origin(kind) is tuple:
        return _list(name, value, get_args(kind)[0])
    if kind is float and isinstance(value, int | str) and not isinstance(value, bool):
        value = _number(value)  # YAML takes 3e-4 for a text
    if kind is int and isinstance(value, str) and value.replace("_", "").isdigit():
        value = int(value)
    wanted: type | UnionType = kind
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise ValueError(f"training option {name} is {WORDS[kind]}, not {value!r}")
    return value


WORDS = {int: "a whole number", float: "a number", str: "a text"}


def _number(value: int | str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


def _list(name: str, value: Any, kind: Any) -> tuple[Any, ...]:
    """A list of levels, given as such or with commas, or of rules."""
    if kind is str and value == "rulebook":
        return RULEBOOK
    if kind is str and isinstance(value, str | int):
        value = [part for part in str(value).split(",") if part]
    if not isinstance(value, list | tuple):
        raise ValueError(f"training option {name} is a list, not {value!r}")
    if kind is str:
        return tuple(str(part) for part in value)
    if not value or not all(isinstance(part, dict) for part in value):
        raise ValueError(f"training option {name} is a list of rules such as {{variants: [imperivm]}}, not {value!r}")
    return tuple(value)
