"""A school with an embedder on loopback, and teachers with rounds to find."""

from django.db import transaction
from django.test import TransactionTestCase

from chat.jobs.worker import Worker
from chat.memory import consent
from chat.memory.meaning import breaker
from chat.models import Consent, Document, Owner, Passage, Provider, RecallEntry, SearchIndex, Tenant, Work
from chat.search import vectors
from chat.search.index import record_of, writing
from tests import builders
from tests.memory.meaning.embeddings_server import EmbeddingsServer

EMBED = Consent.Purpose.EMBED
MODEL = "bge-m3"


class MeaningCase(TransactionTestCase):
    """`local` says whether the embedder stands in the school's own network."""

    local = True

    def setUp(self) -> None:
        breaker.forget_all()
        self.server = EmbeddingsServer()
        self.enterContext(self.server)
        self.school = builders.tenant()
        self.user = builders.teacher(self.school)
        self.agent = builders.agent(self.school)
        self.service = builders.provider(
            self.school, name="向量服务", kind="openai", base_url=self.server.url, is_local=self.local, input_price=2
        )
        self.owner = Owner(self.school.pk, self.user.pk)

    def choose_embedder(self, service: Provider | None = None, model: str = MODEL) -> None:
        Tenant.objects.filter(pk=self.school.pk).update(embedder=service or self.service, embedding_model=model)

    def remember(self, said: str = "二次函数怎么讲", answer: str = "先画图", user=None, agent=None) -> RecallEntry:
        thread = builders.thread(user or self.user, agent or self.agent, title=said[:20])
        return builders.recalled(builders.run(thread, said, answer))

    def document(self, *texts: str, user=None, school: Tenant | None = None) -> Document:
        """A document that is ready, with its passages in the index; without a user the school's."""
        tenant = school or self.school
        document = Document.objects.create(tenant=tenant, user=user, name="d.md", format="md", size=1, sha256="0" * 64, state="ready")
        with transaction.atomic(), writing(tenant.pk, user.pk if user else None, SearchIndex.Kind.KNOWLEDGE) as writer:
            for position, text in enumerate(texts, start=1):
                place = {"index": writer.index, "number": writer.add(record_of(text))}
                Passage.objects.create(document=document, position=position, text=text, **place)
        return document

    def work(self) -> int:
        return Worker("w").drain()

    def agree(self, user=None, *, is_agreed: bool = True) -> None:
        owner = Owner(self.school.pk, (user or self.user).pk)
        consent.answer(owner, self.service, EMBED, is_agreed=is_agreed)

    def index(self, user=None, kind: SearchIndex.Kind = SearchIndex.Kind.RECALL) -> SearchIndex:
        return SearchIndex.objects.get(tenant=self.school, user=user or self.user, kind=kind)

    def made(self, user=None) -> list[int]:
        """The numbers of the entries that have a vector."""
        return sorted(vectors.made_numbers(self.index(user)))

    def hurry(self) -> None:
        """As if the time had come to which work was put off."""
        Work.objects.update(due_at="2020-01-01T00:00:00Z")
