"""Commands in processes that have everything imported already: one process loads it all once, and forks for each command.

Each command is the first process of a session of its own, with its output in files: it can be killed at any moment, and what it leaves
behind is found.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Command:
    """One that was begun."""

    zygote: "Zygote"
    pid: int
    output: Path

    def let_run(self, seconds: float) -> None:
        """Wait so long, or until it ends."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.zygote.ask(peek=self.pid)["ended"]:
            time.sleep(min(left, 0.2))

    def wait(self) -> int:
        """Its exit code, or less than 0: the signal that ended it."""
        return int(self.zygote.ask(wait=self.pid)["code"])

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def has_left_processes(self, patience: float = 20.0) -> bool:
        """Whether others of its session are still there after so many seconds."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.05)
        return True


class Zygote:
    """The process that forks; a context manager."""

    def __enter__(self) -> "Zygote":
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.ask()
        return self

    def __exit__(self, *_: object) -> None:
        with self.process as process:  # closes the pipes and waits
            assert process.stdin is not None
            process.stdin.close()

    def ask(self, **question: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def begin(self, arguments: list[str], folder: Path, largest_file: int | None = None) -> Command:
        """The command `tetrarchia` with these arguments, in this folder; maybe no file may be larger than so many bytes."""
        output = folder.with_name(f"{folder.name}.out")
        output.write_bytes(b"")  # there is one, however soon it is killed
        answer = self.ask(arguments=arguments, folder=str(folder), output=str(output), largest_file=largest_file)
        return Command(self, answer["pid"], output)

    def run(self, arguments: list[str], folder: Path) -> tuple[int, str]:
        command = self.begin(arguments, folder)
        return command.wait(), command.text()


def _answer(question: dict[str, Any]) -> dict[str, int]:
    if "peek" in question:
        return {"ended": os.waitid(os.P_PID, question["peek"], os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None}
    if "wait" in question:
        return {"code": os.waitstatus_to_exitcode(os.waitpid(question["wait"], 0)[1])}
    if "arguments" in question:
        return {"pid": os.fork() or _work(question)}
    return {}


def _work(question: dict[str, Any]) -> int:
    """The command, in the child."""
    import resource

    from tetrarchia_app.cli import main

    os.setsid()
    output = os.open(question["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, output, output)):
        os.dup2(file, number)
    os.chdir(question["folder"])
    if question["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (question["largest_file"], resource.RLIM_INFINITY))
    main(question["arguments"])
    raise AssertionError("main leaves by itself")


def _serve() -> None:
    import stable_baselines3.common.logger  # noqa: F401
    import tensorboard  # noqa: F401

    import tetrarchia_eval.report  # noqa: F401
    import tetrarchia_train.run  # noqa: F401
    from tetrarchia_agents import make_agent

    make_agent("greedy")
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
