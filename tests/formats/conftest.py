"""A server of their own."""

from studies.conftest import server

__all__ = ["server"]
