"""Algorithms: learners that are asked for a point and told one number about it."""
