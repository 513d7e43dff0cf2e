"""The command `serve`: play in the browser, alone or with others, with trained colleagues."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tetrarchia_app.cli.arguments import LEVEL_DIGITS, LEVELS, MODULES, SCENARIOS, VARIANTS
from tetrarchia_app.cli.levels import DIGITS
from tetrarchia_env.errors import TetrarchiaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tetrarchia_app.web.house import House
    from tetrarchia_app.web.workers import Offer
    from tetrarchia_env.game import Game

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia serve",
    "tetrarchia serve --host 0.0.0.0 --port 8400 --no-open",
)

STATE = "Where rooms are kept, so that a server that is started again goes on with them"
MORE_AGENTS = "Offer these agents too, with commas, such as ppo:runs/mine/final"


def serve(
    host: Annotated[str, typer.Option(help="At which address; others than localhost are reached by unguessable links only")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free", min=0, max=65535)] = 8400,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser")] = True,
    agents: Annotated[str, typer.Option(help=MORE_AGENTS)] = "",
    state: Annotated[Path | None, typer.Option(help=STATE)] = None,
    keep: Annotated[float, typer.Option(help="Minutes that a finished game stays when nobody looks at it", min=0)] = 60.0,
    study: Annotated[Path | None, typer.Option(help="Keep the games of players who agree in this folder, for research")] = None,
) -> None:
    """Play in the browser: some Emperors yourself, others by friends with a link or by agents; or watch agents play."""
    server = web("server")
    place = server.bound(host, port)
    house = open_house(agents, state, study, keep)
    server.run(house, lobby_data(house), place, server.entrance_at(host), opens=open_)


def in_browser(game: "Game", agents: str | None, goal: Path | None) -> None:
    """One game in the browser, live: agents play on in it, the best if none are named, and any seat can be taken over.

    ValueError if a file is wanted too.
    """
    if goal is not None:
        raise TetrarchiaError(f"--render browser shows the game live: {goal} cannot be written, save the game on its page")
    from tempfile import TemporaryDirectory

    from tetrarchia_agents.registry import assign_players, split_names

    server, protocol = web("server"), web("protocol")
    names = split_names(agents) if agents else []
    with TemporaryDirectory() as folder:
        house = open_house(agents or "", Path(folder))
        room = house.make(game, protocol.Setup(emperors=assign_players(names or [house.stand_in(game.options)])))
        server.run(house, lobby_data(house), server.bound("127.0.0.1", 0), server.entrance_at("127.0.0.1"), first=f"/seat/{room.watch}")


def web(name: str) -> Any:
    """A module of the server; ValueError if the extra is not installed."""
    from importlib import import_module

    try:
        return import_module(f"tetrarchia_app.web.{name}")
    except ModuleNotFoundError as error:
        raise TetrarchiaError(f"serve needs the package {str(error.name).partition('.')[0]}: pip install 'tetrarchia[web]'") from None


def open_house(agents: str, state: Path | None, study: Path | None = None, keep: float = 60.0) -> "House":
    """The rooms of a server, with those of the last one in the same folder."""
    from functools import partial

    from tetrarchia_agents.compiling import compile_ahead
    from tetrarchia_env import __version__
    from tetrarchia_eval.study import append_game

    house, journal = web("house"), web("journal")
    offered = offers(agents)
    compile_ahead()
    kept = partial(append_game, study) if study else None
    services = house.Services(offered, keep=kept, version=__version__, **(_thinkers_here() if "ppo" in offered else {}))
    limits = house.Limits(finished=60 * keep, watched=60 * keep)
    return house.House(journal.Journal(state or state_folder()), services, limits)  # type: ignore[no-any-return]


def _thinkers_here() -> "dict[str, Callable[..., Any]]":
    """None if the network cannot say how likely a win is: people can play all the same."""
    import sys

    try:
        return thinkers("ppo")
    except ValueError as error:
        print(f"tetrarchia: there is no coach: {error}", file=sys.stderr)
        return {}


def thinkers(name: str) -> "dict[str, Callable[..., Any]]":
    """Who thinks aloud, by this agent's network: the coach of a game, and who judges a whole game afterwards."""
    from dataclasses import asdict
    from functools import partial

    from tetrarchia_agents.luck_adjusted import analyse
    from tetrarchia_agents.position_analysis import advise, make_critic

    critic = make_critic(name)
    return {
        "coach": lambda game: [asdict(advice) for advice in advise(critic, game)[0]],
        "analyse": partial(analyse, critic),
    }


def state_folder() -> Path:
    """As XDG says: $XDG_STATE_HOME, or .local/state at home."""
    import os

    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "tetrarchia" / "rooms"


def offers(more: str) -> "dict[str, Offer]":
    """The agents that can be made here, the best colleagues first; ValueError if one asked for cannot."""
    from tetrarchia_app.cli.arguments import listed

    found: dict[str, Offer] = {}
    for name in ("ppo", "ppo:candidates=8", "ppo:ppo-full", "planner", "greedy", "random"):
        try:
            found[name] = offer(name)
        except ValueError:
            continue  # without torch there are no networks
    return found | {name: offer(name) for name in listed(more)}


def offer(name: str) -> "Offer":
    """An agent as it is offered; ValueError if there is no such agent."""
    from functools import partial

    from tetrarchia_agents import AGENTS, make_agent
    from tetrarchia_env.constants import ACTIONS

    made = make_agent(name)
    base_only = getattr(made, "num_actions", ACTIONS) < ACTIONS
    agent_type = AGENTS.get(name.partition(":")[0])
    about = agent_type.help if agent_type else "your own agent"
    together = hasattr(made, "network") and not getattr(made, "candidates", 0)  # a search would let all others wait
    return web("workers").Offer(partial(make_agent, name), about, together, base_only)  # type: ignore[no-any-return]


def lobby_data(house: "House") -> dict[str, Any]:
    """What can be chosen, in words."""
    digits = [
        {"one": one, "many": many, "why": why, "values": values} for (one, many, why), values in zip(DIGITS, LEVEL_DIGITS, strict=True)
    ]
    offered = [{"name": name, "about": one.about, "baseOnly": one.base_only} for name, one in house.services.offered.items()]
    return {
        "digits": digits, "levels": LEVELS, "variants": VARIANTS, "modules": MODULES, "scenarios": SCENARIOS, "agents": offered,
        "coach": house.services.coach is not None, "study": house.services.keep is not None,
    }  # fmt: skip
