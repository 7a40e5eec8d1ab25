"""Agents, submissions, run records and their verification by replay."""
