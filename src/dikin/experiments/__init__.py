"""Parts of `dikin reproduce`: the runner of games, fits of slopes, and tables as text."""
