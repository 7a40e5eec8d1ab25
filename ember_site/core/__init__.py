"""Error codes, clock, audit log and workers' signs of life, shared by all apps."""
