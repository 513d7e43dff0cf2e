"""`python -m tetrarchia_env` is the `tetrarchia` command."""

from tetrarchia_env.cli import main

main()
