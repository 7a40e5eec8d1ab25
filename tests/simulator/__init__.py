"""Tests of the pure simulator library: nothing here needs Django."""
