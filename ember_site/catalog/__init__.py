"""Suites and scenarios: a read-only mirror of suite directories."""
