"""Measurements behind the documentation, in a checkout only.

- `python -m evidence PART`: games of one part, into docs/games
- `python -m evidence.worth`: the interval of the gain and the guard
- `python -m evidence.attack`: an attack on every certificate
- `python -m evidence.paper_constants`: the tables with the paper's own constants
- `python -m evidence.speed`: every claim about speed
- `python -m evidence.mutants`: single changes of the source, and the tests that notice

`make page` writes the tables of the pages from the CSVs.
"""
