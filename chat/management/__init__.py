"""Management commands, in commands/."""
