"""Experiments: `reproduce` (the paper's tables), `rates` and `compare` (all learners).

Each is a plan of cells and words about the results. What they share is here: `cell` (games that are
kept together), `runner` and `store` (plays cells, resumes), `fit` (slopes with intervals), `tables`
(numbers and rows as text).
"""

from dikin import extras

extras.require("rich", "lab", "dikin.experiments")
