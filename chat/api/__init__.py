"""The JSON API (DESIGN §6): parses and answers, decides nothing.

urls            the paths
endpoint        one view per path: method, caller, language, errors
authentication  who calls: session or bearer token
body            the strict reading of a JSON body
query           limit, cursor and other values of the query string
answers         the one form of all JSON answers
errors          why a call is refused, and the handlers for what no view answers
words           what refusals and failures mean, in the caller's language
shapes          rows as JSON values
agents, threads, runs   the calls
stream          a run as Server-Sent Events
health          healthz and readyz
metrics         Prometheus
backend_metrics what of it is about memory backends
openapi         the description of all this (openapi.json)
"""
