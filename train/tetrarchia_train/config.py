"""Training options and presets.

`TrainOptions` declares each option once: its type, limits, default, help text and group. The command line takes its Typer options from
there, and YAML presets and run folders are validated by the same types. To add an option, add a field. Names follow Stable-Baselines3
and CleanRL. Importing this module loads neither torch nor the compiled rules.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from msgspec import Meta

from tetrarchia_agents.devices import Device
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import MAX_NESTING, read_bounded
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.schema import UNBOUNDED, base_type, describe, field_types, sanitize_line, truncate_repr, validate_fields
from tetrarchia_env.variants import RULEBOOK_LEVELS

if TYPE_CHECKING:
    from tetrarchia_agents.network_config import NetworkConfig
    from tetrarchia_env.options import Options

PRESETS = Path(__file__).parent / "presets"
MAX_PRESET_BYTES = 1_000_000
MAX_ROLLOUT_STEPS = 2**24  # num_envs x n_steps; observations alone then take about 50 GB
LEVEL_FIELDS = ("levels", "focus", "eval_levels")
DEFAULT_COUNTS = {"revolts": 6, "secured": 0}  # R2.8: no head start
HEAD_START_DEFAULTS = {**DEFAULT_COUNTS, "curriculum": False}
SEARCH_EXPERT = "ppo:"  # prefix of an expert that searches with a checkpoint's value
MAX_GROUP_RUNS = 1000
SEED_STRIDE = 10_007  # between the seeds of the processes of one run
EXIT_STOPPED = 130  # exit code of a run that was stopped by Ctrl-C or SIGTERM
Stage = Literal["demonstrations", "bc", "ppo"]
# Options that may change when a run is resumed. All others determine its network, its games or its finished stages.
RESUMABLE_FIELDS = (
    *("levels", "focus", "focus_share", "threads", "device", "demo_workers", "total_timesteps", "max_minutes"),
    *("n_epochs", "minibatch_size", "precision", "chance_samples", "turn_discount", "final_turn_discount", "shaping_coef", "rounds"),
    *(
        "learning_rate",
        "final_learning_rate",
        "gae_lambda",
        "value_lambda",
        "lambda_per",
        "clip_range",
        "ent_coef",
        "final_ent_coef",
        "vf_coef",
        "max_grad_norm",
    ),
    *("border_coef", "final_border_coef", "border_fraction"),
    *("eval_freq", "n_eval_episodes", "eval_levels", "save_freq"),
)

PositiveInt = Annotated[int, Meta(ge=1, le=UNBOUNDED)]
SmallInt = Annotated[int, Meta(ge=1, le=1024)]  # processes, threads, epochs
SmallCount = Annotated[int, Meta(ge=0, le=1024)]
Count = Annotated[int, Meta(ge=0, le=UNBOUNDED)]
BatchSize = Annotated[int, Meta(ge=1, le=2**20)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Coefficient = Annotated[float, Meta(ge=0, le=UNBOUNDED)]
Discount = Annotated[float, Meta(ge=1e-9, le=1)]  # above 0, as ShapedReward requires
Positive = Annotated[float, Meta(ge=1e-9, le=UNBOUNDED)]
RULE_LIST = describe("a list of rule sets such as [{variants: [imperivm]}]")
RuleSets = Annotated[tuple[Annotated[dict[str, Any], RULE_LIST], ...], Meta(min_length=1), RULE_LIST]


def _games(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="Games", **settings)


def _network(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel="Network")


def _warm_start(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="Warm start: initial checkpoint, behavior cloning, expert iteration", **settings)


def _ppo(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="PPO", **settings)


def _evaluation(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel="Evaluation and checkpoints", **settings)


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """Training options of the command line. With one thread and one process, the same options reproduce the run."""

    levels: Annotated[str, _games("Levels, drawn at random; `rulebook`: the 81 of the rulebook.", metavar="A,B,C")] = "rulebook"
    focus: Annotated[str, _games("Levels that are drawn more often.", metavar="A,B,C", show_default=False)] = ""
    focus_share: Annotated[Fraction, _games("Fraction of games at the levels of --focus.")] = 0.0
    task: Annotated[str, _games("Named set-up instead of levels, e.g. `last-two`; `tetrarchia levels` lists them.", show_default=False)] = (
        ""
    )
    revolts: Annotated[str, _games("Numbers of initial Revolts, 0 to 6; each game draws one.", metavar="N,N")] = "6"
    secured: Annotated[str, _games("Numbers of borders secured at the start, 0 to 5; each game draws one.", metavar="N,N")] = "0"
    curriculum: Annotated[
        bool, _games("Draw --revolts and --secured in proportion to p(1 - p), where p is the current win rate of each number.")
    ] = False
    auto_levels: Annotated[bool, _games("Draw the levels in proportion to p(1 - p), where p is the win rate of each.")] = False
    seat: Annotated[
        str, _games("Emperor of the learner; `all`: each in a quarter of the environments. --partners play the others.", show_default=False)
    ] = ""
    partners: Annotated[
        str, _games("Agents of the other Emperors with --seat; each game draws one.", metavar="A,B,C", show_default=False)
    ] = ""
    actions: Annotated[
        Literal["base", "all"], _games("Action ids of the network: those of the base game, or all (for variants and modules).")
    ] = "base"
    view_radius: Annotated[
        int | None,
        _games("View radius, 0 to 12: agents observe only their surroundings (R14); default: full observations.", show_default=False),
    ] = None
    last_seen: Annotated[bool, _games("Spaces out of view show what was seen there last (needs --view-radius).")] = False
    message_tokens: Annotated[
        int, Meta(ge=0, le=16), _games("Tokens that an Emperor can say once a turn (needs --view-radius and --actions all).")
    ] = 0
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1), _games("Random seed; the same seed on one thread reproduces the run.")] = 1
    processes: Annotated[SmallInt, _games("Data-parallel processes; environments and minibatches are divided among them.")] = 1
    threads: Annotated[SmallInt, _games("Torch threads per process.")] = 2
    device: Annotated[
        Device, _games("Device of the network: cpu (reproducible), cuda, or auto (cuda if there is a GPU); several processes use the CPU.")
    ] = "cpu"

    network: Annotated[str, _network("Architecture: gnn, gnn-decoder or mlp.")] = "gnn"
    node_dim: Annotated[PositiveInt, _network("Features per space in the message-passing layers.")] = 16
    encoder_layers: Annotated[PositiveInt, _network("Message-passing layers before the trunk.")] = 2
    decoder_layers: Annotated[PositiveInt, _network("Message-passing layers after the trunk (gnn-decoder only).")] = 3
    readout_dim: Annotated[PositiveInt, _network("Features per space that the trunk reads.")] = 16
    hidden_dim: Annotated[PositiveInt, _network("Width of the trunk.")] = 256
    policies: Annotated[PositiveInt, _network("1: parameters shared by all Emperors; 4: an independent network for each.")] = 1
    critic: Annotated[
        Literal["own", "separate", "central"],
        _network(
            "own: the critic shares layers with the policy; separate: a graph network of its own predicts the outcome; "
            "central: a separate critic reads the full state (MAPPO)."
        ),
    ] = "own"
    precision: Annotated[
        Literal["float32", "bfloat16", "auto"],
        _network(
            "Precision of matrix products in PPO and in an expert's search; auto: bfloat16 if the processor supports it "
            "(AVX-512 BF16, AMX), where it is faster; elsewhere it is slower."
        ),
    ] = "float32"

    init_checkpoint: Annotated[
        str,
        _warm_start("Checkpoint to start from; default: random weights. With --seeds, {seed} is the seed of each run.", show_default=False),
    ] = ""
    expert: Annotated[str, _warm_start("Agent to clone before PPO; `none` skips behavior cloning.")] = "planner"
    demonstrations: Annotated[
        str,
        _warm_start(
            "Existing file of demonstrations, or a data set of `tetrarchia dataset`, to clone instead of new games of the expert.",
            show_default=False,
        ),
    ] = ""
    num_demonstrations: Annotated[int, Meta(ge=1, le=10**9), _warm_start("Decisions of the expert to clone.")] = 1_000_000
    expert_noise: Annotated[Fraction, _warm_start("Mean fraction of random actions in the expert's games.")] = 0.05
    target_temperature: Annotated[
        Positive, _warm_start("Temperature of the softmax over turn values, the policy target given by an expert that searches.")
    ] = 0.03
    search_fraction: Annotated[
        Fraction, _warm_start("Fraction of turns that an expert searches; the others are played by its policy and not recorded.")
    ] = 1.0
    demo_workers: Annotated[SmallInt, _warm_start("Processes that play the expert's games.")] = 2
    bc_epochs: Annotated[SmallInt, _warm_start("Epochs of behavior cloning.")] = 6
    bc_batch_size: Annotated[BatchSize, _warm_start("Minibatch size of behavior cloning.")] = 1024
    bc_learning_rate: Annotated[Positive, _warm_start("Learning rate of behavior cloning.")] = 1e-3
    dagger_rounds: Annotated[
        SmallInt,
        _warm_start("Rounds of DAgger, with --view-radius: the student plays, and the fully informed expert labels its positions."),
    ] = 5
    rounds: Annotated[SmallCount, _warm_start("Maximum rounds of expert iteration: search, cloning, PPO; 0: a single run.")] = 0
    window: Annotated[
        SmallInt, _warm_start("Number of latest rounds of expert iteration whose demonstrations are cloned, including the current one.")
    ] = 1
    critic_rollouts: Annotated[Count, _warm_start("Rollouts that train only the critic, before PPO.")] = 8
    critic_learning_rate: Annotated[Positive, _warm_start("Learning rate of the critic in these rollouts.")] = 1e-3

    total_timesteps: Annotated[PositiveInt, _ppo("Total number of decisions (timesteps).")] = 30_000_000
    max_minutes: Annotated[Coefficient, _ppo("Stop after this many minutes; 0: no limit.")] = 0.0
    num_envs: Annotated[BatchSize, _ppo("Number of parallel games.")] = 512
    n_steps: Annotated[BatchSize, _ppo("Steps per environment and rollout.")] = 64
    n_epochs: Annotated[SmallInt, _ppo("Epochs per rollout.")] = 2
    minibatch_size: Annotated[PositiveInt, _ppo("Minibatch size of an update.")] = 2048
    learning_rate: Annotated[Positive, _ppo("Initial learning rate.")] = 3e-4
    final_learning_rate: Annotated[Positive, _ppo("Final learning rate.")] = 3e-5
    gae_lambda: Annotated[Fraction, _ppo("Lambda of generalized advantage estimation.")] = 0.95
    value_lambda: Annotated[
        float | None, _ppo("Lambda of the returns that the critic learns, 0 to 1; default: --gae-lambda.", show_default=False)
    ] = None
    lambda_per: Annotated[Literal["decision", "turn"], _ppo("Whether the lambdas apply to each decision or to each turn.")] = "decision"
    ema_decay: Annotated[
        Fraction,
        _ppo("Decay per update of a moving average of the weights, which is evaluated and saved as the checkpoint; 0: no average."),
    ] = 0.0
    clip_range: Annotated[Fraction, _ppo("Clipping range of the probability ratio.")] = 0.2
    ent_coef: Annotated[Coefficient, _ppo("Initial entropy coefficient.")] = 0.005
    final_ent_coef: Annotated[Coefficient, _ppo("Final entropy coefficient.")] = 0.001
    vf_coef: Annotated[Coefficient, _ppo("Value loss coefficient.")] = 0.5
    max_grad_norm: Annotated[Positive, _ppo("Maximum norm of the gradient.")] = 0.5
    chance_samples: Annotated[SmallCount, _ppo("Dice resamples per step for the control variate; 0 disables it.")] = 4
    reward: Annotated[
        Literal["shaped", "borders"],
        _ppo("shaped: winning, with shaping by the planner's heuristic; borders: winning, and more secured borders than before."),
    ] = "shaped"
    turn_discount: Annotated[Discount, _ppo("Initial discount of the reward per turn of the game.")] = 0.99
    final_turn_discount: Annotated[Discount, _ppo("Final discount of the reward per turn of the game.")] = 0.99
    border_coef: Annotated[Coefficient, _ppo("Initial reward per border (--reward borders).")] = 1.0
    final_border_coef: Annotated[Coefficient, _ppo("Final reward per border (--reward borders).")] = 1.0
    border_fraction: Annotated[
        Fraction, _ppo("Fraction of the run over which the reward per border changes from its initial to its final value.")
    ] = 1.0
    shaping_coef: Annotated[Coefficient, _ppo("Coefficient of the potential-based reward shaping.")] = 1.0

    eval_freq: Annotated[PositiveInt, _evaluation("Timesteps between evaluations.")] = 2_000_000
    n_eval_episodes: Annotated[BatchSize, _evaluation("Games per level and evaluation.")] = 256
    eval_levels: Annotated[str, _evaluation("Levels of the evaluation.", metavar="A,B,C")] = "4200,4211,4222"
    save_freq: Annotated[PositiveInt, _evaluation("Timesteps between checkpoints.")] = 1_000_000


@dataclass(frozen=True, kw_only=True)
class TrainConfig(TrainOptions):
    """The validated configuration of a training run: the options, and the rule sets that only presets can give.

    Attributes:
        rules: Arguments of `Options` (variants, modules, scenario); the environments are divided among these rule sets.

    Raises:
        TetrarchiaError: If a value is not allowed, or not compatible with another.
    """

    rules: RuleSets = ({},)

    def __post_init__(self) -> None:
        validate_fields(self, "training option")
        if self.seed + SEED_STRIDE * (self.processes - 1) >= 2**31:
            raise TetrarchiaError(f"training option seed is too large for {self.processes} processes: {self.seed}")
        if self.num_envs * self.n_steps > MAX_ROLLOUT_STEPS:
            raise TetrarchiaError(
                f"training options: num_envs x n_steps must be at most {MAX_ROLLOUT_STEPS}; got {self.num_envs * self.n_steps}"
            )
        if (
            self.num_envs * self.n_steps % self.minibatch_size
            or self.num_envs % (len(self.rules) * self.processes)
            or self.minibatch_size % self.processes
        ):
            raise TetrarchiaError(
                "training options: num_envs x n_steps must be a multiple of minibatch_size, "
                "num_envs a multiple of rules x processes, and minibatch_size a multiple of processes"
            )
        if self.device == "cuda" and self.processes > 1:
            raise TetrarchiaError(
                f"training option device must be cpu or auto with several processes; got cuda and {self.processes} processes"
            )
        if self.rounds and not (self.init_checkpoint and self.expert.startswith(SEARCH_EXPERT)):
            raise TetrarchiaError(
                f"training option rounds needs an init_checkpoint and an expert such as {SEARCH_EXPERT}candidates=8; "
                f"got {self.init_checkpoint!r} and {self.expert!r}"
            )
        if self.value_lambda is not None and not 0 <= self.value_lambda <= 1:
            raise TetrarchiaError(f"training option value_lambda must be from 0 to 1; got {self.value_lambda}")
        self._check_partners()
        self._check_rules()
        if self.message_tokens and self.actions == "base":
            raise TetrarchiaError(f"training option message_tokens needs actions=all; got {self.message_tokens} and actions=base")
        if self.view_radius is not None and (self.rounds or self.demonstrations):
            raise TetrarchiaError(
                "training options rounds and demonstrations need full observations; "
                f"got view_radius={self.view_radius}, {self.rounds} rounds and demonstrations {self.demonstrations!r}"
            )
        self.network_config  # noqa: B018 - validates its own values

    def _check_partners(self) -> None:
        from tetrarchia_env.board import EMPERORS

        if self.seat not in ("", "all", *EMPERORS):
            raise TetrarchiaError(f"training option seat must be all or one of {', '.join(EMPERORS)}; got {truncate_repr(self.seat)}")
        if bool(self.seat) != bool(self.partners):
            raise TetrarchiaError("training options: seat and partners must be given together")
        if len(self.seats) > self.num_envs // self.processes:
            raise TetrarchiaError(f"training option seat=all needs at least {len(self.seats)} environments per process")
        if self.seat and self.chance_samples:
            raise TetrarchiaError(
                "training option chance_samples must be 0 with partners: dice cannot be rolled again without their decisions; "
                f"got {self.chance_samples}"
            )

    def _check_rules(self) -> None:
        from tetrarchia_env.options import Options

        if not self.levels:
            raise TetrarchiaError("training option levels must name at least one level")
        Options(level=[level for name in LEVEL_FIELDS for level in self.level_list(name)])
        if self.curriculum and (self.task or not ("," in self.revolts or "," in self.secured)):
            raise TetrarchiaError("training option curriculum needs several numbers in revolts or secured, and no task")
        if self.auto_levels and (self.task or len(set(self.training_levels)) == 1 or self.rules != ({},)):
            raise TetrarchiaError("training option auto_levels needs several levels of the base game, and no task")
        if self.critic == "separate" and (self.reward != "shaped" or self.shaping_coef):
            raise TetrarchiaError(
                "training option critic=separate predicts the outcome: it needs reward=shaped and shaping_coef=0; "
                f"got {self.reward} and {self.shaping_coef}"
            )
        for rule_set, options in zip(self.rule_sets, self.game_options, strict=True):
            if options.needs_all_actions and self.actions == "base":
                raise TetrarchiaError(f"training option actions must be all for the rules {rule_set}")

    def level_list(self, name: str) -> list[str]:
        """Return the levels that an option names, e.g. `level_list("eval_levels")`."""
        text: str = getattr(self, name)
        return list(RULEBOOK_LEVELS) if text == "rulebook" else [level for level in text.split(",") if level]

    @property
    def training_levels(self) -> list[str]:
        """The levels to draw from at random; focus levels are repeated to reach their fraction of the games."""
        levels, focus, share = self.level_list("levels"), self.level_list("focus"), self.focus_share
        if not focus or share == 0:
            return levels
        if share == 1:
            return focus
        return [*levels, *focus * ceil(share / (1 - share) * len(levels) / len(focus))]

    def progress(self, timesteps: int, seconds: float) -> float:
        """Return the fraction of the run that is done after these timesteps and seconds, whichever is larger."""
        by_time = seconds / 60 / self.max_minutes if self.max_minutes else 0.0
        return min(1.0, max(timesteps / self.total_timesteps, by_time))

    @property
    def rule_sets(self) -> list[dict[str, Any]]:
        """The rule sets with the task or the head start, as arguments of `Options` (see also `with_levels`)."""
        if self.task:
            return [{"task": self.task, **rule_set} for rule_set in self.rules]
        counts = {"revolts": self.count_list("revolts"), "secured": self.count_list("secured")}
        head_start = {name: values for name, values in counts.items() if values != [DEFAULT_COUNTS[name]]}
        return [rule_set if "scenario" in rule_set else head_start | rule_set for rule_set in self.rules]

    @property
    def game_options(self) -> "list[Options]":
        """The options of the training games, by rule set."""
        from tetrarchia_env.options import Options

        return [Options.of(**with_levels(rule_set, self.training_levels)) for rule_set in self.rule_sets]

    @property
    def seats(self) -> list[str]:
        """The Emperors of the learner, assigned to the environments in turn; empty if it plays all of them in each game."""
        from tetrarchia_env.board import EMPERORS

        return list(EMPERORS) if self.seat == "all" else [self.seat] if self.seat else []

    @property
    def partner_list(self) -> list[str]:
        """The names of the partners, one of which is drawn per game."""
        return self.partners.split(",") if self.partners else []

    def count_list(self, name: str) -> list[int]:
        """Return the numbers of the option `revolts` or `secured`.

        Raises:
            TetrarchiaError: If it is not a list of numbers.
        """
        text: str = getattr(self, name)
        try:
            return [int(number) for number in text.split(",")]
        except ValueError:
            raise TetrarchiaError(f"training option {name} must be numbers separated by commas; got {truncate_repr(text)}") from None

    @property
    def curriculum_lists(self) -> dict[str, list[Any]]:
        """The values whose draws depend on success, by argument of the environment."""
        levels = {"level": sorted(set(self.training_levels))} if self.auto_levels else {}
        counts = {name: sorted(set(self.count_list(name))) for name in DEFAULT_COUNTS} if self.curriculum else {}
        return levels | counts

    @property
    def network_config(self) -> "NetworkConfig":
        """The configuration of the network."""
        from tetrarchia_agents.network_config import NetworkConfig
        from tetrarchia_env.constants import ACTIONS, BASE_ACTIONS

        return NetworkConfig(
            self.network,
            BASE_ACTIONS if self.actions == "base" else ACTIONS + self.message_tokens,
            node_dim=self.node_dim,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            readout_dim=self.readout_dim,
            hidden_dim=self.hidden_dim,
            policies=self.policies,
            critic=self.critic,
            view_radius=self.view_radius,
            last_seen=self.last_seen,
            message_tokens=self.message_tokens,
        )

    @property
    def network_device(self) -> Device:
        """The device of the network: several processes use the CPU."""
        return "cpu" if self.processes > 1 else self.device

    def with_overrides(self, overrides: Mapping[str, Any]) -> "TrainConfig":
        """Return a copy with some options replaced; a task replaces the head start.

        Args:
            overrides: Values by name, as YAML or the command line gives them: numbers may be texts, levels lists or numbers.

        Raises:
            TetrarchiaError: If a name is unknown or a value is not allowed.
        """
        kinds = {one.name: base_type(field_types(TrainConfig)[one.name]) for one in fields(self)}
        for name in overrides:
            if name not in kinds:
                raise TetrarchiaError(f"unknown training option {truncate_repr(name)}: choose from {', '.join(sorted(kinds))}")
        if overrides.get("task"):
            overrides = HEAD_START_DEFAULTS | dict(overrides)
        return replace(self, **{name: _coerce(name, value, kinds[name]) for name, value in overrides.items()})

    def resumed(self, overrides: Mapping[str, Any]) -> "TrainConfig":
        """Return the configuration with which this run resumes.

        Raises:
            TetrarchiaError: If one of the overrides changes an option that is not in `RESUMABLE_FIELDS`.
        """
        wanted = self.with_overrides(overrides)
        for name in overrides:
            if name not in RESUMABLE_FIELDS and getattr(wanted, name) != getattr(self, name):
                raise TetrarchiaError(
                    f"training option {name} cannot change when a run is resumed: it is {getattr(self, name)!r}; "
                    f"got {getattr(wanted, name)!r} (only {', '.join(RESUMABLE_FIELDS)} can change)"
                )
        return wanted

    def for_rank(self, rank: int) -> "TrainConfig":
        """Return the configuration of one data-parallel process: its share of environments and minibatches, and its own seed."""
        num_envs, minibatch_size = self.num_envs // self.processes, self.minibatch_size // self.processes
        return replace(self, processes=1, num_envs=num_envs, minibatch_size=minibatch_size, seed=self.seed + SEED_STRIDE * rank)

    def as_data(self) -> dict[str, Any]:
        """Return the options as JSON or YAML data, with levels as lists."""
        return asdict(self) | {name: self.level_list(name) for name in LEVEL_FIELDS} | {"rules": list(self.rules)}


def option_words(name: str, value: object) -> list[str]:
    """Return a training option as command-line arguments."""
    option = name.replace("_", "-")
    return [f"--{option}" if value else f"--no-{option}"] if isinstance(value, bool) else [f"--{option}", str(value)]


def parse_seeds(text: str) -> list[int]:
    """Return the seeds of a list of numbers and ranges, such as `1-5` or `1,4,10-12`.

    Raises:
        TetrarchiaError: If a range is descending, a seed is given twice, or the text is something else.
    """
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part.strip(), re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise TetrarchiaError(f"seeds must be numbers and ascending ranges, such as 1-5 or 1,4,10-12; got {text!r}")
        if last - first + len(seeds) >= MAX_GROUP_RUNS:
            raise TetrarchiaError(f"seeds must be at most {MAX_GROUP_RUNS}; got {text!r}")
        seeds += range(first, last + 1)
    if len(set(seeds)) < len(seeds):
        twice = next(seed for seed in seeds if seeds.count(seed) > 1)
        raise TetrarchiaError(f"seeds must be different; got {twice} twice in {text!r}")
    return seeds


def with_levels(rules: dict[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of `Options` for a rule set and levels.

    Args:
        rules: The rule set; a scenario or task has its own level.
        levels: Levels to draw from; those that its modules do not allow are left out.
    """
    return rules if "scenario" in rules or "task" in rules else {"level": fitting_levels(rules.get("modules", ()), levels), **rules}


def fitting_levels(modules: Iterable[str], levels: Sequence[str]) -> list[str]:
    """Return the levels that can be played with these modules (R11.2: the Pirates need fewer than 3 fleets)."""
    return [level for level in levels if level[1] != "3" or "pirates" not in modules]


def rules_label(rules: dict[str, Any]) -> str:
    """Return the names in a rule set, joined by `+`; `base` for the base game."""
    names = [*rules.get("variants", ()), *rules.get("modules", ()), *([rules["scenario"]] if "scenario" in rules else [])]
    return "+".join(names) or "base"


def preset_names() -> dict[str, str]:
    """Return the names of the presets, each with the first line of its file."""
    files = sorted(PRESETS.glob("*.yaml"), key=lambda file: file.stem)
    return {file.stem: file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for file in files}


def read_preset(name: str) -> TrainConfig:
    """Read a preset.

    Args:
        name: Name of a preset, or of a YAML file.

    Returns:
        Its configuration.

    Raises:
        TetrarchiaError: If there is no such preset, or the file is not valid.
    """
    path = PRESETS / f"{name}.yaml" if not name.endswith(".yaml") else Path(name)
    if not path.is_file():
        known = list(preset_names())
        raise TetrarchiaError(f"no preset {name!r}{did_you_mean(name, known)}: choose from {', '.join(known)}, or give a file *.yaml")
    try:
        text = read_bounded(path, MAX_PRESET_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError, TetrarchiaError) as error:
        raise TetrarchiaError(f"{path} cannot be read ({sanitize_line(str(error))})") from None
    return TrainConfig().with_overrides(read_options(text, str(path)))


def read_options(text: str, source: str) -> dict[str, Any]:
    """Parse YAML text into options by name.

    Args:
        text: The YAML text. Aliases and deep nesting, which small texts can use to fill the memory, are refused.
        source: What error messages call the text.

    Raises:
        TetrarchiaError: If the text is not a YAML mapping.
    """
    import yaml  # part of the extra `train`

    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING:
                raise TetrarchiaError("it is nested too deeply")
            if isinstance(event, yaml.AliasEvent):
                raise TetrarchiaError(f"aliases such as *{event.anchor} are not allowed")
        data = yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError, OverflowError, ValueError) as error:  # ValueError: an impossible date or number
        raise TetrarchiaError(f"{source} is not valid YAML: {sanitize_line(str(error))}") from None
    if not isinstance(data, dict):
        raise TetrarchiaError(f"{source} must be a mapping of options to values; got {truncate_repr(data)}")
    return data


def _coerce(name: str, value: Any, kind: Any) -> Any:
    """Convert values that YAML parses differently: it reads 3e-4 as a text, 4200 as a number, and levels as a list."""
    if name in (*LEVEL_FIELDS, *DEFAULT_COUNTS):
        if isinstance(value, list | tuple):
            value = "rulebook" if tuple(value) == RULEBOOK_LEVELS else ",".join(map(str, value))
        return str(value) if isinstance(value, int) else value
    try:
        return kind(value) if isinstance(value, str) and kind in (int, float) else value
    except ValueError:
        return value  # refused by the validation, which names the option
