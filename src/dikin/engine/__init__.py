"""Runs of a learner in an environment, in plain Python or compiled."""
