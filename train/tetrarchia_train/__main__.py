"""`python -m tetrarchia_train` is `tetrarchia train`."""

import sys

from tetrarchia_env.cli import main

if __name__ == "__main__":
    main(["train", *sys.argv[1:]])
