"""PPO, Stable-Baselines3's, in a loop of our own: rollout, update, and between them what is told, kept and changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch.nn.functional import mse_loss

from tetrarchia_agents.network import Network
from tetrarchia_train.config import TrainOptions
from tetrarchia_train.distributed import Team
from tetrarchia_train.games import FIRST_SEED, EndsOfTurn, TrainingGames
from tetrarchia_train.held_out import Result, evaluate, kinds_of
from tetrarchia_train.logs import Stopwatch, record_games
from tetrarchia_train.policy import GamePolicy, PlainBuffer
from tetrarchia_train.rules import rules_label
from tetrarchia_train.variance_reduction import Floats


@dataclass
class Run:
    """A run under way: all that changes in it."""

    options: TrainOptions
    env: TrainingGames
    model: MaskablePPO
    watch: Stopwatch
    team: Team
    learning: BaseCallback | None = None

    @property
    def steps(self) -> int:
        """Decisions played so far, by all processes."""
        return int(self.model.num_timesteps) * self.team.size

    @property
    def progress(self) -> float:
        """From 0 to 1, by steps or by minutes, whichever is further."""
        by_time = self.watch.seconds / 60 / self.options.max_minutes if self.options.max_minutes else 0.0
        return min(1.0, max(self.steps / self.options.total_timesteps, by_time))

    @property
    def network(self) -> Network:
        """What is being trained."""
        network: Network = self.model.policy.network
        return network


def new_run(options: TrainOptions, network: Network | None, logger: Logger, team: Team = Team()) -> Run:  # noqa: B008 - it is frozen
    """A run at its beginning, with random weights or those given."""
    part = options.part(team.rank)
    env = TrainingGames(part.num_envs, part.actions, part.rules, part.drawn_levels, FIRST_SEED + (part.seed << 20))
    model = new_model(part, env)
    if network is not None:
        model.policy.network.load_state_dict(network.state_dict())
        model.policy.network.sharpen(options.sharpen)
    team.begin_alike(model.policy.network)
    run = Run(options, env, model, Stopwatch(), team)
    ready(run, logger)
    return run


def new_model(options: TrainOptions, env: TrainingGames) -> MaskablePPO:
    """SB3's PPO with our network and buffer."""
    return MaskablePPO(
        GamePolicy,
        env,
        learning_rate=options.learning_rate,
        n_steps=options.n_steps,
        batch_size=options.minibatch_size,
        n_epochs=options.n_epochs,
        gamma=1.0,  # a step costs nothing: train.potential
        gae_lambda=options.gae_lambda,
        clip_range=options.clip_range,
        ent_coef=options.ent_coef,
        vf_coef=options.vf_coef,
        max_grad_norm=options.max_grad_norm,
        rollout_buffer_class=PlainBuffer,
        policy_kwargs={"network_config": options.network_config},
        seed=options.seed,
        device="cpu",
    )


def ready(run: Run, logger: Logger) -> None:
    """What SB3's `learn` does before its loop."""
    run.model.set_logger(logger)
    run.model.n_epochs = run.options.n_epochs  # a resumed run may want others
    run.team.average_in(run.model.policy.optimizer)
    run.env.shaping, run.env.rerolls, run.env.discount = run.options.shaping_coef, run.options.chance_samples, run.options.turn_discount
    if run.options.chance_samples:
        run.env.judge = lambda seen: judge(run.network, seen)
    _, run.learning = run.model._setup_learn(run.options.total_timesteps, None, reset_num_timesteps=False)


def judge(network: Network, seen: Floats) -> Floats:
    """The value of each position."""
    with torch.inference_mode():
        values: Floats = network.values(torch.from_numpy(seen)).numpy()
    return values


def one_round(run: Run) -> None:
    """A rollout and the update from it."""
    options, model = run.options, run.model
    progress = run.team.same(run.progress)
    model.ent_coef = fading(options.ent_coef, options.final_ent_coef, progress)
    learning_rate = fading(options.learning_rate, options.final_learning_rate, progress)
    model.lr_schedule = lambda _: learning_rate
    run.env.set_discount(fading(options.turn_discount, options.final_turn_discount, progress))
    began = run.watch.seconds
    collect(run)
    model.train()
    model.logger.record("time/steps a second", options.num_envs * options.n_steps / (run.watch.seconds - began))
    tell_games(run)


def collect(run: Run) -> None:
    """Fill the buffer."""
    run.model.collect_rollouts(run.env, run.learning, run.model.rollout_buffer, run.options.n_steps)


def fading(first: float, last: float, progress: float) -> float:
    """From first to last as the run goes on from 0 to 1, linear."""
    return first + (last - first) * progress


def tell_games(run: Run) -> None:
    """What the finished games were like."""
    finished, run.env.finished = run.env.finished, []
    record_games(run.model.logger, finished, run.env.ends, [rules_label(rule) for rule in run.options.rules])
    run.env.ends = EndsOfTurn()
    run.model.logger.dump(run.steps)


def learn_value(run: Run, tell: Callable[[float], None]) -> None:
    """Play with the policy as it is and learn its value alone, so that a copied policy is not spoiled."""
    optimizer = torch.optim.Adam(run.network.value_parameters(), lr=run.options.critic_learning_rate)
    run.team.average_in(optimizer)
    run.network.train_value_only(True)
    for number in range(run.options.critic_rollouts):
        collect(run)
        for _ in range(run.options.n_epochs):
            for data in run.model.rollout_buffer.get(run.model.batch_size):
                _, values = run.network(data.observations)
                optimizer.zero_grad()
                mse_loss(values, data.returns).backward()
                optimizer.step()
        tell((number + 1) / run.options.critic_rollouts)
    run.network.train_value_only(False)
    run.env.finished, run.env.ends, run.model.num_timesteps = [], EndsOfTurn(), 0


def measure(run: Run) -> Sequence[Result]:
    """Win rates on held-out seeds, into TensorBoard too."""
    options = run.options
    results = evaluate(run.network, kinds_of(options.eval_levels, options.rules), options.n_eval_episodes, options.network_config.actions)
    for result in results:
        run.model.logger.record(f"held-out win rate/{result.label}", result.win_rate)
        run.model.logger.record(f"held-out borders/{result.label}", result.borders)
    run.model.logger.dump(run.steps)
    return results
