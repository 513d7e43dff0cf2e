"""The `tetrarchia` command, the terminal and browser interfaces, and the benchmarks: the top layer."""
