"""HTML pages: parse, call, render; no models and no decisions."""
