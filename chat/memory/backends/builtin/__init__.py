"""The built-in backend: core memory and recall, whose layers do the work.

manager     BuiltinManager
"""

from chat.memory.backends.builtin.manager import BuiltinManager

MANAGER_CLASS = BuiltinManager
