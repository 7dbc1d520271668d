"""The game: a learner against an environment, readable and fused."""
