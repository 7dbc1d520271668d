"""Tuning of named parameters."""
