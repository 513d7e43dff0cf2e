"""The command `verify`: play games of result files and protocol results again and compare."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tetrarchia_env.errors import TetrarchiaError
from tetrarchia_env.messages import printable

PANEL = "Measure and train"
EXAMPLES = (
    "tetrarchia verify results",
    "tetrarchia verify results/main/ppo.jsonl --all",
    "tetrarchia verify leaderboard",
)
FALSE_SHARES = (0.01, 0.05)  # for which the probability of detection is printed


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Result files and protocol results, or folders with such files", metavar="PATH")],
    games: Annotated[int, typer.Option(help="Games per level, drawn at random; fewer of slow agents and of sweeps")] = 20,
    every: Annotated[bool, typer.Option("--all", help="Play every game")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed that draws the games; default: random")] = None,
    update_fingerprints: Annotated[
        bool,
        typer.Option(
            "--update-fingerprints",
            help="Accept agents with another fingerprint, or another environment digest, if the games agree, and write it to the file",
        ),
    ] = False,
) -> None:
    """Verify that results reproduce: check digests and fingerprints, play some games again, and compare everything but time."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import numpy as np

    from tetrarchia_eval.console import show_progress
    from tetrarchia_eval.verify import detection_probability, plan_verification, verify_file
    from tetrarchia_eval.workers import AgentCache

    if games < 1:
        raise TetrarchiaError(f"games must be at least 1; got {games}")
    if seed is not None and seed < 0:
        raise TetrarchiaError(f"seed must be at least 0; got {seed}")
    planned, cache = plan_verification(paths, np.random.default_rng(seed), None if every else games), AgentCache()
    with show_progress(sum(len(one.indexes) for one in planned)) as progress_of:
        verdicts = [verify_file(one, cache, progress_of(str(one.path)), update_fingerprints) for one in planned]
    for verdict in verdicts:
        if verdict.difference:
            print(printable(verdict.difference))
    played, updated = sum(verdict.games for verdict in verdicts), sum(verdict.is_updated for verdict in verdicts)
    print(f"{played:,} games of {len(verdicts)} files played again; fingerprints updated in {updated} files")
    if different := sum(bool(verdict.difference) for verdict in verdicts):
        raise TetrarchiaError(f"verify: {different} of {len(verdicts)} files do not reproduce")
    for share in FALSE_SHARES:
        lowest = min(detection_probability(verdict.total, verdict.games, share) for verdict in verdicts)
        print(f"a file in which {share:.0%} of the games are false is detected with probability {lowest:.0%} or more")
