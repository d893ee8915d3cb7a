#!/usr/bin/env python
"""Runs Django's management commands for this app."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
    execute_from_command_line(sys.argv)
