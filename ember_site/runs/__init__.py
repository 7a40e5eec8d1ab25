"""Agents, run records, their verification by replay, and replay data for the viewer."""
