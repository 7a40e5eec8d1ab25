"""Evaluations, slots and the ranking."""
