"""All that can be chosen for a training run, and the presets that are kept in the repository."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

import yaml

from tetrarchia_agents.network_config import NetworkConfig
from tetrarchia_env.engine.actions import ACTIONS, BASE_ACTIONS
from tetrarchia_env.options import Options
from tetrarchia_train.rule_sets import drawn_levels

PRESETS = Path(__file__).parent / "presets"
RULEBOOK = tuple("".join(digits) for digits in product("543", "321", "012", "012"))  # R2.1: its 81 levels
SEEDS_APART = 10_007  # between the processes of one run
EVALUATED = ("4200", "4211", "4222")


@dataclass(frozen=True)
class TrainOptions:
    """One training run; the same options on one thread give the same run."""

    # the games
    levels: tuple[str, ...] = RULEBOOK  # drawn from, with commas; rulebook: its 81
    focus: tuple[str, ...] = ()  # levels drawn more often
    focus_share: float = 0.0  # the share of games that are at one of them
    rules: tuple[dict[str, Any], ...] = field(default_factory=lambda: ({},))  # variants, modules, scenario; the games are shared out
    actions: str = "base"  # base or all
    seed: int = 1  # the same on one thread is the same run
    processes: int = 1  # that learn together; games and minibatches are shared out
    threads: int = 2  # of torch, in each
    # the network (agents.network.NetworkConfig)
    network: str = "gnn"  # gnn, gnn-decoder or mlp
    node_dim: int = 16  # numbers for each space between layers
    encoder_layers: int = 2  # of message passing, before all spaces are read
    decoder_layers: int = 3  # layers of message passing after all spaces are read, in the network goals
    readout_dim: int = 16  # numbers read from each space
    hidden_dim: int = 256  # numbers in the layer before the choice
    policies: int = 1  # 1: shared by all Emperors; 4: one each
    # the warm start: go on from a checkpoint, copy a teacher, or both
    init_checkpoint: str = ""  # the checkpoint to begin with; without: random weights
    expert: str = "planner"  # to copy then; none: nobody
    demonstrations: str = ""  # a file of lessons made before
    num_demonstrations: int = 1_000_000  # of the teacher to copy
    expert_noise: float = 0.05  # the share of random actions in the teacher's games
    demo_workers: int = 2  # processes that play them
    bc_epochs: int = 6  # times that each decision is copied
    bc_batch_size: int = 1024  # decisions an update
    bc_learning_rate: float = 1e-3  # learning rate of copying
    critic_rollouts: int = 8  # in which only the value is learned
    critic_learning_rate: float = 1e-3  # learning rate of that
    # PPO
    total_timesteps: int = 30_000_000  # decisions in all
    max_minutes: float = 0.0  # of PPO; 0: as long as the steps take
    num_envs: int = 512  # played side by side
    n_steps: int = 64  # steps in each game between two updates
    n_epochs: int = 2  # times that a rollout is learned from
    minibatch_size: int = 2048  # steps an update
    learning_rate: float = 3e-4  # at first
    final_learning_rate: float = 3e-5  # at the end
    gae_lambda: float = 0.95  # of the advantages
    clip_range: float = 0.2  # of the policy's ratio
    ent_coef: float = 0.005  # its weight at first
    final_ent_coef: float = 0.001  # and at the end
    vf_coef: float = 0.5  # of the value's loss
    max_grad_norm: float = 0.5  # the largest
    chance_samples: int = 4  # times that dice are rolled again to take luck out of rewards; 0: it stays in
    turn_discount: float = 0.99  # what a win pays for each turn that it took, times, at first
    final_turn_discount: float = 0.99  # and at the end
    shaping_coef: float = 1.0  # weight of the potential in the reward
    # what is told and kept
    eval_freq: int = 2_000_000  # steps
    n_eval_episodes: int = 256  # at each level
    eval_levels: tuple[str, ...] = EVALUATED  # with commas
    save_freq: int = 1_000_000  # steps

    def __post_init__(self) -> None:
        for one in fields(self):
            object.__setattr__(self, one.name, _fitting(one.name, getattr(self, one.name), one.type))
        for name, least, most in LIMITS:
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"training option {name} is from {least:g} to {most:g}, not {getattr(self, name)!r}")
        if self.actions not in ("base", "all"):
            raise ValueError(f"training option actions is base or all, not {self.actions!r}")
        if self.seed + SEEDS_APART * (self.processes - 1) >= 2**31:
            raise ValueError(f"training option seed is too large for {self.processes} processes: {self.seed}")
        if (
            self.num_envs * self.n_steps % self.minibatch_size
            or self.num_envs % (len(self.rules) * self.processes)
            or self.minibatch_size % self.processes
        ):
            raise ValueError("games x rollout is a multiple of the minibatch, games of rules x processes, the minibatch of processes")
        Options(level=[*self.levels, *self.focus, *self.eval_levels])
        for rule in self.rules:
            if Options.of(**rule).needs_all_actions and self.actions == "base":
                raise ValueError(f"training option actions must be all for the rules {rule}")
        self.network_config  # noqa: B018 - it checks its own values

    @property
    def network_config(self) -> NetworkConfig:
        """The network these options describe."""
        actions = BASE_ACTIONS if self.actions == "base" else ACTIONS
        return NetworkConfig(
            self.network, actions, self.node_dim, self.encoder_layers, self.readout_dim, self.hidden_dim, self.policies, self.decoder_layers
        )

    @property
    def drawn_levels(self) -> list[str]:
        """The levels that games begin at, those in focus more often."""
        return drawn_levels(self.levels, self.focus, self.focus_share)

    def changed(self, changes: Mapping[str, Any]) -> "TrainOptions":
        """The same but for these; an unknown name is a ValueError that names them all."""
        names = [one.name for one in fields(self)]
        for name in changes:
            if name not in names:
                raise ValueError(f"unknown training option {name!r}: choose from {', '.join(names)}")
        return replace(self, **changes)

    def part(self, rank: int) -> "TrainOptions":
        """What one of the processes plays and learns: its share, by chances of its own."""
        num_envs, minibatch_size = self.num_envs // self.processes, self.minibatch_size // self.processes
        return replace(self, processes=1, num_envs=num_envs, minibatch_size=minibatch_size, seed=self.seed + SEEDS_APART * rank)

    def as_data(self) -> dict[str, Any]:
        """As JSON or YAML data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


LIMITS: list[tuple[str, float, float]] = [
    *(
        (name, 1, 10**12)
        for name in (
            "num_envs",
            "n_steps",
            "n_epochs",
            "minibatch_size",
            "total_timesteps",
            "processes",
            "threads",
            "demo_workers",
            "num_demonstrations",
        )
    ),
    *((name, 1, 10**12) for name in ("bc_epochs", "bc_batch_size", "eval_freq", "n_eval_episodes", "save_freq")),
    *((name, 0, 1) for name in ("focus_share", "expert_noise", "gae_lambda", "clip_range", "turn_discount", "final_turn_discount")),
    *(
        (name, 0, 1e6)
        for name in ("max_minutes", "ent_coef", "final_ent_coef", "vf_coef", "shaping_coef", "critic_rollouts", "chance_samples")
    ),
    *((name, 1e-9, 1e6) for name in ("learning_rate", "final_learning_rate", "bc_learning_rate", "critic_learning_rate", "max_grad_norm")),
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
