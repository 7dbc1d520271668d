"""Parts of `dikin reproduce`: the runner, fits of slopes, and tables as text."""

from dikin import extras

extras.require("rich", "lab", "dikin.experiments")
