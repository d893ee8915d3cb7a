"""A school's embedder is chosen in the admin site, tried with one call, and shown in numbers."""

import pytest
from django.urls import reverse

from chat.memory import consent
from chat.models import Consent, Owner, Preference, SearchIndex, Tenant, VectorBlock
from tests import builders
from tests.admin.test_pages import listing, page
from tests.memory.meaning.embeddings_server import EmbeddingsServer, broken_numbers
from tests.memory.meaning.world import EMBED

pytestmark = pytest.mark.django_db


@pytest.fixture
def server():
    with EmbeddingsServer() as running:
        yield running


@pytest.fixture
def service(own, server):
    return builders.provider(own.tenant, name="向量", kind="openai", base_url=server.url, is_local=False)


def choose(client, own, service, **fields):
    values = {"name": own.tenant.name, "has_memory": "on", "embedder": service.pk if service else "", "embedding_model": "bge-m3"}
    return client.post(page(own.tenant), values | {"embedding_roles": "by_name"} | fields, follow=True)


def chosen(own) -> tuple[str | None, str]:
    return Tenant.objects.values_list("embedder_id", "embedding_model").get(pk=own.tenant.pk)


def test_an_embedder_that_answers_is_saved_and_said(at_school, own, service, server):
    response = choose(at_school, own, service)
    assert chosen(own) == (service.pk, "bge-m3")
    assert "64" in str([str(message) for message in response.context["messages"]])
    assert len(server.requests) == 1


def test_saving_something_else_asks_nobody(at_school, own, service, server):
    choose(at_school, own, service)
    choose(at_school, own, service, name="新名字")
    assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [lambda *_: 404, lambda *_: 401, broken_numbers])
def test_one_that_does_not_is_refused(at_school, own, service, server, fault):
    server.fault = fault
    response = choose(at_school, own, service)
    assert "embedder" in response.context["adminform"].form.errors
    assert chosen(own)[0] is None


def test_it_can_be_saved_untried(at_school, own, service, server):
    server.fault = lambda *_: 404
    choose(at_school, own, service, is_untried="on")
    assert chosen(own)[0] == service.pk
    assert not server.requests


def test_a_model_has_to_be_named(at_school, own, service, server):
    response = choose(at_school, own, service, embedding_model=" ")
    assert "embedding_model" in response.context["adminform"].form.errors
    assert not server.requests


def test_the_stand_in_and_services_of_others_are_not_offered(at_school, own, foreign):
    strange = builders.provider(foreign.tenant, kind="openai", base_url="http://127.0.0.1:1/v1")
    for refused in (own.agent.provider, strange):
        assert "embedder" in choose(at_school, own, refused).context["adminform"].form.errors
    assert chosen(own)[0] is None


def test_the_form_says_where_text_goes(at_school, own):
    assert "同意" in at_school.get(page(own.tenant)).content.decode()


def test_without_an_embedder_the_vectors_are_deleted(at_school, own, service):
    choose(at_school, own, service)
    index = SearchIndex.objects.get(tenant=own.tenant, kind="recall")
    SearchIndex.objects.filter(pk=index.pk).update(embedder=service, embedding_model="bge-m3", vectors=1)
    VectorBlock.objects.create(index=index, block=0, model="bge-m3", dimension=2, made=b"\0" * 16, packed=b"")
    choose(at_school, own, None)
    assert not VectorBlock.objects.exists()
    assert SearchIndex.objects.get(pk=index.pk).vectors == 0


def test_open_pages_learn_that_there_is_something_to_ask(at_school, own, service):
    choose(at_school, own, service)
    assert Preference.objects.get(user=own.teacher).news_at


def run_action(client, name: str, own):
    return client.post(listing(Tenant), {"action": name, "_selected_action": [own.tenant.pk]}, follow=True)


def test_it_can_be_tried_any_time(at_school, own, service, server):
    choose(at_school, own, service)
    server.fault = lambda *_: 503
    response = run_action(at_school, "try_now", own)
    assert [message.level_tag for message in response.context["messages"]] == ["error"]


def test_all_vectors_can_be_made_anew(at_school, own, service):
    choose(at_school, own, service)
    index = SearchIndex.objects.get(tenant=own.tenant, kind="recall")
    SearchIndex.objects.filter(pk=index.pk).update(embedder=service, embedding_model="bge-m3", vectors=1)
    run_action(at_school, "make_anew", own)
    assert SearchIndex.objects.get(pk=index.pk).vectors == 0


def test_who_agreed_is_shown_in_numbers_only(at_school, own, service):
    colleague = builders.teacher(own.tenant, "王老师的名字")
    for user, is_agreed in ((own.teacher, True), (colleague, False)):
        consent.answer(Owner(own.tenant.pk, user.pk), service, EMBED, is_agreed=is_agreed)
    html = at_school.get(page(service)).content.decode()
    assert "1 人同意，1 人不同意" in html
    assert "王老师的名字" not in html
    with pytest.raises(Exception, match="consent"):
        reverse(f"admin:chat_{Consent._meta.model_name}_changelist")
