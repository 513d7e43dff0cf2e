"""The rules of docs/rules.md, compiled: read `state.py`, then `turn.py`, then any chapter.

Everything here takes a game record (or a board of bits) and changes nothing else: no files, no global dice, no
library of the reinforcement-learning world. `tetrarchia_env.batch` is the Python interface.
"""
