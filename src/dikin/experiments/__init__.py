"""The paper: both of its tables measured, with figures and a report."""
