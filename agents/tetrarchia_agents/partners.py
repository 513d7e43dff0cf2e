"""Partners: fixed teammates for ad hoc teamwork that play differently by construction.

`partner:NAME` is an agent like any other. The definitions are in partners.toml: an agent, and how its play differs. Held-out and
validation partners for evaluating unknown teammates follow Melting Pot (Leibo et al., Scalable evaluation of multi-agent reinforcement
learning with Melting Pot, ICML 2021) and ZSC-Eval (Wang et al., NeurIPS 2024).
"""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from tetrarchia_agents.planner import PlannerAgent
from tetrarchia_agents.registry import make_agent
from tetrarchia_agents.search.chance import is_attack
from tetrarchia_env.agent import Actions, Agent, EnvIds, begin_games
from tetrarchia_env.batch import Games, Masks, agents_to_act, random_actions, rng_states
from tetrarchia_env.constants import ACTIONS, EMPERORS, END, MOVE, SPACES
from tetrarchia_env.engine.distances import DISTANCES, FAR
from tetrarchia_env.engine.state import OFF, ROMAN
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.heuristic import FEATURES, load_weights, weights_of
from tetrarchia_env.messages import did_you_mean
from tetrarchia_env.schema import validate

PARTNERS_FILE = Path(__file__).parent / "partners.toml"
FOLLOWING_DISTANCE = 2  # IP; a follower that is nearer plays like its agent


class Partner(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The definition of a partner, an entry of partners.toml.

    Attributes:
        split: "held-out" partners are for reported results, "validation" partners for development.
        description: How it plays, in one sentence.
        agent: The agent that plays, as `make_agent` takes it.
        weights: Weights of the planner's heuristic that are replaced; only with a planner.
        avoids_battles: Whether attacks are left out of its plans; only with a planner.
        ends_with_ip: It ends its turn when this many IP or fewer are left; `None` never does.
        follows: Whether it walks to the nearest teammate before it does anything else.
        noise: The share of its decisions that are uniformly random.
    """

    split: Literal["held-out", "validation"]
    description: str
    agent: str
    weights: dict[str, float] = {}
    avoids_battles: bool = False
    ends_with_ip: Annotated[int, Meta(ge=0, le=6)] | None = None
    follows: bool = False
    noise: Annotated[float, Meta(ge=0, le=1)] = 0.0


@cache
def load_partners() -> dict[str, Partner]:
    """Return the definitions of all partners by name."""
    return validate(tomllib.loads(PARTNERS_FILE.read_text(encoding="utf-8")), dict[str, Partner], PARTNERS_FILE.name)


def partner_names(split: str) -> list[str]:
    """Return the names of the partners of a split, "held-out" or "validation"."""
    return [name for name, partner in load_partners().items() if partner.split == split]


@dataclass(frozen=True)
class PartnerAgent(Agent):
    """A partner of the suite.

    >>> from tetrarchia_agents import make_agent
    >>> make_agent("partner:pacifist").partner.description
    'Never attacks.'
    """

    name: str = "planner-narrow"
    partner: Partner = field(init=False, repr=False, compare=False)
    agent: Agent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        partners = load_partners()
        if self.name not in partners:
            allowed = ", ".join(partners)
            raise TetrarchiaError(f"partner:name must be one of {allowed}; got {self.name!r}{did_you_mean(self.name, partners)}")
        partner = partners[self.name]
        agent = make_agent(partner.agent)
        if (partner.weights or partner.avoids_battles) and not isinstance(agent, PlannerAgent):
            raise TetrarchiaError(f"partner {self.name}: weights and avoids_battles need a planner; got {partner.agent!r}")
        if isinstance(agent, PlannerAgent):
            if partner.weights:
                values = dict(zip(FEATURES, load_weights()[0].item(), strict=True)) | partner.weights
                object.__setattr__(agent, "weights", weights_of(values[name] for name in FEATURES))
            if partner.avoids_battles:
                for buffers in agent.buffers:
                    buffers.allowed[[action for action in range(ACTIONS) if is_attack(action)]] = 0
        object.__setattr__(self, "partner", partner)
        object.__setattr__(self, "agent", agent)

    def begin(self, env_ids: EnvIds) -> None:
        begin_games(self.agent, env_ids)

    def act(self, games: Games, masks: Masks, env_ids: EnvIds) -> Actions:
        partner, actions = self.partner, self.agent.act(games, masks, env_ids)
        is_roman = games["phase"] == ROMAN
        if partner.follows:
            moves = steps_to_teammates(games, masks)
            actions = np.where(is_roman & (moves >= 0), moves, actions)
        if partner.ends_with_ip is not None:
            actions = np.where(is_roman & (games["ip"] <= partner.ends_with_ip) & (masks[:, END] != 0), END, actions)
        if partner.noise:
            is_random = (rng_states(games["dice"]) >> np.uint64(11)) * 2.0**-53 < partner.noise
            actions = np.where(is_random, random_actions(masks, games["dice"].copy()), actions)
        return actions

    def weights_digest(self) -> bytes:
        """Return the definition and the agent's weights, for the fingerprint."""
        weights: bytes = getattr(self.agent, "weights_digest", bytes)()
        return msgspec.json.encode(self.partner) + weights


def steps_to_teammates(games: Games, masks: Masks) -> Actions:
    """Return for each game the move that brings the acting Emperor nearest to a teammate, or -1.

    It is -1 if a teammate is near already, none is on the board, or no legal move brings the Emperor nearer.
    """
    emperors, rows = agents_to_act(games), np.arange(len(games))
    places = games["at"][:, : len(EMPERORS)].copy()
    own = places[rows, emperors]
    places[rows, emperors] = OFF
    distances = np.asarray(DISTANCES)[0][games["fleets"]]  # [game][from][to]; FAR for a place off the board
    to_teammate = np.take_along_axis(distances, places[:, np.newaxis, :], axis=2).min(axis=2)
    is_move = (masks[:, MOVE : MOVE + SPACES] != 0) & (to_teammate[:, :SPACES] > 0)
    after, before = np.where(is_move, to_teammate[:, :SPACES], FAR), to_teammate[rows, own]
    is_nearer = (before > FOLLOWING_DISTANCE) & (after.min(axis=1) < before)
    return np.where(is_nearer, MOVE + after.argmin(axis=1), -1)
