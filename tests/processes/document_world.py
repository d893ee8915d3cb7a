"""Documents that wait to be read, and what has become of them: `python -m tests.processes.document_world make COUNT PAGES|state`."""

import hashlib
import json
import sys

import django

django.setup()

from chat.documents import extract  # noqa: E402
from chat.memory.knowledge.keep import add_document  # noqa: E402
from chat.memory.knowledge.passages import reindex  # noqa: E402
from chat.models import Document, Owner, SearchIndex, Work  # noqa: E402
from tests import builders, pdf_files  # noqa: E402


def make(count: int, pages: int) -> None:
    user = builders.teacher(name="reader")
    agent = builders.agent(builders.school_of(user))
    for number in range(count):
        data = pdf_files.long_pdf(pages + number)
        add_document(Owner(agent.tenant_id, user.pk), name=f"教材{number}.pdf", data=data, agent_ids=[agent.pk])


def digest(texts: list[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def state() -> dict[str, object]:
    """`as_read_alone`: whether each document has the passages that its file gives when it is read without trouble."""
    documents = list(Document.objects.order_by("created_at"))
    index = SearchIndex.objects.first()
    same = []
    for document in documents:
        stored = list(document.passages.order_by("position").values_list("text", flat=True))
        read = extract(document.name, bytes(document.file.content))
        same.append(digest(stored) == digest([piece.text for piece in read.pieces]) and document.passage_count == len(stored))
    passages = sum(document.passages.count() for document in documents)
    return {
        "states": [document.state for document in documents],
        "as_read_alone": same,
        "passages": passages,
        "records": index.records if index else 0,
        "left": Work.objects.filter(kind=Work.Kind.DOCUMENT).count(),
        "is_whole": index is not None and reindex(index.tenant_id, index.user_id),
    }


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.stdout.write(json.dumps(state()))
