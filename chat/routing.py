"""Addresses of sockets."""

from django.urls import path, re_path

from chat.consumers import PageConsumer

websocket_urlpatterns = [
    re_path(r"^ws/threads/(?P<thread_id>[a-z0-9_]{1,40})/$", PageConsumer.as_asgi()),
    path("ws/", PageConsumer.as_asgi()),
]
