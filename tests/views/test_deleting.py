"""Deleting a conversation from its page, and what pages say while memory is off."""

import re

import pytest

from chat.memory.core import decide
from chat.memory.switches import switch_memory
from chat.models import Candidate, Fact, Preference, Tenant, Thread
from tests import builders

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def thread():
    teacher = builders.teacher()
    Preference.objects.create(user=teacher, language="en")
    thread = builders.thread(teacher)
    run = builders.run(thread)
    for text in ("老师喜欢表格", "老师教高二"):
        Candidate.objects.create(
            tenant=thread.tenant, user=teacher, agent=thread.agent, text=text, normal=text, thread=thread, source_run=run
        )
    decide.confirm(teacher, [Candidate.objects.get(text="老师教高二").pk])
    return thread


@pytest.fixture
def page(client, thread):
    client.force_login(thread.user)
    return client


def words(response) -> str:
    return response.content.decode()


def test_the_page_lists_what_was_learnt_each_with_its_own_box(page, thread):
    html = words(page.get(f"/chat/t/{thread.pk}/delete/"))
    candidate, fact = Candidate.objects.get(status="pending"), Fact.objects.get()
    assert re.search(rf'name="candidate" value="{candidate.pk}" checked>老师喜欢表格', html)
    assert re.search(rf'name="fact" value="{fact.pk}">老师教高二', html)


def test_what_is_chosen_goes_and_the_next_page_says_so(page, thread):
    chosen = {"candidate": Candidate.objects.get(status="pending").pk, "fact": Fact.objects.get().pk}
    response = page.post(f"/chat/t/{thread.pk}/delete/", chosen, follow=True)
    assert "The conversation is deleted. 2 memories went with it." in words(response)
    assert not Thread.objects.exists() and not Candidate.objects.filter(status="pending").exists()
    assert Fact.objects.get().status == "deleted"


def test_what_is_not_chosen_stays(page, thread):
    page.post(f"/chat/t/{thread.pk}/delete/")
    assert not Thread.objects.exists()
    assert (Candidate.objects.filter(status="pending").count(), Fact.objects.get().status) == (1, "confirmed")


def test_looking_at_the_page_deletes_nothing(page, thread):
    page.get(f"/chat/t/{thread.pk}/delete/")
    assert Thread.objects.exists()


def test_a_conversation_of_somebody_else_is_not_found(client, thread):
    client.force_login(builders.teacher(thread.tenant))
    for response in (client.get(f"/chat/t/{thread.pk}/delete/"), client.post(f"/chat/t/{thread.pk}/delete/")):
        assert response.status_code == 404
    assert Thread.objects.exists()


def test_of_an_assistant_that_is_no_longer_offered_one_goes_home(page, thread):
    thread.agent.is_active = False
    thread.agent.save()
    assert page.post(f"/chat/t/{thread.pk}/delete/")["Location"] == "/"


def test_every_way_to_a_conversation_leads_to_its_end(page, thread):
    address = f'href="/chat/t/{thread.pk}/delete/"'
    assert words(page.get(f"/chat/t/{thread.pk}/")).count(address) == 2  # menu and sidebar
    Thread.objects.update(status="archived")
    assert address in words(page.get(f"/chat/{thread.agent_id}/archived/"))


@pytest.mark.parametrize(
    ("who", "said"), [("teacher", "You have switched memory off."), ("school", "Your school has switched memory off.")]
)
def test_pages_say_who_switched_memory_off_and_what_remains(page, thread, who, said):
    switch_memory(thread.user_id, is_on=False) if who == "teacher" else Tenant.objects.update(has_memory=False)
    for address in (f"/chat/t/{thread.pk}/", f"/chat/{thread.agent_id}/"):
        html = words(page.get(address))
        assert f"{said} The model is told only this conversation itself" in html


def test_pages_say_nothing_while_memory_is_on(page, thread):
    assert 'data-off-by=""' in words(page.get(f"/chat/t/{thread.pk}/"))
