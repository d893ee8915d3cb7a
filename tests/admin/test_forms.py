"""Registering assistants and model services."""

import pytest
from django.urls import reverse

from chat.models import Agent, AgentMode, Provider
from tests import builders
from tests.admin.test_pages import adding, page

LONG = "请按步骤给出答案。" * 450


def provider_fields(school, **fields) -> dict:
    values = {
        "tenant": school.tenant.pk,
        "name": "校内模型",
        "kind": "openai",
        "base_url": "http://127.0.0.1:8000/v1",
        "key_env": "",
        "input_price": "0",
        "output_price": "0",
        "connect_timeout_seconds": "5",
        "read_timeout_seconds": "60",
    }
    return values | fields


def agent_fields(school, modes=(), **fields) -> dict:
    """What the form of an assistant sends; `modes` are (row or None, prompt)."""
    numbers = {field.name: field.default for field in Agent._meta.fields if field.name.endswith(("_tokens", "_rounds"))}
    numbers |= {"review_every": 10, "review_write": "stage", "review_notify": "on"}
    values = {
        "tenant": school.tenant.pk,
        "name": "新助手",
        "system_prompt": "你是命题助手。",
        "examples": "出一份试卷\n\n 换两道题 ",
        "provider": school.agent.provider_id,
        "model": "demo",
        "order": "0",
        "is_active": "on",
        "modes-TOTAL_FORMS": str(len(modes)),
        "modes-INITIAL_FORMS": str(sum(row is not None for row, _ in modes)),
    }
    for number, (row, prompt) in enumerate(modes):
        values |= {
            f"modes-{number}-{name}": value
            for name, value in {"name": "试卷", "slug": f"m{number}", "order": "0", "prompt": prompt}.items()
        }
        values |= {f"modes-{number}-id": row.pk if row else "", f"modes-{number}-agent": row.agent_id if row else ""}
    return values | numbers | fields


def errors_of(response) -> str:
    assert response.status_code == 200, "the form was accepted"
    context = response.context
    return f"{context['adminform'].form.errors} {[inline.formset.errors for inline in context['inline_admin_formsets']]}"


def test_a_service_is_registered(at_school, own):
    at_school.post(adding(Provider), provider_fields(own, key_env="SCHOOL_API_KEY"))
    assert Provider.objects.filter(tenant=own.tenant, key_env="SCHOOL_API_KEY").exists()


@pytest.mark.parametrize("typed", ["sk-live-123456", "SECRET_KEY", "DATABASE_URL", "school_api_key"])
def test_neither_a_key_nor_another_secret_is_accepted_as_the_keys_variable(typed, at_school, own):
    assert "key_env" in errors_of(at_school.post(adding(Provider), provider_fields(own, key_env=typed)))


def test_the_key_is_not_in_the_page(at_school, own, monkeypatch):
    monkeypatch.setenv("SCHOOL_API_KEY", "sk-very-secret")
    service = own.agent.provider
    Provider.objects.filter(pk=service.pk).update(key_env="SCHOOL_API_KEY")
    html = at_school.get(page(service)).content.decode()
    assert "sk-very-secret" not in html
    assert "SCHOOL_API_KEY" in html


def test_a_service_is_not_made_for_another_school(at_school, own, foreign):
    assert "tenant" in errors_of(at_school.post(adding(Provider), provider_fields(foreign)))


def test_an_assistant_is_registered_with_its_modes(at_school, own):
    at_school.post(adding(Agent), agent_fields(own, [(None, "按试卷格式输出。"), (None, "只出选择题。")]))
    agent = Agent.objects.get(name="新助手")
    assert agent.examples == ["出一份试卷", "换两道题"]
    assert agent.modes.count() == 2


def test_an_assistant_does_not_get_a_service_of_another_school(at_school, own, foreign):
    assert "provider" in errors_of(at_school.post(adding(Agent), agent_fields(own, provider=foreign.agent.provider_id)))


def review_by(school, service, **fields) -> dict:
    return agent_fields(school, review_provider=service.pk, review_model="m", **fields)


def test_reviews_get_a_service_of_their_own(at_school, own):
    service = builders.provider(own.tenant, is_local=True)
    at_school.post(adding(Agent), review_by(own, service, review_every="0", review_write="all", review_notify="verbose"))
    agent = Agent.objects.get(name="新助手")
    assert (agent.review_provider, agent.review_every, agent.review_write, agent.review_notify) == (service, 0, "all", "verbose")


def test_reviews_do_not_get_a_service_of_another_school(at_school, own, foreign):
    assert "review_provider" in errors_of(at_school.post(adding(Agent), review_by(own, foreign.agent.provider)))


def test_reviews_of_a_local_assistant_do_not_go_to_a_cloud(at_school, own):
    Provider.objects.filter(pk=own.agent.provider_id).update(is_local=True, name="校内服务")
    cloud = builders.provider(own.tenant, is_local=False, name="云服务")
    errors = errors_of(at_school.post(adding(Agent), review_by(own, cloud)))
    assert "校内服务" in errors
    assert "云服务" in errors


def test_another_service_needs_the_name_of_its_model(at_school, own):
    service = builders.provider(own.tenant, is_local=True)
    assert "review_model" in errors_of(at_school.post(adding(Agent), review_by(own, service) | {"review_model": ""}))


def test_a_prompt_that_is_too_long_is_refused(at_school, own):
    assert "system_prompt" in errors_of(at_school.post(adding(Agent), agent_fields(own, system_prompt=LONG)))


def test_a_mode_that_is_too_long_with_the_prompt_is_refused(at_school, own):
    half = LONG[: len(LONG) // 2]  # fits alone, not twice
    response = at_school.post(adding(Agent), agent_fields(own, [(None, half)], system_prompt=half))
    assert "prompt" in errors_of(response)
    assert not Agent.objects.filter(name="新助手").exists()


def test_prompt_and_mode_are_judged_as_they_are_sent(at_school, own):
    mode = own.rows[AgentMode]
    half = LONG[: len(LONG) // 2]  # fits alone, not twice
    AgentMode.objects.filter(pk=mode.pk).update(prompt=half)
    response = at_school.post(page(own.agent), agent_fields(own, [(mode, "只出选择题。")], system_prompt=half))
    assert response.status_code == 302, errors_of(response)
    mode.refresh_from_db()
    assert mode.prompt == "只出选择题。"


def test_the_overview_counts_the_school_alone(at_school, own, foreign):
    html = at_school.get(reverse("admin:index")).content.decode()
    assert "provider_timeout" in html
    assert "<td>1</td>" in html  # one conversation waits, not two
    assert "2.00" in html
