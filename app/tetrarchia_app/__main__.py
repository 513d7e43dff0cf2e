"""`python -m tetrarchia_app` is the `tetrarchia` command."""

from tetrarchia_app.cli import run_module

if __name__ == "__main__":
    run_module()
