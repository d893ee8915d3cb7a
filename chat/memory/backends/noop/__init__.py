"""The backend that remembers nothing.

manager     NoopManager
"""

from chat.memory.backends.noop.manager import NoopManager

MANAGER_CLASS = NoopManager
