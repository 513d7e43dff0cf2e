"""`python -m tetrarchia_env` is the `tetrarchia` command."""

from tetrarchia_env.cli import run_module

if __name__ == "__main__":
    run_module()
