"""The paths of the API (DESIGN §6)."""

from django.urls import URLPattern, path, re_path

from chat.api.agents import list_agents
from chat.api.endpoint import endpoint, open_endpoint
from chat.api.errors import unknown_path
from chat.api.health import healthz, readyz
from chat.api.metrics import metrics
from chat.api.openapi import openapi
from chat.api.runs import run, run_stream, stop_run
from chat.api.threads import end_thread, list_runs, list_threads, move_thread, show_thread
from chat.models import Thread

urlpatterns: list[URLPattern] = [
    path("agents", endpoint(GET=list_agents), name="api-agents"),
    path("agents/<slug:agent_id>/run", endpoint(POST=run), name="api-run"),
    path("agents/<slug:agent_id>/run/stream", endpoint(POST=run_stream), name="api-run-stream"),
    path("agents/<slug:agent_id>/threads", endpoint(GET=list_threads), name="api-threads"),
    path("threads/<slug:thread_id>", endpoint(GET=show_thread, DELETE=end_thread), name="api-thread"),
    path("threads/<slug:thread_id>/runs", endpoint(GET=list_runs), name="api-thread-runs"),
    path("threads/<slug:thread_id>/archive", endpoint(POST=move_thread(Thread.Status.ARCHIVED)), name="api-thread-archive"),
    path("threads/<slug:thread_id>/unarchive", endpoint(POST=move_thread(Thread.Status.ACTIVE)), name="api-thread-unarchive"),
    path("runs/<slug:run_id>/stop", endpoint(POST=stop_run), name="api-run-stop"),
    path("healthz", open_endpoint(healthz), name="api-healthz"),
    path("readyz", open_endpoint(readyz), name="api-readyz"),
    path("metrics", open_endpoint(metrics), name="api-metrics"),
    path("openapi.json", open_endpoint(openapi), name="api-openapi"),
    # Below these names nothing is a page: what does not exist answers as JSON too.
    re_path(r"^(?:agents|threads|runs)(?:/(?P<rest>.*))?$", unknown_path, name="api-unknown"),
]
