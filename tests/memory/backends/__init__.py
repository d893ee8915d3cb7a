"""Memory backends."""
