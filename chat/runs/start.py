"""Start: one hop that checks an order, stores thread and run, and prepares what the model is told."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a caller asks for. Empty `thread_id` makes a new thread; `key` makes a repeated order the same run."""

    user_id: int
    agent_id: str
    input: str
    thread_id: str = ""
    mode: str = ""
    key: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Started:
    """The run that answers an order. `is_new` is false when its key had been used before by the same order."""

    run_id: str
    thread_id: str
    is_new: bool
