"""The command `serve`: play in the browser, alone or with others, with trained AI teammates."""

import os
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tetrarchia_app.cli.arguments import (
    LEVEL_DIGITS,
    LEVELS,
    MODULES,
    SCENARIOS,
    TASKS,
    VARIANTS,
    AllowFullInformation,
    LastSeen,
    MessageTokens,
    ViewRadius,
    split_list,
)
from tetrarchia_app.cli.levels import DIGITS
from tetrarchia_env.errors import TetrarchiaError

if TYPE_CHECKING:
    from tetrarchia_app.web.coach import Coach
    from tetrarchia_app.web.room_manager import RoomManager
    from tetrarchia_app.web.workers import AgentSpec
    from tetrarchia_env.game import Game
    from tetrarchia_env.local_view import LocalOptions

PANEL = "Play and watch"
EXAMPLES = (
    "tetrarchia serve",
    "tetrarchia serve --host 0.0.0.0 --port 8400 --no-open",
    "tetrarchia serve --view-radius 2 --last-seen",
)

HOST_HELP = "Address to listen on; on any address but localhost, pages are protected by an unguessable link"
STATE_HELP = "Folder in which rooms are kept; a restarted server continues them"
COACHES = ("ppo", "ppo:ppo-full")  # the first that knows the rules of a game advises and analyzes
DEFAULT_AGENTS = {  # the strongest first, with descriptions for the lobby
    "ppo": "trained network; plays at once",
    "ppo:candidates=8": "the same network, which also compares 8 candidate turns by simulation; stronger and slower",
    "ppo:ppo-full": "network trained with all variants, modules and scenarios",
    "planner": "searches each turn with hand-written evaluation, without a network",
    "greedy": "plays the action with the best immediate effect",
    "random": "plays any legal action",
}


def serve(
    host: Annotated[str, typer.Option(help=HOST_HELP)] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one", min=0, max=65535)] = 8400,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser")] = True,
    agents: Annotated[str, typer.Option(help="Additional agents to offer, comma-separated, e.g. ppo:runs/mine/final")] = "",
    state: Annotated[Path | None, typer.Option(help=STATE_HELP)] = None,
    keep: Annotated[float, typer.Option(help="Minutes that a finished game is kept after the last page was closed", min=0)] = 60.0,
    study: Annotated[Path | None, typer.Option(help="Folder in which games of consenting players are kept for research")] = None,
    view_radius: ViewRadius = None,
    last_seen: LastSeen = False,
    message_tokens: MessageTokens = 0,
    allow_full_information: AllowFullInformation = False,
) -> None:
    """Play in the browser: choose your Emperors, invite other players by link, and let agents play the rest; or watch agents play."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by torch later: its threads would compete with the server's thread for the cores
    server = import_web("server")
    from tetrarchia_env.local_view import LocalOptions

    local = LocalOptions(view_radius, last_seen, message_tokens)
    bound = server.bind_socket(host, port)
    manager = create_manager(agents, state, study, keep, local, allow_full_information)
    server.run(manager, lobby_data(manager), bound, server.AccessPolicy.for_host(host), open_browser=open_)


def in_browser(game: "Game", agents: str | None, output: Path | None, speed: float, allow_full_information: bool = False) -> None:
    """Show one game live in the browser.

    Args:
        game: The game, which may be in progress.
        agents: Names of the agents that continue it; the default agent if None.
        output: A file to write, which this mode cannot do.
        speed: Actions per second when the page plays.
        allow_full_information: Whether agents that need whole games may play with a view radius.

    Raises:
        TetrarchiaError: If `output` is given.
    """
    if output is not None:
        raise TetrarchiaError(f"--render browser cannot write {output}: save the game on its page instead")
    from tempfile import TemporaryDirectory

    from tetrarchia_agents.registry import assign_players, split_names

    server = import_web("server")
    with TemporaryDirectory() as folder:
        manager = create_manager(agents or "", Path(folder), local=game.local, allow_full_information=allow_full_information)
        names = split_names(agents) if agents else [manager.substitute_agent(game)]
        room = manager.create_room(game, assign_players(names))
        bound, policy = server.bind_socket("127.0.0.1", 0), server.AccessPolicy()
        server.run(manager, lobby_data(manager), bound, policy, path=f"/seat/{room.spectator_link}?pace={round(1000 / speed)}")


def import_web(name: str) -> Any:
    """Import a module of the server.

    Raises:
        TetrarchiaError: If a package of the extra `web` is not installed.
    """
    from tetrarchia_env.extras import import_optional

    return import_optional(f"tetrarchia_app.web.{name}", "web", "serve")


def create_manager(
    agents: str,
    state: Path | None,
    study: Path | None = None,
    keep: float = 60.0,
    local: "LocalOptions | None" = None,
    allow_full_information: bool = False,
) -> "RoomManager":
    """Return the rooms of a server, including those of the last server that used the same folder.

    Args:
        agents: Additional agents, separated by commas.
        state: Folder of the rooms; the user's state folder (XDG) if None.
        study: Folder in which games are kept for research.
        keep: Minutes that a finished game is kept.
        local: The information of players and agents in new rooms; full information if None.
        allow_full_information: Whether agents that need whole games may play in rooms with a view radius.
    """
    from tetrarchia_agents.compiling import compile_ahead
    from tetrarchia_env import __version__
    from tetrarchia_env.local_view import FULL_INFORMATION
    from tetrarchia_eval.study import append_game

    rooms, journal = import_web("room_manager"), import_web("journal")
    specs = agent_specs(agents)
    compile_ahead()
    keep_game = partial(append_game, study) if study else None
    coach = make_coach(*(name for name in COACHES if name in specs))
    services = rooms.Services(specs, coach, keep_game, __version__, local or FULL_INFORMATION, allow_full_information)
    limits = rooms.Limits(finished_s=60 * keep, agents_only_s=60 * keep)
    state_home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return rooms.RoomManager(journal.Journal(state or state_home / "tetrarchia" / "rooms"), services, limits)  # type: ignore[no-any-return]


def make_coach(*names: str) -> "Coach | None":
    """Return the coach of a server; None, with a message, if none of these agents has a calibrated network.

    Args:
        names: Agents with networks; the first that knows the rules of a game is used.
    """
    if not names:
        return None
    from tetrarchia_agents.position_analysis import make_critic

    critics = []
    for name in names:
        try:
            critics.append(make_critic(name))
        except TetrarchiaError as error:  # the network has no calibration; everything else works without it
            print(f"tetrarchia: no coach and no position analysis by {name}: {error}", file=sys.stderr)
    coach: Coach | None = import_web("coach").Coach(critics) if critics else None
    return coach


def agent_specs(additional: str) -> "dict[str, AgentSpec]":
    """Return the default agents that can be created here, the strongest first, and the additional ones.

    Raises:
        TetrarchiaError: If an additional agent cannot be created.
    """
    specs: dict[str, AgentSpec] = {}
    for name in DEFAULT_AGENTS:
        try:
            specs[name] = agent_spec(name)
        except TetrarchiaError:
            continue  # networks need torch
    return specs | {name: agent_spec(name) for name in split_list(additional)}


def agent_spec(name: str) -> "AgentSpec":
    """Return how the server creates and uses an agent.

    Raises:
        TetrarchiaError: If the agent cannot be created.
    """
    from tetrarchia_agents import AGENTS, make_agent
    from tetrarchia_env.agent import needs_games
    from tetrarchia_env.constants import ACTIONS

    agent = make_agent(name)
    base_only = getattr(agent, "num_actions", ACTIONS) < ACTIONS
    agent_type = AGENTS.get(name.partition(":")[0])
    description = DEFAULT_AGENTS.get(name) or (agent_type.help if agent_type else "your own agent")
    batched = hasattr(agent, "network") and not getattr(agent, "candidates", 0)  # a search in a batch would delay all its games
    kind = (needs_games(agent), getattr(agent, "local", None))
    return import_web("workers").AgentSpec(partial(make_agent, name), description, batched, base_only, *kind)  # type: ignore[no-any-return]


def lobby_data(manager: "RoomManager") -> dict[str, Any]:
    """Return what can be chosen in the lobby, with descriptions."""
    from tetrarchia_env.engine.actions import MAX_MESSAGE_TOKENS
    from tetrarchia_env.local_view import MAX_RADIUS
    from tetrarchia_env.options import Options

    choices = [("variants", VARIANTS), ("modules", MODULES)]
    needs_all_actions = [name for option, names in choices for name in names if Options.of(**{option: [name]}).needs_all_actions]
    needs_all_actions += [name for name in SCENARIOS if Options(scenario=name).needs_all_actions]
    digits = [
        {"one": one, "many": many, "why": why, "values": values} for (one, many, why), values in zip(DIGITS, LEVEL_DIGITS, strict=True)
    ]
    services = manager.services
    agents = [
        {
            "name": name, "about": spec.description, "base_only": spec.base_only,
            "needs_games": spec.needs_games, "local": None if spec.local is None else asdict(spec.local),
        }
        for name, spec in services.agents.items()
    ]  # fmt: skip
    return {
        "digits": digits, "levels": LEVELS, "variants": VARIANTS, "modules": MODULES, "scenarios": SCENARIOS, "tasks": TASKS,
        "agents": agents, "needs_all_actions": needs_all_actions,
        "local": asdict(services.local), "max_radius": MAX_RADIUS, "max_tokens": MAX_MESSAGE_TOKENS,
        "allow_full_information": services.allow_full_information,
        "coach": services.coach is not None, "study": services.keep_game is not None,
    }  # fmt: skip
