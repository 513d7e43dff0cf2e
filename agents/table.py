"""Agents by name."""

from collections.abc import Callable

import numpy as np

from agents.agent import Agent
from agents.random import RandomAgent
from tetrarchia_env.board import EMPERORS

AGENTS: dict[str, Callable[[np.random.Generator], Agent]] = {"random": RandomAgent}


def make_agents(names: str, seed: int) -> dict[str, Agent]:
    """R13.1: any agent for any Emperor; one name for all four, or four names with commas in turn order."""
    given = names.split(",")
    if len(given) not in (1, len(EMPERORS)):
        raise ValueError(f"agents: give one name or four, one for each of {', '.join(EMPERORS)}, not {names!r}")
    for name in given:
        if name not in AGENTS:
            raise ValueError(f"unknown agent {name!r}: choose from {', '.join(AGENTS)}")
    chosen = given * len(EMPERORS) if len(given) == 1 else given
    generators = np.random.default_rng(seed).spawn(len(EMPERORS))
    return {emperor: AGENTS[name](generator) for emperor, name, generator in zip(EMPERORS, chosen, generators, strict=True)}
