"""Adversaries: environments that fix every loss before the game begins."""
