"""Live episodes: action log, hub, websocket, human play."""
