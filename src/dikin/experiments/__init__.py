"""Parts of `dikin reproduce`: the runner, fits of slopes, and tables as text."""
