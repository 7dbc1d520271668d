"""Parts of `dikin reproduce`: cells of games, their runner, fits and tables.

`cell` has games that are kept together, `runner` and `store` play and resume them, `fit` has slopes
with intervals, and `tables` writes numbers and rows as text.
"""

from dikin import extras

extras.require("rich", "lab", "dikin.experiments")
