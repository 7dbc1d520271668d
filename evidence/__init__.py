"""Programs in a checkout that make the research pages of the documentation.

- `python -m evidence.compare`: every learner in every scenario
- `python -m evidence.rates`: the rate of every learner
- `python -m evidence.paper_constants`: the tables with the paper's own constants
"""
