"""The `tetrarchia` command: the only file that imports upwards, and only when a command runs."""

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tetrarchia_env.notation import Replay
    from tetrarchia_env.options import Options

app = typer.Typer(
    help="TETRARCHIA, the cooperative board game of four Emperors, for reinforcement-learning research.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Level = Annotated[
    str | None, typer.Option(help="Four digits: tokens per Emperor, fleets, extra Revolts, initial armies; 4211 if not given")
]
Variants = Annotated[str, typer.Option(help="With commas: imperivm,mare_nostrvm,diarchia,patres_patriae,the_great")]
Modules = Annotated[str, typer.Option(help="With commas: dux,pirates,goths")]
Scenario = Annotated[str | None, typer.Option(help="carausian_revolt, danube_wars, mauretanian_war or great_persian_war")]
Seed = Annotated[int, typer.Option(help="Fixes every die: the same seed and actions are the same game")]
Agents = Annotated[str, typer.Option(help="One agent for all Emperors, or four with commas in turn order: random")]


def main() -> None:
    """Run the command; a user's mistake is one sentence and exit code 2."""
    try:
        app()
    except ValueError as error:
        print(f"tetrarchia: {error}", file=sys.stderr)
        sys.exit(2)


@app.callback()
def tetrarchia() -> None:
    """Show the commands as a list even while there is only one."""


@app.command()
def watch(
    level: Level = None,
    variants: Variants = "",
    modules: Modules = "",
    scenario: Scenario = None,
    seed: Seed = 0,
    agents: Agents = "random",
    save: Annotated[Path | None, typer.Option(help="Keep the game as a replay file")] = None,
) -> None:
    """Watch agents play one game."""
    from tetrarchia_env.notation import save_replay

    game = _played(_options(level, variants, modules, scenario), seed, agents)
    _show(game)
    if save:
        save_replay(game, save)
        print(f"saved: {save}")


@app.command()
def replay(file: Annotated[Path, typer.Argument(help="A replay file, as `watch --save` writes it")]) -> None:
    """Play a replay file again, check every step, and show it."""
    from tetrarchia_env.notation import load_replay

    _show(load_replay(file))


@app.command()
def bench(
    out: Annotated[Path, typer.Option(help="Where to write the figures as JSON")] = Path("bench.json"),
    peers: Annotated[bool, typer.Option(help="Also measure PettingZoo's and OpenSpiel's games, where installed")] = False,
) -> None:
    """Measure the rules and each face of the environment, start-up and compile times. Takes about two minutes."""
    from eval.benchmark import measure, report
    from eval.peers import measure_peers, ratios
    from tetrarchia_env.files import write_whole

    rows = []
    for row in chain(measure(), measure_peers() if peers else ()):
        print(f"{row.what:55} {row.value:>15,.2f} {row.unit}", flush=True)
        rows.append(row)
    for row in list(ratios(rows)):
        print(f"{row.what:75} {row.value:>8,.1f} {row.unit}")
        rows.append(row)
    write_whole(out, report(rows))
    print(f"written: {out}")


def _options(level: str | None, variants: str, modules: str, scenario: str | None) -> "Options":
    from tetrarchia_env.options import Options

    return Options(level=level, variants=_names(variants), modules=_names(modules), scenario=scenario)


def _names(text: str) -> list[str]:
    return text.split(",") if text else []


def _played(options: "Options", seed: int, names: str) -> "Replay":
    """A game between these agents, to its end."""
    import numpy as np

    from agents import make_agents
    from tetrarchia_env import batch
    from tetrarchia_env.board import EMPERORS
    from tetrarchia_env.engine.turn import agent_to_act
    from tetrarchia_env.notation import record_replay

    games, masks = batch.new_games(options, seed)
    agents = make_agents(names, seed)
    actions = []
    while masks.any():
        actions.append(agents[EMPERORS[agent_to_act(games[0])]].act(games, masks[0]))
        batch.step(games, np.array(actions[-1:]), masks)
    return record_replay(options, seed, actions)


def _show(game: "Replay") -> None:
    """A line for each turn, then how it ended."""
    from tetrarchia_env.notation import play_replay, snapshot

    turn = -1
    for position, agent, text in play_replay(game):
        before = snapshot(position)
        if before["turn"] != turn:
            turn = before["turn"]
            print(f"\n{turn + 1:4} {before['emperor']}: ", end="")
        print(text if agent == before["emperor"] else f"({agent}: {text})", end="; ")
    final = game.final
    secured = sum(final["tokens"].get(name) in final["emperors"] for name in _borders())
    print(f"\n\n{final['outcome']} after {final['turn']} turns: {secured} of 6 borders secured, score {final['score']}")


def _borders() -> list[str]:
    from tetrarchia_env.board import BOARD

    return [BOARD.names[border] for border in BOARD.borders]
