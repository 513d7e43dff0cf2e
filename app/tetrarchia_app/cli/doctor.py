"""The command `doctor`: looks at all that a first hour needs, and says what is missing and how to get it."""

import os
import platform
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from tetrarchia_app.cli.game_policy import game_policy
from tetrarchia_app.cli.machine_code import told_of_cache
from tetrarchia_env import __version__
from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

if TYPE_CHECKING:
    from tetrarchia_env.render.frames import Frame

PANEL = "Help and diagnostics"
EXAMPLES = (
    "tetrarchia doctor",
    "tetrarchia doctor --compile",
)

CompileOnly = Annotated[bool, typer.Option("--compile", help="Only compile rules and search, so that no command waits for it")]
# By extra: what pip calls it, and what Python does.
PACKAGES: dict[str, dict[str, str]] = {
    "": {name: name for name in ("gymnasium", "msgspec", "numba", "numpy", "pettingzoo", "rich", "typer")},
    "train": {"pyyaml": "yaml", "sb3-contrib": "sb3_contrib", "stable-baselines3": "stable_baselines3"}
    | {name: name for name in ("safetensors", "tensorboard", "torch")},
    "render": {"av": "av", "pillow": "PIL", "pygame-ce": "pygame", "resvg-py": "resvg_py"},
    "plots": {"matplotlib": "matplotlib"},
    "ray": {"ray": "ray"},
    "web": {name: name for name in ("starlette", "uvicorn", "websockets")},
}


class Health(Enum):
    """How a thing is; its sign, the same for a terminal that knows only ASCII, and its colour."""

    FINE = ("✓", "ok", "green")
    MISSING = ("-", "--", "yellow")
    BROKEN = ("✗", "!!", "red")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, and what to do about it."""

    health: Health
    what: str
    told: str
    remedy: str = ""


def tried(what: str, deed: Callable[[], str], needs: Sequence[str] = (), remedy: str = "") -> Finding:
    """What the deed tells; missing if a module that it needs is not installed, broken if it fails."""
    lacking = [name for name in needs if find_spec(name) is None]
    if lacking:
        return Finding(Health.MISSING, what, "not installed" if len(needs) == 1 else f"needs {' and '.join(lacking)}", remedy)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Finding(Health.FINE, what, deed())
    except Exception as error:
        sentence = " ".join(str(error).split()) or "it fails"
        return Finding(Health.BROKEN, what, f"{type(error).__name__}: {sentence}", remedy)


def show(finding: Finding, console: Console) -> None:
    """Print a line of it."""
    sign, plain, colour = finding.health.value
    speaks = (console.encoding or "ascii").lower().startswith("utf")
    console.print(Text.assemble("  ", (sign if speaks else plain, colour), printable(f" {finding.what:20} {finding.told}")))


def show_remedies(findings: Sequence[Finding], console: Console) -> None:
    """Print each once."""
    for remedy in dict.fromkeys(one.remedy for one in findings if one.remedy and one.health is not Health.FINE):
        console.print(f"    to get it: {remedy}")


def doctor(compile_only: CompileOnly = False) -> None:
    """Look at versions, the compiler's cache, pictures and checkpoints, and play a game; say what is missing and how to get it.

    Exit code 1 if something that is installed does not work; what is optional may be missing.
    """
    if compile_only:
        _compile()
    else:
        _examine()


def _compile() -> None:
    """All that most commands need, so that none of them waits."""
    from tetrarchia_agents.compiling import compile_ahead

    compile_ahead(search=True)
    for finding in _compiler():
        show(finding, _console())


def _console() -> Console:
    return Console(highlight=False, markup=False, soft_wrap=True)


def _examine() -> None:
    """One chapter after the other."""
    console = _console()
    findings: list[Finding] = []
    for title, chapter in CHAPTERS.items():
        console.print(title, style="bold")  # before its findings: some take seconds
        begun = len(findings)
        for finding in chapter():
            show(finding, console)
            findings.append(finding)
        show_remedies(findings[begun:], console)
    console.print(_summary([finding.health for finding in findings]))
    if any(finding.health is Health.BROKEN for finding in findings):
        raise typer.Exit(1)


def _summary(found: list[Health]) -> str:
    broken, missing = found.count(Health.BROKEN), found.count(Health.MISSING)
    if broken:
        return f"Broken: {broken}. The lines above say what and why."
    return f"All that is installed works; missing, and optional: {missing}." if missing else "All is well."


def _versions() -> Iterator[Finding]:
    yield Finding(Health.FINE, "tetrarchia", __version__)
    yield Finding(Health.FINE, "python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield from _packages("")


def _packages(extra: str) -> Iterator[Finding]:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    for name, module in PACKAGES[extra].items():
        yield tried(name, partial(_version, name, module), (module,) if extra else (), get(extra))


def _version(name: str, module: str) -> str:
    """Of a package that really loads."""
    import_module(module)
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of an unknown version"


def get(extra: str) -> str:
    """How to get what is missing."""
    return f'pip install "tetrarchia[{extra}]"' if extra else "pip install --force-reinstall tetrarchia"


def _compiler() -> Iterator[Finding]:
    from tetrarchia_env import batch

    yield tried("rules", partial(told_of_cache, batch))
    from tetrarchia_agents.search import beam_search

    yield tried("search", partial(told_of_cache, beam_search))


def _game() -> Iterator[Finding]:
    yield tried("one game", _one_game)
    yield tried("PettingZoo", _first_pettingzoo_step)
    yield tried("Gymnasium", _first_gymnasium_step)


def _frames() -> "list[Frame]":
    """A game of random agents."""
    from tetrarchia_env.game import Game
    from tetrarchia_env.options import Options

    return list(Game.from_options(Options(), 1, game_policy("random")).frames())


def _one_game() -> str:
    from tetrarchia_app.terminal.printing import ending

    return ending(_frames()[-1].snapshot)


def _first_pettingzoo_step() -> str:
    from tetrarchia_env import tetrarchia_v0

    env = tetrarchia_v0.env()
    env.reset(seed=1)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    return "tetrarchia_v0.env() makes its first step"


def _first_gymnasium_step() -> str:
    import gymnasium

    env = gymnasium.make("Tetrarchia-v0")
    obs, _ = env.reset(seed=1)
    env.step(int(obs["action_mask"].argmax()))
    return 'gymnasium.make("Tetrarchia-v0") makes its first step'


def _pictures() -> Iterator[Finding]:
    yield from _packages("render")
    for what, (needs, deed) in PICTURES.items():
        yield tried(what, deed, needs, get("render"))


def _svg() -> str:
    from tetrarchia_env.render.svg import draw_svg

    return f"drawn, {len(draw_svg(_frames()[-1].snapshot)) // 1000} kB"


def _pixels() -> str:
    from tetrarchia_env.render.raster import draw_rgb

    height, width, _ = draw_rgb(_frames()[-1].snapshot, width=300).shape
    return f"drawn, {width} x {height}"


def _window() -> str:
    from tetrarchia_env.render.window import check_display

    if not hasattr(import_module("pygame"), "Window"):
        raise TetrarchiaError("this is pygame, and not pygame-ce: pip uninstall pygame first")
    try:
        check_display()
    except ValueError:
        return "pygame-ce is ready, but this machine has no display"
    return "pygame-ce and a display are ready"


def _film(name: str) -> Callable[[], str]:
    def shoot() -> str:
        from tetrarchia_env.render.film import save_film

        with tempfile.TemporaryDirectory() as folder:
            save_film(_frames()[:2], Path(folder, name))
            return f"shot, {Path(folder, name).stat().st_size // 1000} kB"

    return shoot


PICTURES: dict[str, tuple[tuple[str, ...], Callable[[], str]]] = {
    "svg": ((), _svg),
    "pixels": (("resvg_py", "PIL"), _pixels),
    "window": (("resvg_py", "PIL", "pygame"), _window),
    "film.gif": (("resvg_py", "PIL"), _film("film.gif")),
    "film.mp4": (("resvg_py", "PIL", "av"), _film("film.mp4")),
}


def _checkpoints() -> Iterator[Finding]:
    from tetrarchia_agents.cards import shipped_checkpoints

    names = shipped_checkpoints()
    if not names:
        yield Finding(Health.MISSING, "none", "no checkpoint came with this installation", "tetrarchia train --name mine makes one")
    for name in names:
        yield tried(name, partial(_fitting, name))


def _fitting(name: str) -> str:
    """What its card says; with torch, also that the weights load."""
    from tetrarchia_agents.cards import find_checkpoint, layout_digest, read_card

    card = read_card(find_checkpoint(name))
    if card.get("layout") != layout_digest():
        raise TetrarchiaError(f"made for another observation layout (environment {card.get('environment')})")
    told = f"fits the observation, made with environment {card['environment']}"
    if not (find_spec("torch") and find_spec("safetensors")):
        return told
    from tetrarchia_agents.checkpoints import load_checkpoint

    weights = load_checkpoint(name).network.parameters()
    return f"{told}, {sum(weight.numel() for weight in weights):,} weights"


CHAPTERS: dict[str, Callable[[], Iterator[Finding]]] = {
    "Versions": _versions,
    "Compiled code": _compiler,
    "The game (what is not compiled yet is compiled now)": _game,
    "Pictures": _pictures,
    "Plots": partial(_packages, "plots"),
    "Several machines": partial(_packages, "ray"),
    "Playing in the browser": partial(_packages, "web"),
    "Training (torch takes seconds to load)": partial(_packages, "train"),
    "Checkpoints": _checkpoints,
}
