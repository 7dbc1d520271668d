"""Named parameters in place of a set: what a person tunes."""
