"""Files of this folder that are no tests: those that Sphinx runs, and pages that it writes."""

collect_ignore = ["conf.py", "_ext", "auto"]
