"""Watching and playing a game in the terminal."""
