"""Tune a price by name
====================

placeholder
"""

from dikin.experiments.drawing import COLOURS, pyplot

figure, axes = pyplot().subplots(figsize=(6.4, 4.0))
axes.plot([1, 2], [3, 1], color=COLOURS[0])
