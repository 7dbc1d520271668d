"""`python -m dikin` is `dikin`."""

from dikin.cli import main

main(prog_name="dikin")
