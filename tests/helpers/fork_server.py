"""Commands run by a fork server: one process imports everything once and forks for each command.

Each command leads its own session and writes its output to a file: it can be killed at any moment, and processes it leaves are found.
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
    """A started command."""

    server: "ForkServer"
    pid: int
    output: Path

    def let_run(self, seconds: float) -> None:
        """Wait this long, or until the command ends."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.server.request(peek=self.pid)["ended"]:
            time.sleep(min(left, 0.2))

    def wait(self) -> int:
        """Return the exit code, or the negative number of the signal that ended the command."""
        return int(self.server.request(wait=self.pid)["code"])

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def has_left_processes(self, timeout_s: float = 20.0) -> bool:
        """Return whether processes of its session still exist after the timeout."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.05)
        return True


class ForkServer:
    """The process that forks, as a context manager."""

    def __enter__(self) -> "ForkServer":
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.request()  # wait until everything is imported
        return self

    def __exit__(self, *_: object) -> None:
        with self.process as process:  # closes the pipes and waits
            assert process.stdin is not None
            process.stdin.close()

    def request(self, **fields: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(fields) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def start(self, arguments: list[str], folder: Path, max_file_bytes: int | None = None) -> Command:
        """Start `tetrarchia` with these arguments in this folder, optionally with a limit on the size of written files."""
        output = folder.with_name(f"{folder.name}.out")
        output.write_bytes(b"")  # exists even if the command is killed at once
        answer = self.request(arguments=arguments, folder=str(folder), output=str(output), max_file_bytes=max_file_bytes)
        return Command(self, answer["pid"], output)

    def run(self, arguments: list[str], folder: Path) -> tuple[int, str]:
        command = self.start(arguments, folder)
        return command.wait(), command.text()


def _handle(request: dict[str, Any]) -> dict[str, int]:
    if "peek" in request:
        return {"ended": os.waitid(os.P_PID, request["peek"], os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None}
    if "wait" in request:
        return {"code": os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])}
    if "arguments" in request:
        return {"pid": os.fork() or _run_command(request)}
    return {}


def _run_command(request: dict[str, Any]) -> int:
    """Run the command in the child process."""
    import resource

    from tetrarchia_app.cli import main

    os.setsid()
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    devnull = os.open(os.devnull, os.O_RDONLY)
    for descriptor, file in enumerate((devnull, output, output)):
        os.dup2(file, descriptor)
    os.chdir(request["folder"])
    if request["max_file_bytes"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["max_file_bytes"], resource.RLIM_INFINITY))
    main(request["arguments"])
    raise AssertionError("main did not exit")


def _serve() -> None:
    import stable_baselines3.common.logger  # noqa: F401
    import tensorboard  # noqa: F401

    import tetrarchia_eval.report  # noqa: F401
    import tetrarchia_train.run  # noqa: F401
    from tetrarchia_agents import make_agent

    make_agent("greedy")
    for line in sys.stdin:
        print(json.dumps(_handle(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
