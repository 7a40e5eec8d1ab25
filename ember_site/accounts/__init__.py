"""Users, profiles and API tokens."""
