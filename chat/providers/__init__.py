"""Where text goes: one file per kind of model service. A provider knows no rows.

base      Endpoint, Request, Delta, Usage, the error tree, the Provider contract
registry  finds a kind by its file
http      pooled clients, time limits, retries, bodies in lines
pace      reads an answer at intervals once it has begun
lines     cuts bytes into lines
failures  statuses, error objects and exceptions in words of the error tree
reading   from lines to Deltas
thinking  takes <think>…</think> out of an answer
openai    any OpenAI-compatible server
ollama    Ollama's own /api/chat
embeddings  texts into vectors, for any kind that speaks OpenAI's /embeddings
demo      the offline stand-in; its parts are demo_prompt, demo_answers, demo_papers, demo_memory,
          demo_knowledge, demo_notes, demo_review and demo_bank

Adding a kind is adding a file whose name is the kind and which holds a class as `PROVIDER`.
"""

from chat.providers.http import close_clients
from chat.providers.registry import known_kinds, list_models, provider, warm_up

__all__ = ["close_clients", "known_kinds", "list_models", "provider", "warm_up"]
