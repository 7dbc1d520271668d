"""Pictures: figures by matplotlib, tables for notebooks.

`history` draws a tuner, and `publication` figures for print. They share `style` (colours, letters,
files). matplotlib is imported when something is drawn.
"""
