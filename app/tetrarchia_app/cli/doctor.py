"""The command `doctor`."""

import os
import platform
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from tetrarchia_app.cli.arguments import game_policy
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.extras import extra_requirements, install_command
from tetrarchia_env.messages import printable

if TYPE_CHECKING:
    from tetrarchia_env.game import Game

PANEL = "Help and diagnostics"
EXAMPLES = ("tetrarchia doctor", "tetrarchia doctor --compile")

Status = Literal["ok", "missing", "broken"]
SYMBOLS: dict[Status, tuple[str, str, str]] = {  # in UTF-8, in ASCII, color
    "ok": ("✓", "ok", "green"),
    "missing": ("-", "--", "yellow"),
    "broken": ("✗", "!!", "red"),
}
REQUIRED = ("gymnasium", "msgspec", "numba", "numpy", "pettingzoo", "rich", "typer")
EXTRAS = {  # with the title of their section
    "plots": "Plots",
    "ray": "Evaluation on several machines",
    "web": "Playing in the browser",
    "train": "Training (importing torch takes seconds)",
}
# Modules whose name is not that of the package with underscores.
MODULE_NAMES = {"pillow": "PIL", "pygame-ce": "pygame", "pyyaml": "yaml"}


class Report:
    """Checks and prints one thing after the other, and counts what is missing or broken."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, markup=False, soft_wrap=True)
        self.counts: dict[Status, int] = dict.fromkeys(SYMBOLS, 0)

    def section(self, title: str) -> None:
        """Print a heading before its checks, some of which take seconds."""
        self.console.print(title, style="bold")

    def add(self, status: Status, name: str, text: str) -> None:
        """Print a result."""
        self.counts[status] += 1
        symbol, ascii_symbol, color = SYMBOLS[status]
        has_unicode = (self.console.encoding or "ascii").lower().startswith("utf")
        self.console.print(Text.assemble("  ", (symbol if has_unicode else ascii_symbol, color), printable(f" {name:20} {text}")))

    def check(self, name: str, test: Callable[[], str], modules: tuple[str, ...] = ()) -> None:
        """Run a test and print the text that it returns; it fails if it raises an exception, and is skipped if a module is missing."""
        missing = [module for module in modules if find_spec(module) is None]
        if missing:
            self.add("missing", name, "not installed" if len(modules) == 1 else f"needs {' and '.join(missing)}")
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = test()
        except Exception as error:
            self.add("broken", name, f"{type(error).__name__}: {' '.join(str(error).split()) or 'no message'}")
        else:
            self.add("ok", name, text)

    def check_extra(self, extra: str) -> None:
        """Check the packages of an extra, and print how to install those that are missing."""
        missing = self.counts["missing"]
        for package in extra_requirements(extra):
            module = MODULE_NAMES.get(package, package.replace("-", "_"))
            self.check(package, partial(version_of, package, module), (module,))
        if self.counts["missing"] > missing:
            self.console.print(f"    to install: {install_command(extra)}")


def doctor(
    compile_only: Annotated[
        bool, typer.Option("--compile", help="Only compile the rules and the search, so that no later command has to")
    ] = False,
) -> None:
    """Check the installation: versions, compiled code, a game, rendering, optional packages and checkpoints.

    The exit code is 1 if something that is installed does not work; optional packages may be missing.
    """
    from tetrarchia_agents.cards import shipped_checkpoints
    from tetrarchia_agents.compiling import cache_status, compile_ahead
    from tetrarchia_app.terminal.printing import ending

    report = Report()
    if compile_only:
        compile_ahead(search=True)
    else:
        report.section("Versions")
        report.add("ok", "tetrarchia", __version__)
        report.add("ok", "python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
        for package in REQUIRED:
            report.check(package, partial(version_of, package, package))
        report.section("Compiled code")
    report.check("rules", lambda: cache_status()["rules"])
    report.check("search", lambda: cache_status()["search"])
    if compile_only:
        return

    report.section("The game (compiles what is not compiled yet)")
    report.check("one game", lambda: ending(random_game().snapshot()))
    report.check("environments", step_environments)
    report.section("Rendering")
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    report.check_extra("render")
    report.check("window", check_window, ("resvg_py", "PIL", "pygame"))
    report.check("video.gif", lambda: write_video("video.gif"), ("resvg_py", "PIL"))
    report.check("video.mp4", lambda: write_video("video.mp4"), ("resvg_py", "PIL", "av"))
    for extra, title in EXTRAS.items():
        report.section(title)
        report.check_extra(extra)
    report.section("Checkpoints")
    for name in shipped_checkpoints():
        report.check(name, partial(check_checkpoint, name))

    if report.counts["broken"]:
        report.console.print(f"Broken: {report.counts['broken']}, see above.")
        raise typer.Exit(1)
    optional = f"; optional and missing: {report.counts['missing']}" if report.counts["missing"] else ""
    report.console.print(f"Everything installed works{optional}.")


def version_of(package: str, module: str) -> str:
    """Import a module and return the version of its package."""
    import_module(module)
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown version"


def random_game() -> "Game":
    """Return a finished game of random agents."""
    from tetrarchia_env.game import Game

    game = Game(seed=1)
    game.policy = game_policy("random")
    game.play_to_end()
    return game


def step_environments() -> str:
    """Make one step in the PettingZoo and the Gymnasium environment."""
    import gymnasium

    from tetrarchia_env import tetrarchia_v0

    aec = tetrarchia_v0.env()
    aec.reset(seed=1)
    aec.step(int(aec.last()[0]["action_mask"].argmax()))
    env = gymnasium.make("Tetrarchia-v0")
    obs, _ = env.reset(seed=1)
    env.step(int(obs["action_mask"].argmax()))
    return 'tetrarchia_v0.env() and gymnasium.make("Tetrarchia-v0")'


def check_window() -> str:
    """Check pygame-ce and the display."""
    from tetrarchia_env.render.window import check_display

    if not hasattr(import_module("pygame"), "Window"):
        raise TetrarchiaError("pygame is installed instead of pygame-ce: pip uninstall pygame, then install pygame-ce again")
    try:
        check_display()
    except TetrarchiaError:
        return "pygame-ce works, but this machine has no display"
    return "pygame-ce and a display are available"


def write_video(name: str) -> str:
    """Write a video of two frames."""
    from tetrarchia_env.render.video import save_video

    game = random_game()
    with tempfile.TemporaryDirectory() as folder:
        save_video([game.frame(0), game.frame(1)], Path(folder, name))
        return f"{Path(folder, name).stat().st_size // 1000} kB"


def check_checkpoint(name: str) -> str:
    """Check the observation layout of a checkpoint; with torch, also load its weights."""
    from tetrarchia_agents.cards import find_checkpoint, read_card
    from tetrarchia_env.digest import layout_digest

    card = read_card(find_checkpoint(name))
    if card.get("layout") != layout_digest():
        raise TetrarchiaError(f"trained with another observation layout (environment {card.get('environment')})")
    text = f"fits the observation, trained with environment {card['environment']}"
    if not (find_spec("torch") and find_spec("safetensors")):
        return text
    from tetrarchia_agents.checkpoints import load_checkpoint

    weights = load_checkpoint(name).network.parameters()
    return f"{text}, {sum(weight.numel() for weight in weights):,} weights"
