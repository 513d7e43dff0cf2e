"""The decorator of compiled agents, whose code depends on the rules and on this package."""

from pathlib import Path

from tetrarchia_env.engine._code_cache import CodeFolder
from tetrarchia_env.engine._jit import PACKAGE, jit_into, source_digest

SEARCH_CODE = CodeFolder(
    source_digest(PACKAGE, Path(__file__).parent), "the search, about 20 seconds", last="tetrarchia_agents.search.selection.plan_all"
)
jit = jit_into(SEARCH_CODE)
