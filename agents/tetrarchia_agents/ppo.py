"""The trained agent: a policy network alone, or with a search over candidate turns."""

from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from tetrarchia_agents.chance_samples import MAX_SETS
from tetrarchia_agents.checkpoints import load_checkpoint
from tetrarchia_agents.devices import find_device
from tetrarchia_agents.network import Network, log_probabilities
from tetrarchia_agents.turn_search import Float32s, Float64s, Plan, PlanMemory, TurnSearch, sample
from tetrarchia_agents.values import check_value, value_reward
from tetrarchia_env.agent import Actions, Agent, EnvIds
from tetrarchia_env.batch import Games, Masks, is_over, legal_masks
from tetrarchia_env.checks import check_masks, checked_games
from tetrarchia_env.envs.rewards import ShapedReward
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.local_view import LocalOptions
from tetrarchia_env.options import Options

BATCH_SIZE = 1024  # games per forward pass; larger batches are not faster
ROW_MULTIPLE = 16  # batches are padded to it: results then do not depend, to the last bit, on the number of games
MAX_CANDIDATES = 1024
ALL_RULES_CHECKPOINT = "ppo-full"  # trained with all variants, modules and scenarios


@dataclass(frozen=True)
class PPOAgent(Agent):
    """Plays the most probable action of a checkpoint, samples one, or searches candidate turns by its value function.

    A checkpoint trained with local information (R14) plays from the observations of the same local information, greedily.
    """

    checkpoint: str = field(default="ppo", metadata={"fingerprint": False})  # the fingerprint contains the weights' digest
    candidates: int = 0  # turns proposed: the greedy one, the others sampled; 0: no search
    temperature: float | None = None  # of sampling; None: 0 (greedy) without search, 1 with search
    chance_samples: int = 1  # evaluations of a candidate with each of the 36 outcomes of two dice
    margin: float = 0.02  # minimum advantage of another turn over the greedy one; a win is worth 2
    rollout_turns: int = 1  # turns that the policy plays, with the same dice, before finalists are evaluated; 0: no rollouts
    finalists: int = 4  # candidates evaluated by rollouts: the greedy turn and the best of those that seem better
    confirm_samples: int = 3  # like chance_samples, for the last comparison of the best finalist with the greedy turn
    device: str = field(default="cpu", metadata={"fingerprint": False})  # of the network: cpu, cuda, or auto
    network: Network = field(init=False, repr=False, compare=False)
    num_actions: int = field(init=False, repr=False, compare=False)
    digest: str = field(init=False, repr=False, compare=False)
    reward: ShapedReward = field(init=False, repr=False, compare=False)  # with which the value function was trained
    # of the training; None: full information. It has a default because Agent has an attribute of this name
    local: LocalOptions | None = field(default=None, init=False, repr=False, compare=False)
    plans: PlanMemory = field(default_factory=PlanMemory, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        temperature = 1.0 if self.temperature is None else self.temperature
        for option, is_valid, allowed in (
            ("candidates", 0 <= self.candidates <= MAX_CANDIDATES, f"from 0 to {MAX_CANDIDATES}"),
            (
                "temperature",
                temperature < inf and (temperature > 0 or temperature == 0 == self.candidates),
                f"a finite number {'above 0' if self.candidates else 'of at least 0'}",
            ),
            ("chance_samples", 1 <= self.chance_samples <= MAX_SETS // 2, f"from 1 to {MAX_SETS // 2}"),
            ("confirm_samples", 0 <= self.confirm_samples <= MAX_SETS // 2, f"from 0 to {MAX_SETS // 2}"),
            ("margin", 0 <= self.margin < inf, "a finite number of at least 0"),
            ("rollout_turns", 0 <= self.rollout_turns <= MAX_CANDIDATES, f"from 0 to {MAX_CANDIDATES}"),
            ("finalists", 2 <= self.finalists <= MAX_CANDIDATES, f"from 2 to {MAX_CANDIDATES}"),
        ):
            if not is_valid:
                raise TetrarchiaError(f"ppo:{option} must be {allowed}; got {getattr(self, option)!r}")
        loaded = load_checkpoint(self.checkpoint)
        object.__setattr__(self, "network", loaded.network.to(find_device(self.device)))
        object.__setattr__(self, "num_actions", loaded.config.actions)
        object.__setattr__(self, "local", None if loaded.config.view_radius is None else loaded.config.local)
        object.__setattr__(self, "digest", loaded.card["weights_sha256"])
        object.__setattr__(self, "reward", value_reward(loaded.card, self.checkpoint))
        if self.local and (self.candidates or self.temperature):
            raise TetrarchiaError(
                f"ppo: checkpoint {self.checkpoint!r} was trained with {self.local.text}, and plays its most probable actions: candidates "
                f"and temperature must be 0; got {self.candidates} and {self.temperature}"
            )
        if self.candidates:
            check_value(loaded.card, self.checkpoint)

    @property
    def needs(self) -> Literal["games", "observations"]:
        """What `act` receives: whole games, or observations with the local information `local`."""
        return "observations" if self.local else "games"

    def begin(self, env_ids: EnvIds) -> None:
        self.plans.forget(env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        if self.local:
            return self._act_on_observations(games, masks)
        if self.candidates:
            return np.array([plan.actions[0] for plan in self.choose_plans(games, masks, env_ids)], dtype=np.int64)
        log_probs, _ = self.evaluate(games, masks)
        if not self.temperature:
            best: Actions = log_probs.argmax(axis=1)
            return best
        return sample(log_probs / self.temperature, games["dice"])

    def _act_on_observations(self, obs: NDArray[Any], masks: Masks) -> Actions:
        """Return the most probable action for each observation."""
        assert self.local is not None
        if obs.ndim != 2 or obs.shape[1] != self.local.size:
            raise TetrarchiaError(
                f"checkpoint {self.checkpoint!r} was trained with {self.local.text}: it plays only from observations with the same local "
                f"information, of length {self.local.size}"
            )
        self._check_actions(masks)
        actions, legal = np.zeros(len(obs), dtype=np.int64), masks[:, : self.num_actions] != 0
        with torch.inference_mode():
            for start in range(0, len(obs), BATCH_SIZE):
                end = min(start + BATCH_SIZE, len(obs))
                rows = start + _padded(end - start)
                log_probs = log_probabilities(self.network.logits(self.network.tensor(obs[rows])), self.network.tensor(legal[rows]))
                actions[start:end] = log_probs.argmax(dim=1).cpu().numpy()[: end - start]
        return actions

    def choose_plans(self, games: Games, masks: Masks, env_ids: EnvIds) -> list[Plan]:
        """Return the turn selected for each game: the rest of the current one, or a new one."""
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
        """The search with this agent's options."""
        return TurnSearch(
            self.candidates,
            1.0 if self.temperature is None else self.temperature,
            self.chance_samples,
            self.margin,
            lambda games, masks: self.evaluate(games, masks)[0],
            self.position_values,
            self.rollout_turns,
            self.finalists,
            self.confirm_samples,
        )

    def training_warning(self, options: Options) -> str:
        """Return a sentence if the checkpoint was not trained with a game's scenario, variants and modules, else an empty string."""
        rules = load_checkpoint(self.checkpoint).card["training"].get("options", {}).get("rules")
        if rules is None:  # unknown
            return ""
        if options.scenario:
            unknown = {options.scenario} - {one.get("scenario") for one in rules}
        else:
            trained = {name for one in rules for kind in ("variants", "modules") for name in one.get(kind, ())}
            unknown = {*options.variants, *options.modules} - trained
        if not unknown:
            return ""
        return f"checkpoint {self.checkpoint!r} was not trained with {', '.join(sorted(unknown))}: ppo:{ALL_RULES_CHECKPOINT} was"

    def weights_digest(self) -> bytes:
        """Return the digest of the checkpoint's weights, for the fingerprint."""
        return self.digest.encode()

    def evaluate(self, games: Games, masks: Masks | None = None) -> tuple[Float32s, Float32s]:
        """Return the policy and the value of each game.

        Args:
            games: Running games.
            masks: Their legal actions; computed if not given.

        Returns:
            The log probability of each action that the checkpoint knows (-inf if illegal), and the network's value.
        """
        masks = legal_masks(games) if masks is None else masks
        self._check_actions(masks)
        obs, legal = self.network.inputs(games), masks[:, : self.num_actions] != 0
        parts = []
        with torch.inference_mode():
            for start in range(0, len(games), BATCH_SIZE):
                end = min(start + BATCH_SIZE, len(games))
                rows = start + _padded(end - start)
                logits, values = self.network(self.network.tensor(obs[rows]))
                log_probs = log_probabilities(logits, self.network.tensor(legal[rows]))
                parts.append((log_probs.cpu().numpy()[: end - start], values.cpu().numpy()[: end - start]))
        return np.concatenate([log_probs for log_probs, _ in parts]), np.concatenate([values for _, values in parts])

    def _check_actions(self, masks: Masks) -> None:
        if masks[:, self.num_actions :].any():
            raise TetrarchiaError(
                f"checkpoint {self.checkpoint!r} knows {self.num_actions} actions; this game has variants or modules that need more:"
                f" use ppo:{ALL_RULES_CHECKPOINT}"
            )

    def position_values(self, games: Games) -> Float64s:
        """Return the value of each position: the terminal reward of a finished game, else the potential plus the network's value."""
        values = self.reward.terminal(games) + self.reward.shaping_coef * self.reward.potential(games)
        running = np.flatnonzero(~is_over(games))
        with torch.inference_mode():
            for start in range(0, len(running), BATCH_SIZE):
                rows = running[start : start + BATCH_SIZE]
                obs = self.network.tensor(self.network.inputs(games[rows])[_padded(len(rows))])
                values[rows] += self.network.values(obs).cpu().numpy()[: len(rows)]
        return values


def _padded(rows: int) -> NDArray[np.int64]:
    """Return the row numbers, repeated up to a multiple of ROW_MULTIPLE."""
    return np.resize(np.arange(rows), -(-rows // ROW_MULTIPLE) * ROW_MULTIPLE)
