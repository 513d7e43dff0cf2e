"""Benchmarks of `tetrarchia bench`: the engine, every environment API, other environments and the web server."""
