"""Asks the product's own index the questions of a folder of retrieval data, in a database of its own.

    python -m tests.bench.retrieval --data ../shared/bench/retrieval/data --out results.jsonl
    python ../shared/bench/retrieval/score.py results.jsonl --data ../shared/bench/retrieval/data

Families of paragraphs (`kb-…`) are asked as knowledge, with a paragraph's title as its document; the others as recall.
`--embeddings URL` adds search by meaning: an OpenAI-compatible service with `/embeddings`, of which `--vectors FILE` keeps the
answers. DATABASE_URL chooses the database (default: SQLite in a temporary folder). `--features FILE` also writes what the gate
looked at, to fit its weights with.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # so that it can be started as a file, too
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryapp.settings")
os.environ.setdefault("DATA_DIR", tempfile.mkdtemp(prefix="retrieval-"))
os.environ.setdefault("SECRET_KEY", "only-for-measuring")

import django

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction

from chat.models import Provider, SearchIndex, Tenant
from chat.search import vectors
from chat.search.index import indexes_of, record_of, writing
from chat.search.query import Question, scores, search
from chat.search.score import Cosines
from chat.search.vectors import Vector
from tests.bench.meaning import MODEL, Meanings, pieces

QUESTION_CHARS = 600  # of a question is embedded
ADDED_AT_ONCE = 200


def corpora(folder: Path, families: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(folder.glob("*.jsonl*")):
        family = path.name.split(".")[0]
        if families and family not in families:
            continue
        packed = path.read_bytes()
        text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode()
        yield from ((family, json.loads(line)) for line in text.split("\n") if line.strip())


def day_of(at: str | None) -> date | None:
    return date.fromisoformat(at[:10]) if at else None


class Owner:
    """Somebody of whom the index knows the records of one corpus."""

    def __init__(self, provider: Provider, meanings: Meanings | None, family: str, corpus: dict[str, Any]) -> None:
        self.provider, self.meanings = provider, meanings
        user = User.objects.create(username=f"{os.getpid()}-{User.objects.count()}")
        self.is_text = family.startswith("kb-")
        kind = SearchIndex.Kind.KNOWLEDGE if self.is_text else SearchIndex.Kind.RECALL
        self.key = (provider.tenant_id, user.pk, kind)
        self.docs = corpus["docs"]
        self.ids: dict[int, str] = {}

    def know(self, count: int) -> None:
        """Adds records, in the order of time, until there are so many."""
        while len(self.ids) < count:
            some = self.docs[len(self.ids) : min(count, len(self.ids) + ADDED_AT_ONCE)]
            added: dict[int, dict[str, Any]] = {}
            with transaction.atomic(), writing(*self.key) as writer:
                for doc in some:
                    group = str(doc.get("title" if self.is_text else "thread") or "")
                    number = writer.add(record_of(doc["text"], group, day_of(doc.get("at"))))
                    self.ids[number], added[number] = doc["id"], doc
            if self.meanings:
                self._embed(self.meanings, added)

    def _embed(self, meanings: Meanings, added: dict[int, dict[str, Any]]) -> None:
        found = {number: list(meanings.of(pieces(doc), "passage")) for number, doc in added.items()}
        indexes_of(*self.key).update(embedder=self.provider, embedding_model=MODEL)
        with transaction.atomic():
            vectors.put(indexes_of(*self.key).get(), found, len(next(iter(found.values()))[0]))

    def near(self, query: dict[str, Any]) -> Cosines | None:
        if self.meanings is None:
            return None
        values = self.meanings.of([query["text"][:QUESTION_CHARS]], "query")[0]
        return vectors.cosines(*self.key, Vector(self.provider.pk, MODEL, values))

    def ask(self, query: dict[str, Any]) -> list[list[Any]]:
        hits = search(*self.key, self.question(query), cosines=self.near(query))
        return [[self.ids[hit.number], hit.score] for hit in hits[:20]]

    def question(self, query: dict[str, Any]) -> Question:
        return Question(query["text"], day_of(query.get("at")), query.get("context", []))

    def looked_at(self, query: dict[str, Any]) -> list[list[Any]]:
        scored, _ = scores(indexes_of(*self.key).get(), self.question(query), self.near(query))
        rows = zip(scored.numbers, scored.features, strict=True)
        return [[self.ids[int(number)], [round(float(one), 5) for one in found]] for number, found in list(rows)[:10]]


def asked(corpus: dict[str, Any]) -> Iterator[tuple[int, dict[str, int], dict[str, Any]]]:
    """The questions in the order of the history in which they are asked: how many records there are, which one it is, its parts."""
    everything = len(corpus["docs"])
    queries = [(query.get("upto") or everything, {"query_index": i}, query) for i, query in enumerate(corpus["queries"])]
    queries.sort(key=lambda one: one[0])
    yield from queries
    last_day = corpus["docs"][-1].get("at")
    for i, query in enumerate(corpus.get("negatives", [])):
        yield everything, {"negative_index": i}, {"at": last_day} | query


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--features", type=Path)
    parser.add_argument("--embeddings", default="", metavar="URL")
    parser.add_argument("--vectors", type=Path, default=Path(tempfile.gettempdir()) / "retrieval-vectors.npz")
    args = parser.parse_args()
    call_command("migrate", verbosity=0, run_syncdb=bool(settings.MIGRATION_MODULES))
    meanings = Meanings(args.embeddings, args.vectors) if args.embeddings else None
    tenant = Tenant.objects.create(name="retrieval")
    provider = Provider.objects.create(
        tenant=tenant, name="embedder", kind="openai", base_url=args.embeddings or "http://127.0.0.1", is_local=True
    )
    features = args.features.open("w", encoding="utf-8") if args.features else None
    with args.out.open("w", encoding="utf-8") as out:
        for family, corpus in corpora(args.data, args.families):
            owner = Owner(provider, meanings, family, corpus)
            for count, which, query in asked(corpus):
                owner.know(count)
                line = {"corpus_id": corpus["corpus_id"], **which}
                out.write(json.dumps(line | {"ranked": owner.ask(query)}, ensure_ascii=False) + "\n")
                if features:
                    more = {"family": family, "kind": query["kind"], "relevant": query.get("relevant", []), "top": owner.looked_at(query)}
                    features.write(json.dumps(line | more, ensure_ascii=False) + "\n")
    if features:
        features.close()
    if meanings:
        meanings.save()


if __name__ == "__main__":
    main()
