"""Pictures: figures by matplotlib, tables for notebooks, curves in a terminal.

`history` draws a tuner, `learner` a learner, `experiments` the figures of pages. They share
`style` (colours, letters, files), `axes` and `curves` (the numbers behind the lines). matplotlib is
imported when something is drawn.
"""
