"""Management commands, in commands/.

corpus   what the commands that measure a filter on a file share
"""
