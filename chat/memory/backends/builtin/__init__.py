"""The built-in backend: core memory and recall, whose layers write and read by themselves.

manager     BuiltinManager: the verbs, async as those of any backend
records     what it keeps of a scope in the database: found, told, erased
"""

from chat.memory.backends.builtin.manager import BuiltinManager

MANAGER_CLASS = BuiltinManager
