"""Tests of chat.search."""
