"""Boots the program: settings, urls, asgi."""
