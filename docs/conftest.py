"""Which files of this folder are no tests: those that Sphinx runs, and parts of pages."""

collect_ignore = ["conf.py", "_ext", "auto", "gallery"]
# With marks in them that are not filled in yet; the pages that are made of them are tests.
collect_ignore_glob = ["*/template.md"]
