"""Which files of this folder are no tests: those that Sphinx runs."""

collect_ignore = ["conf.py", "_ext", "auto", "gallery"]
