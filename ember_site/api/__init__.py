"""The JSON API: parse, call, render; no models and no decisions."""
