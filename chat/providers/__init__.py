"""Where text goes: one file per kind of model service. A provider knows no rows.

base     Endpoint, Request, Delta, Usage, the error tree, the Provider contract
http     pooled clients, time limits, retries, lines of a streamed body
openai   any OpenAI-compatible server
ollama   Ollama's own /api/chat
demo     the offline stand-in

Adding a kind is adding a file whose name is the kind and which holds a class `PROVIDER`.
"""
