"""Benchmarks that nobody here wrote: `make outside` plays them and writes docs/outside.md.

One module for each part: `bbob`, `cats`, `pendulum`, `postgres`. Each knows its
problems and how one game is played; `games` plays what is not in a part's CSV yet, and `players`
has who plays.
"""
