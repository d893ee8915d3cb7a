"""Boots the program: settings, urls, asgi; postgres has the connections of its pool."""
