"""The agent that has learned to play: a trained network, alone or choosing among the turns that it proposes."""

from dataclasses import dataclass, field
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.chance_samples import BLOCKS
from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_agents.turn_search import Amounts, Floats, Plan, PlansUnderWay, TurnSearch, sample
from tetrarchia_agents.values import check_value, value_reward
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, is_over, legal_masks, observe
from tetrarchia_env.checks import check_masks, checked_games
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError

BATCH = 1024  # games a pass: more do not go faster
ROWS = 16  # passes have a multiple of it: then a choice does not depend on how many games are played at once, to the last bit
MOST = 1024  # turns: more make no sense


@dataclass(frozen=True)
class PPOAgent(Agent):
    """Plays what its checkpoint likes best, or draws; with `turns` it plays the best of so many turns, by its value."""

    checkpoint: str = "ppo"
    turns: int = 0  # candidates of each turn: the greedy one, and others drawn; 0: no search
    temperature: float | None = (
        None  # that actions are drawn at: without turns 0, which is greedy; with turns 1, for all candidates but one
    )
    chance_samples: int = 1  # times that a candidate meets each of the 36 ways that two dice can fall
    margin: float = 0.02  # that a turn must be better by than the greedy one; a win is worth 2
    rollout_turns: int = 1  # that the policy plays on, by the same dice, before it judges the finalists; 0: no rollouts
    finalists: int = 4  # that are played on: the greedy turn, and the best of those that seem better
    confirm_samples: int = 3  # times that the best of them must win against the greedy turn by each of the 36 ways once more
    network: Network = field(init=False, repr=False, compare=False)
    actions: int = field(init=False, repr=False, compare=False)
    digest: str = field(init=False, repr=False, compare=False)
    reward: ShapedReward = field(init=False, repr=False, compare=False)  # that its value is of
    plans: PlansUnderWay = field(default_factory=PlansUnderWay, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        temperature = 1.0 if self.temperature is None else self.temperature
        for option, fits, wanted in (
            ("turns", 0 <= self.turns <= MOST, f"from 0 to {MOST}"),
            (
                "temperature",
                temperature < inf and (temperature > 0 or temperature == 0 == self.turns),
                f"a number {'above 0' if self.turns else 'from 0 on'}",
            ),
            ("chance_samples", 1 <= self.chance_samples <= BLOCKS // 2, f"from 1 to {BLOCKS // 2}"),
            ("confirm_samples", 0 <= self.confirm_samples <= BLOCKS // 2, f"from 0 to {BLOCKS // 2}"),
            ("margin", 0 <= self.margin < inf, "a number from 0 on"),
            ("rollout_turns", 0 <= self.rollout_turns <= MOST, f"from 0 to {MOST}"),
            ("finalists", 2 <= self.finalists <= MOST, f"from 2 to {MOST}"),
        ):
            if not fits:
                raise TetrarchiaError(f"ppo:{option} is {wanted}, not {getattr(self, option)!r}")
        loaded = load_checkpoint(self.checkpoint)
        object.__setattr__(self, "network", loaded.network)
        object.__setattr__(self, "actions", loaded.config.actions)
        object.__setattr__(self, "digest", loaded.card["weights"])
        object.__setattr__(self, "reward", value_reward(loaded.card, self.checkpoint))
        if self.turns:
            check_value(loaded.card, self.checkpoint)

    def begin(self, env_ids: EnvIds) -> None:
        """The turns planned there are void."""
        self.plans.forget(env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        """The action it likes best, or one that it draws with the game's RNG state, or the next one of the turn it has chosen."""
        if self.turns:
            return np.array([plan.actions[0] for plan in self.choose_plans(games, masks, env_ids)], dtype=np.int64)
        log_probs, _ = self.evaluate(games, masks)
        if not self.temperature:
            best: Actions = log_probs.argmax(axis=1)
            return best
        return sample(log_probs / self.temperature, games["dice"])

    def choose_plans(self, games: Games, masks: Masks, env_ids: EnvIds) -> list[Plan]:
        """What is left of the turn chosen before, or a new one; its first action is played next."""
        checked_games(games)
        check_masks(masks, len(games))
        kept = self.plans.recall(games, env_ids)
        new = np.array([row for row, plan in enumerate(kept) if plan is None], dtype=np.int64)
        found = iter(self.search.plan(games[new], masks[new]))
        plans = [next(found) if plan is None else plan for plan in kept]
        self.plans.keep(games, masks, env_ids, plans)
        return plans

    @property
    def search(self) -> TurnSearch:
        """As the options say."""
        temperature = 1.0 if self.temperature is None else self.temperature
        return TurnSearch(
            self.turns,
            temperature,
            self.chance_samples,
            self.margin,
            lambda *some: self.evaluate(*some)[0],
            self.position_values,
            self.rollout_turns,
            self.finalists,
            self.confirm_samples,
        )

    def weights_digest(self) -> bytes:
        """Of the checkpoint's file."""
        return self.digest.encode()

    def evaluate_positions(self, games: Games) -> tuple[Floats, Floats]:
        """For each game that is not over: the logarithm of each action's prior (-inf if illegal), and the value to the four."""
        return self.evaluate(games, legal_masks(games))

    def evaluate(self, games: Games, masks: Masks) -> tuple[Floats, Floats]:
        """The same with the masks given; as many columns as the checkpoint has actions."""
        if masks[:, self.actions :].any():
            raise TetrarchiaError(
                f"checkpoint {self.checkpoint!r} knows {self.actions} actions: this game has variants or modules that need more"
            )
        obs, legal = observe(games), masks[:, : self.actions] != 0
        parts = [self._evaluate(obs[at : at + BATCH], legal[at : at + BATCH]) for at in range(0, len(games), BATCH)]
        log_probs, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        return log_probs, values

    def _evaluate(self, obs: Floats, legal: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        rows = _padded(len(obs))
        with torch.inference_mode():
            logits, values = self.network(torch.from_numpy(obs[rows]))
            log_probs = log_probabilities(logits, torch.from_numpy(legal[rows]))
        return log_probs.numpy()[: len(obs)], values.numpy()[: len(obs)]

    def position_values(self, games: Games) -> Amounts:
        """What positions are worth: the terminal reward of a finished game, else the potential and the value to come."""
        values = self.reward.terminal(games) + self.reward.shaping_coef * self.reward.potential(games)
        running = np.flatnonzero(~is_over(games))
        with torch.inference_mode():
            for rows in np.split(running, range(BATCH, len(running), BATCH)) if len(running) else ():
                obs = torch.from_numpy(observe(games[rows])[_padded(len(rows))])
                values[rows] += self.network.values(obs).numpy()[: len(rows)]
        return values


def _padded(rows: int) -> NDArray[np.int64]:
    return np.resize(np.arange(rows), -(-rows // ROWS) * ROWS)
