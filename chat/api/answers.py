"""The one form of all JSON answers."""

from typing import Any

from django.http import JsonResponse

Json = dict[str, Any]


def json_answer(values: Json, status: int = 200, headers: dict[str, str] | None = None) -> JsonResponse:
    """Chinese stays readable, and half as long as it would be in ASCII."""
    return JsonResponse(values, status=status, headers=headers, json_dumps_params={"ensure_ascii": False})
