"""The notes as files: saving one, and replacing one by a file."""

import asyncio
from collections.abc import AsyncIterator
from io import SEEK_END
from typing import BinaryIO, cast

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from chat.memory.notes import store
from chat.memory.notes.base import Author, Result
from chat.memory.notes.entries import decode
from chat.memory.notes.storage import NAMES, READ_MOST_BYTES
from chat.middleware import PageRequest
from chat.models import NoteOp
from chat.views.notes import Asked, accepted, answer
from chat.views.notes_context import place_of

BYTES_MOST = 64 * 1024  # ten times what the largest store holds, in four bytes a character
CHUNK_BYTES = 256 * 1024


class _Chunks:
    """A file piece by piece: of one that is not read asynchronously the server would take the whole into memory first."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self._file.read, CHUNK_BYTES):
            yield chunk

    def close(self) -> None:
        self._file.close()


@require_GET
@login_required
def download(request: HttpRequest) -> HttpResponseBase:
    """The file as it stands, or with `?backup=` one that was put aside, byte for byte, only ever to be saved."""
    place, _agent = place_of(cast(PageRequest, request), request.GET)
    backup = request.GET.get("backup", "").replace("\0", "")
    file = store.open_file(place, backup)
    if file is None:
        raise Http404
    content = file.read(READ_MOST_BYTES + 1)
    response: HttpResponseBase
    if len(content) > READ_MOST_BYTES:
        size = file.seek(0, SEEK_END)
        file.seek(0)
        response = StreamingHttpResponse(_Chunks(file), headers={"Content-Length": str(size)})
    else:
        file.close()
        response = HttpResponse(content)
    response.headers["Content-Type"] = "text/markdown; charset=utf-8"
    response.headers["Content-Disposition"] = f'attachment; filename="{backup or NAMES[place.target]}"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@require_POST
@login_required
@vary_on_headers("HX-Request")
def upload(request: HttpRequest) -> HttpResponse:
    """Replaces a store by the text of a file. The text that was being edited is kept when the file is refused."""
    page = cast(PageRequest, request)
    place, agent = place_of(page, request.POST)
    file = request.FILES.get("file")
    if file is None:
        return answer(page, Asked("upload", place, agent), Result({}, code="no_file"))
    content = file.read(BYTES_MOST + 1)
    if len(content) > BYTES_MOST:
        return answer(page, Asked("upload", place, agent), Result({}, code="file_too_large"))
    try:
        text = decode(content)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return answer(page, Asked("upload", place, agent), Result({"line": line}, code="not_text"))
    result = store.save_text(place, text, request.POST.get("digest", ""), Author(NoteOp.Origin.UPLOAD), accepted=accepted(page))
    return answer(page, Asked("upload", place, agent, text), result)
