"""All that can be chosen for a training run, and the presets that are kept in the repository.

Each field says what it means, which group it belongs to and what it may be: the command line makes its options from that, and so
this module loads neither torch nor the compiled rules by itself. Names are those of Stable-Baselines3 and CleanRL where they have one.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.files import MAX_NESTING, read_bounded
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.schema import UNBOUNDED, base_type, describe, field_types, sanitize_line, truncate_repr, validate_fields
from tetrarchia_train.rule_sets import drawn_levels

if TYPE_CHECKING:
    from tetrarchia_agents.network_config import NetworkConfig

PRESETS = Path(__file__).parent / "presets"
RULEBOOK = tuple("".join(digits) for digits in product("543", "321", "012", "012"))  # R2.1: its 81 levels
EVAL_LEVELS = ("4200", "4211", "4222")
MOST_STEPS = 2**24  # of a rollout: its observations alone are then some 50 GB
LARGEST_PRESET = 1_000_000  # bytes
SEARCH = "ppo:"  # how an expert that searches by a checkpoint's value begins
SEEDS_APART = 10_007  # between the processes of one run
# What may change when a run goes on: all else is in its weights, its games or its past.
CHANGEABLE = (
    *("levels", "focus", "focus_share", "threads", "demo_workers", "total_timesteps", "max_minutes", "n_epochs", "minibatch_size"),
    *("learning_rate", "final_learning_rate", "gae_lambda", "clip_range", "ent_coef", "final_ent_coef", "vf_coef", "max_grad_norm"),
    *("precision", "chance_samples", "turn_discount", "final_turn_discount", "shaping_coef", "rounds"),
    *("eval_freq", "n_eval_episodes", "eval_levels", "save_freq"),
)

Count = Annotated[int, Meta(ge=1, le=UNBOUNDED)]
Some = Annotated[int, Meta(ge=1, le=1024)]  # processes, threads, epochs
Batch = Annotated[int, Meta(ge=1, le=2**20)]
Decisions = Annotated[int, Meta(ge=1, le=10**9)]
SomeOrNone = Annotated[int, Meta(ge=0, le=1024)]
CountOrNone = Annotated[int, Meta(ge=0, le=UNBOUNDED)]
Share = Annotated[float, Meta(ge=0, le=1)]
Weight = Annotated[float, Meta(ge=0, le=UNBOUNDED)]
Discount = Annotated[float, Meta(ge=1e-9, le=1)]  # above 0, as ShapedReward wants it
Positive = Annotated[float, Meta(ge=1e-9, le=UNBOUNDED)]
Levels = tuple[str, ...]
A_RULE_LIST = describe("a list of rules such as {variants: [imperivm]}")
Rules = Annotated[tuple[Annotated[dict[str, Any], A_RULE_LIST], ...], Meta(min_length=1), A_RULE_LIST]


def _about(group: str, description: str) -> Meta:
    return Meta(description=description, extra={"group": group})


_games = partial(_about, "Games")
_network = partial(_about, "Network")
_warm_start = partial(_about, "Warm start: go on from a checkpoint, clone an expert's behaviour, or both")
_ppo = partial(_about, "PPO")
_evaluation = partial(_about, "Evaluation and checkpoints")


@dataclass(frozen=True)
class TrainConfig:
    """One training run; the same options on one thread give the same run."""

    levels: Annotated[Levels, Meta(min_length=1), _games("Levels that games begin at, drawn at random; rulebook: its 81")] = RULEBOOK
    focus: Annotated[Levels, _games("Levels drawn more often")] = ()
    focus_share: Annotated[Share, _games("The share of games at one of these")] = 0.0
    rules: Annotated[Rules, _games("Variants, modules, scenario; the environments are shared out among them")] = field(
        default_factory=lambda: ({},)
    )
    actions: Annotated[Literal["base", "all"], _games("base: of the base game; all: also of variants and modules")] = "base"
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1), _games("The same on one thread is the same run")] = 1
    processes: Annotated[Some, _games("Processes that learn together; environments and minibatches are shared out")] = 1
    threads: Annotated[Some, _games("Threads of torch in each process")] = 2

    network: Annotated[str, _network("gnn, gnn-decoder or mlp")] = "gnn"
    node_dim: Annotated[Count, _network("Features of a space in the message-passing layers")] = 16
    encoder_layers: Annotated[Count, _network("Message-passing layers before the trunk")] = 2
    decoder_layers: Annotated[Count, _network("Message-passing layers after the trunk, of gnn-decoder only")] = 3
    readout_dim: Annotated[Count, _network("Features of each space that the trunk reads")] = 16
    hidden_dim: Annotated[Count, _network("Features of the trunk")] = 256
    policies: Annotated[Count, _network("1: shared by all Emperors; 4: independent, one each")] = 1
    precision: Annotated[
        Literal["float32", "bfloat16"],
        _network("Of PPO's matrix products; bfloat16 is faster where the processor has it (AVX-512 BF16, AMX)"),
    ] = "float32"

    init_checkpoint: Annotated[str, _warm_start("The checkpoint to begin with; without: random weights")] = ""
    expert: Annotated[str, _warm_start("The agent whose behaviour is cloned; none: nobody")] = "planner"
    demonstrations: Annotated[str, _warm_start("A file of its demonstrations made before")] = ""
    num_demonstrations: Annotated[Decisions, _warm_start("Decisions of the expert to clone")] = 1_000_000
    expert_noise: Annotated[Share, _warm_start("The share of random actions in the expert's games")] = 0.05
    target_temperature: Annotated[
        Positive, _warm_start("Of an expert that searches: the temperature of the softmax over its turns' values that the policy learns")
    ] = 0.03
    demo_workers: Annotated[Some, _warm_start("Processes that play these games")] = 2
    bc_epochs: Annotated[Some, _warm_start("Epochs of behaviour cloning")] = 6
    bc_batch_size: Annotated[Batch, _warm_start("Decisions in an update of behaviour cloning")] = 1024
    bc_learning_rate: Annotated[Positive, _warm_start("Learning rate of behaviour cloning")] = 1e-3
    rounds: Annotated[
        SomeOrNone, _warm_start("Rounds of expert iteration: all stages, each by a search with the last network; 0: none")
    ] = 0
    critic_rollouts: Annotated[CountOrNone, _warm_start("Rollouts before PPO from which only the critic learns")] = 8
    critic_learning_rate: Annotated[Positive, _warm_start("Learning rate of the critic then")] = 1e-3

    total_timesteps: Annotated[Count, _ppo("Decisions in all")] = 30_000_000
    max_minutes: Annotated[Weight, _ppo("Stop after so many minutes; 0: as long as the timesteps take")] = 0.0
    num_envs: Annotated[Batch, _ppo("Games played side by side")] = 512
    n_steps: Annotated[Batch, _ppo("Steps of each environment in a rollout")] = 64
    n_epochs: Annotated[Some, _ppo("Times that a rollout is learned from")] = 2
    minibatch_size: Annotated[Count, _ppo("Steps in an update")] = 2048
    learning_rate: Annotated[Positive, _ppo("Learning rate at first")] = 3e-4
    final_learning_rate: Annotated[Positive, _ppo("Learning rate at the end")] = 3e-5
    gae_lambda: Annotated[Share, _ppo("Lambda of generalised advantage estimation")] = 0.95
    clip_range: Annotated[Share, _ppo("How far the policy's ratio may go from 1")] = 0.2
    ent_coef: Annotated[Weight, _ppo("Weight of the entropy at first")] = 0.005
    final_ent_coef: Annotated[Weight, _ppo("Weight of the entropy at the end")] = 0.001
    vf_coef: Annotated[Weight, _ppo("Weight of the value's loss")] = 0.5
    max_grad_norm: Annotated[Positive, _ppo("Longer gradients are clipped")] = 0.5
    chance_samples: Annotated[SomeOrNone, _ppo("Times that dice are rolled again for the control variate on chance events; 0: none")] = 4
    turn_discount: Annotated[Discount, _ppo("Discount of the terminal reward for each turn of the game, at first")] = 0.99
    final_turn_discount: Annotated[Discount, _ppo("Discount of the terminal reward for each turn, at the end")] = 0.99
    shaping_coef: Annotated[Weight, _ppo("Weight of the potential-based shaping")] = 1.0

    eval_freq: Annotated[Count, _evaluation("Timesteps between two evaluations")] = 2_000_000
    n_eval_episodes: Annotated[Batch, _evaluation("Games at each level of an evaluation")] = 256
    eval_levels: Annotated[Levels, _evaluation("Levels of an evaluation")] = EVAL_LEVELS
    save_freq: Annotated[Count, _evaluation("Timesteps between two checkpoints")] = 1_000_000

    def __post_init__(self) -> None:
        validate_fields(self, "training option")
        if self.seed + SEEDS_APART * (self.processes - 1) >= 2**31:
            raise TetrarchiaError(f"training option seed is too large for {self.processes} processes: {self.seed}")
        if self.num_envs * self.n_steps > MOST_STEPS:
            raise TetrarchiaError(f"training options: num_envs x n_steps is at most {MOST_STEPS}, not {self.num_envs * self.n_steps}")
        if (
            self.num_envs * self.n_steps % self.minibatch_size
            or self.num_envs % (len(self.rules) * self.processes)
            or self.minibatch_size % self.processes
        ):
            raise TetrarchiaError(
                "training options: num_envs x n_steps is a multiple of the minibatch_size, "
                "num_envs one of rules x processes, minibatch_size one of processes"
            )
        if self.rounds and not (self.init_checkpoint and self.expert.startswith(SEARCH)):
            given = f"{self.init_checkpoint!r} and {self.expert!r}"
            raise TetrarchiaError(
                f"training option rounds needs an init_checkpoint and an expert such as {SEARCH}candidates=8, not {given}"
            )
        self._check_rules()
        self.network_config  # noqa: B018 - it checks its own values

    def _check_rules(self) -> None:
        from tetrarchia_env.options import Options

        Options(level=[*self.levels, *self.focus, *self.eval_levels])
        for rule in self.rules:
            if Options.of(**rule).needs_all_actions and self.actions == "base":
                raise TetrarchiaError(f"training option actions must be all for the rules {rule}")

    @property
    def network_config(self) -> "NetworkConfig":
        """The network that these options describe."""
        from tetrarchia_agents.network_config import NetworkConfig
        from tetrarchia_env.constants import ACTIONS, BASE_ACTIONS

        own = ("node_dim", "encoder_layers", "decoder_layers", "readout_dim", "hidden_dim", "policies")
        actions = BASE_ACTIONS if self.actions == "base" else ACTIONS
        return NetworkConfig(self.network, actions, **{name: getattr(self, name) for name in own})

    @property
    def drawn_levels(self) -> list[str]:
        """The levels that games begin at, those in focus more often."""
        return drawn_levels(self.levels, self.focus, self.focus_share)

    def changed(self, changes: Mapping[str, Any]) -> "TrainConfig":
        """The same but for these, as a file or the command line tells them; an unknown name is a ValueError that names them all."""
        kinds = {one.name: base_type(field_types(TrainConfig)[one.name]) for one in fields(self)}
        for name in changes:
            if name not in kinds:
                raise TetrarchiaError(f"unknown training option {truncate_repr(name)}: choose from {', '.join(kinds)}")
        return replace(self, **{name: _read(value, kinds[name]) for name, value in changes.items()})

    def resumed(self, changes: Mapping[str, Any]) -> "TrainConfig":
        """The options of this run when it goes on with these changes; ValueError if one of them cannot change any more."""
        wanted = self.changed(changes)
        for name in changes:
            if name not in CHANGEABLE and getattr(wanted, name) != getattr(self, name):
                raise TetrarchiaError(
                    f"training option {name} cannot change in a run that has begun: it is {getattr(self, name)!r}, not "
                    f"{getattr(wanted, name)!r} (only {', '.join(CHANGEABLE)} can)"
                )
        return wanted

    def part(self, rank: int) -> "TrainConfig":
        """What the process of this rank plays and learns: its share, with a seed of its own."""
        num_envs, minibatch_size = self.num_envs // self.processes, self.minibatch_size // self.processes
        return replace(self, processes=1, num_envs=num_envs, minibatch_size=minibatch_size, seed=self.seed + SEEDS_APART * rank)

    def as_data(self) -> dict[str, Any]:
        """As JSON or YAML data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def read_preset(name: str) -> TrainConfig:
    """The options of a preset, or of a YAML file."""
    path = PRESETS / f"{name}.yaml" if not name.endswith(".yaml") else Path(name)
    if not path.is_file():
        known = sorted(preset.stem for preset in PRESETS.glob("*.yaml"))
        raise TetrarchiaError(
            f"no preset {name!r}{did_you_mean(name, known)}: choose from {', '.join(known)}, or give a file that ends in .yaml"
        )
    try:
        text = read_bounded(path, LARGEST_PRESET).decode("utf-8")
    except (OSError, ValueError) as error:
        raise TetrarchiaError(f"{path} cannot be read ({sanitize_line(str(error))})") from None
    return config_of(text, str(path))


def config_of(text: str, source: str) -> TrainConfig:
    """What a YAML text says."""
    return TrainConfig().changed(data_of(text, source))


def data_of(text: str, source: str) -> dict[str, Any]:
    """The names and values of a YAML text."""
    try:
        data = read_yaml(text) or {}
    except ValueError as error:
        raise TetrarchiaError(f"{source} is not YAML: {sanitize_line(str(error))}") from None
    if not isinstance(data, dict):
        raise TetrarchiaError(f"{source} is a list of options with values, not {truncate_repr(data)}")
    return data


def read_yaml(text: str) -> Any:
    """What a text says; ValueError, in one sentence, if it is no YAML, uses aliases, or is nested deeply: none of ours does."""
    import yaml  # only with the extra `train`

    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING or isinstance(event, yaml.AliasEvent):
                raise TetrarchiaError("it is nested too deeply" if depth > MAX_NESTING else f"aliases such as *{event.anchor} are not read")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, OverflowError) as error:
        raise TetrarchiaError(str(error)) from None


def _read(value: Any, kind: Any) -> Any:
    """What a text says if a number or a list is wanted; YAML takes 3e-4 for a text, and 4200 for a number."""
    if kind == Levels:
        return _read_levels(value)
    try:
        return kind(value) if isinstance(value, str) and kind in (int, float) else value
    except ValueError:
        return value


def _read_levels(value: Any) -> Any:
    if value == "rulebook":
        return RULEBOOK
    if isinstance(value, str | int):
        value = [part for part in str(value).split(",") if part]
    return tuple(map(str, value)) if isinstance(value, list | tuple) else value
