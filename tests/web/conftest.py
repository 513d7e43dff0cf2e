"""Torch with one thread: the tests' machine has few cores, and browsers beside it."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
