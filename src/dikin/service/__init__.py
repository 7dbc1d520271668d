"""Studies over HTTP: `dikin serve`, with a page to watch them."""
