from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from chat import demo
from chat.models import Agent, AgentMode, Membership, Provider, Tenant
from chat.text.tokens import count_tokens

pytestmark = pytest.mark.django_db
OPENAI = {"OPENAI_BASE_URL": "http://10.1.2.3:8000/v1", "OPENAI_MODEL": "qwen-small"}


@pytest.fixture(autouse=True)
def no_ollama(settings):
    settings.OLLAMA_URL = "http://127.0.0.1:9"


def run_demo() -> str:
    output = StringIO()
    call_command("demo", stdout=output)
    return output.getvalue()


def use(settings, **values: str) -> None:
    for name, value in values.items():
        setattr(settings, name, value)


def test_two_schools_with_their_people():
    run_demo()
    people = Membership.objects.order_by("user_id").values_list("user__username", "tenant__name", "role")
    assert list(people) == [
        ("admin", "示范中学", "admin"),
        ("teacher", "示范中学", "teacher"),
        ("teacher2", "示范中学", "teacher"),
        ("teacher3", "滨江小学", "teacher"),
    ]


def test_each_school_has_three_assistants_with_modes_and_examples():
    run_demo()
    for school in Tenant.objects.all():
        agents = list(school.agents.order_by("order"))
        assert [agent.name for agent in agents] == ["命题助手", "备课助手", "评语助手"]
        for agent in agents:
            agent.full_clean()
            assert 300 <= len(agent.system_prompt) <= 700
            assert len(agent.examples) == 3
            assert agent.modes.count() >= 2


def test_prompts_fit_the_limit_of_an_assistant():
    run_demo()
    longest = max(count_tokens(mode.agent.system_prompt) + count_tokens(mode.prompt) for mode in AgentMode.objects.select_related("agent"))
    assert longest < 1_000


def test_a_random_password_is_printed_once_and_works():
    printed = run_demo()
    password = printed.split("password: ")[1].split()[0]
    assert User.objects.get(username="teacher").check_password(password)
    assert password not in run_demo()


def test_the_password_of_the_environment_is_used_and_not_printed(settings):
    settings.DEMO_PASSWORD = "given-by-the-school"
    assert "given-by-the-school" not in run_demo()
    assert User.objects.get(username="admin").check_password("given-by-the-school")


def test_a_second_run_keeps_what_people_changed_and_removed(settings):
    run_demo()
    settings.DEMO_PASSWORD = "another"
    Tenant.objects.filter(name="示范中学").update(name="第一中学")
    Agent.objects.filter(name="备课助手").delete()
    Agent.objects.filter(name="命题助手").update(system_prompt="只出选择题。")
    before = [list(model.objects.order_by("pk").values()) for model in (User, Tenant, Membership, Provider, Agent, AgentMode)]
    run_demo()
    assert [list(model.objects.order_by("pk").values()) for model in (User, Tenant, Membership, Provider, Agent, AgentMode)] == before


def test_the_environments_model_is_used(settings, monkeypatch):
    use(settings, **OPENAI)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in run_demo()
    for agent in Agent.objects.select_related("provider"):
        assert (agent.model, agent.provider.base_url) == ("qwen-small", "http://10.1.2.3:8000/v1")
        assert (agent.provider.kind, agent.provider.key_env, agent.provider.is_local) == ("openai", "OPENAI_API_KEY", True)


def test_assistants_follow_the_environment_at_the_next_start(settings):
    run_demo()
    use(settings, **OPENAI)
    run_demo()
    assert set(Agent.objects.values_list("provider__kind", "model")) == {("openai", "qwen-small")}
    settings.OPENAI_MODEL = "qwen-large"
    run_demo()
    assert set(Agent.objects.values_list("provider__kind", "model")) == {("openai", "qwen-large")}
    settings.OPENAI_MODEL = ""
    run_demo()
    assert set(Agent.objects.values_list("provider__kind", "model")) == {("demo", "demo")}


def test_an_assistant_that_a_person_moved_stays_there(settings):
    run_demo()
    agent = Agent.objects.first()
    own = Provider.objects.create(tenant=agent.tenant, name="校内服务", kind="ollama", base_url="http://10.0.0.1:11434")
    Agent.objects.filter(pk=agent.pk).update(provider=own, model="own")
    use(settings, **OPENAI)
    run_demo()
    assert Agent.objects.get(pk=agent.pk).provider_id == own.pk


def test_a_model_that_a_person_chose_stays(settings):
    use(settings, **OPENAI)
    run_demo()
    agent = Agent.objects.first()
    Agent.objects.filter(pk=agent.pk).update(model="chosen")
    settings.OPENAI_MODEL = "qwen-large"
    run_demo()
    assert Agent.objects.get(pk=agent.pk).model == "chosen"
    assert Agent.objects.filter(model="qwen-large").count() == 5


def test_a_service_in_the_open_internet_is_not_local(settings):
    use(settings, OPENAI_BASE_URL="https://203.0.114.9/v1", OPENAI_MODEL="m")
    assert "outside your network" in run_demo()
    assert not Provider.objects.filter(kind="openai", is_local=True).exists()


@pytest.mark.mock
def test_an_ollama_that_answers_is_offered_and_not_used(settings, mock_model):
    settings.OLLAMA_URL = mock_model.url
    assert f"An Ollama answers at {mock_model.url}" in run_demo()
    assert Provider.objects.filter(kind="ollama", base_url=mock_model.url).count() == 2
    assert set(Agent.objects.values_list("provider__kind", flat=True)) == {"demo"}


def test_a_database_that_is_in_use_is_not_empty():
    assert demo.is_empty()
    User.objects.create_user("somebody")
    assert not demo.is_empty()
