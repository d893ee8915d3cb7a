"""A teacher with forty entries and an embedder: `python -m tests.processes.meaning_world make URL|state`."""

import json
import sys

import django

django.setup()

from django.db import transaction  # noqa: E402

from chat.models import MemoryOp, SearchIndex, Tenant, VectorBlock, Work  # noqa: E402
from chat.search import vectors  # noqa: E402
from chat.search.index import present  # noqa: E402
from tests import builders  # noqa: E402

ENTRIES = 40


def make(url: str) -> None:
    user = builders.teacher(name="embedded")
    school = builders.school_of(user)
    agent = builders.agent(school)
    service = builders.provider(school, name="向量", kind="openai", base_url=url, is_local=True)
    Tenant.objects.update(embedder=service, embedding_model="bge-m3")
    with transaction.atomic():
        for number in range(ENTRIES):
            builders.recalled(builders.run(builders.thread(user, agent, title=f"会话{number}"), f"第{number}个问题", f"第{number}个回答"))


def state() -> dict[str, object]:
    index = SearchIndex.objects.get()
    items = [item for block in VectorBlock.objects.filter(index=index) for item in _places(block)]
    return {
        "present": sorted(present(index)),
        "made": sorted(vectors.made_numbers(index)),
        "items": sorted(items),
        "vectors": index.vectors,
        "left": Work.objects.count(),
        "running": MemoryOp.objects.filter(outcome="running").count(),
    }


def _places(block: VectorBlock) -> list[int]:
    items = vectors.np.frombuffer(bytes(block.packed), vectors.item_type(block.dimension))
    return (items["place"].astype(int) + block.block * vectors.SIZE).tolist()


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.stdout.write(json.dumps(state()))
