"""The decorator of compiled agents: they are made of the rules and of themselves."""

from pathlib import Path

from tetrarchia_env.engine._jit import PACKAGE, compiler

jit = compiler(PACKAGE, Path(__file__).parent)
