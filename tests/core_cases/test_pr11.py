"""Sensitive data about pupils is stopped before it is stored (PR-11), from the model's answer to the administrator's page."""

import json
from html import unescape

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile

from chat.models import RedlineRecord, Run
from chat.panel.rules import rule_words
from chat.roles import SCHOOL_ADMINISTRATORS, keep_school_administrators
from tests import builders
from tests.memory.core.talking import Learner, answer, learn, pending, thread

pytestmark = pytest.mark.django_db

SENSITIVE = (
    "身份证号11010119900307109X",
    "学生证件 110101 19900307 7491",
    "证件号１１０１０１１９９００３０７７４９１",
    "老身份证110101900307749",
    "小明期末数学45分",
    "张三得了九十二分",
    "学生甲患有哮喘",
    "家长手机13812345678",
    "工资卡6222021234567890128",
)
PIECES = ("19900307", "１９９００３０７", "110101900307", "45分", "九十二分", "哮喘", "13812345678", "622202123456")
HARMLESS = ("每题5分，共100分", "常用教室305", "喜欢先讲例题", "教材第110页")


def stored(*but: str) -> str:
    models = [model for model in apps.get_app_config("chat").get_models() if model.__name__ not in but]
    return "\n".join(str(list(model._base_manager.values())) for model in models)


@pytest.fixture
def talk(caplog):
    return thread()


def taught(talk) -> Learner:
    builders.run(talk, "；".join((*SENSITIVE, *HARMLESS)))
    return learn(talk, answer(*SENSITIVE, *HARMLESS))


def left(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


def test_what_a_model_proposes_about_people_is_stopped_and_the_rest_waits(talk, client, caplog):
    model = taught(talk)
    assert sorted(pending(talk.user)) == sorted(HARMLESS)
    assert RedlineRecord.objects.filter(layer="core").count() >= len(SENSITIVE)
    assert set(RedlineRecord.objects.values_list("layer", "source_id")) == {(layer, Run.objects.get().pk) for layer in ("core", "recall")}
    assert not RedlineRecord.objects.filter(rule="").exists()
    assert "不得记录" in model.asked[0].messages[0]["content"]
    client.force_login(talk.user)
    pages = [client.get(one).content.decode() for one in ("/memory/", "/memory/?list=stopped", "/memory/drawer/", "/memory/export.json")]
    assert left(stored("Run", "RunLedger", "SearchText") + "".join(pages) + caplog.text) == []


def said_rules(response, records) -> None:
    """The page names every rule that has stopped something."""
    body = unescape(response.content.decode())
    assert records and all(rule_words([record.rule]) in body for record in records)


@pytest.mark.parametrize("words", SENSITIVE)
def test_what_is_typed_or_brought_in_is_stopped_with_its_rule(talk, client, words, caplog):
    client.force_login(talk.user)
    typed = client.post("/memory/add/", {"text": f"记住：{words}"}, headers={"HX-Request": "true"})
    said_rules(typed, RedlineRecord.objects.all())
    data = json.dumps({"format": "core-memory", "version": 1, "facts": [{"text": words}]}, ensure_ascii=False).encode()
    answered = client.post("/memory/import/", {"file": SimpleUploadedFile("m.json", data)}, follow=True)
    said_rules(answered, RedlineRecord.objects.filter(source_id="import"))
    assert left(stored() + caplog.text + answered.content.decode()) == []


def test_the_administrator_sees_counts_for_each_rule_and_no_content(talk, client):
    taught(talk)
    keep_school_administrators(using="default")
    user = builders.teacher(talk.tenant, role="admin")
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.groups.add(Group.objects.get(name=SCHOOL_ADMINISTRATORS))
    client.force_login(User.objects.get(pk=user.pk))
    index = client.get("/admin/", follow=True).content.decode()
    address = next(part.split('"')[0] for part in index.split('href="') if "redline" in part.split('"')[0])
    body = client.get(address).content.decode()
    assert all(rule_words([record.rule]) in unescape(body) for record in RedlineRecord.objects.all())
    assert left(body) == [] and talk.user.get_username() not in body
