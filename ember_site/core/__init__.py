"""Error codes, clock and middleware shared by all apps; no models."""
