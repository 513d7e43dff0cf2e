"""Entry point of `python -m tetrarchia_train`, e.g. under `torchrun`."""

raise SystemExit("not wired yet: use `tetrarchia train`")
