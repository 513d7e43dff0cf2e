"""The rules of docs/rules.md, compiled: read `state.py`, then `turn.py`, then the module of a rule.

Functions here read and change only the game record (or the set of spaces) that they receive: no files, no global random
state, no reinforcement-learning library. `tetrarchia_env.batch` is the Python interface.
"""
