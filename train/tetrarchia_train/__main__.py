"""`python -m tetrarchia_train` is `tetrarchia train`."""

from tetrarchia_env.cli import run_module

if __name__ == "__main__":
    run_module("train")
