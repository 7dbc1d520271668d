"""The game: a learner against an environment, in plain Python or compiled."""
