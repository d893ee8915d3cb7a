from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from chat.models import ApiToken
from tests import builders

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, str]:
    output, errors = StringIO(), StringIO()
    call_command("api_token", *arguments, stdout=output, stderr=errors)
    return output.getvalue().strip(), errors.getvalue()


@pytest.mark.django_db(transaction=True)
def test_the_printed_token_opens_the_api(client):
    user = builders.teacher()
    builders.agent(builders.school_of(user))
    token, _ = run(user.username, "--name", "脚本")
    answer = client.get("/agents", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


def test_only_a_hash_is_stored():
    token, _ = run(builders.teacher().username)
    assert token not in str(list(ApiToken.objects.values()))


@pytest.mark.django_db(transaction=True)
def test_a_revoked_token_opens_nothing(client):
    user = builders.teacher()
    token, _ = run(user.username)
    run(user.username, "--revoke", ApiToken.objects.get().pk)
    assert client.get("/agents", headers={"Authorization": f"Bearer {token}"}).status_code == 401


def test_a_token_of_somebody_else_is_not_revoked():
    run(builders.teacher().username)
    with pytest.raises(CommandError, match="no usable token"):
        run(builders.teacher().username, "--revoke", ApiToken.objects.get().pk)
    assert ApiToken.objects.usable().count() == 1


def test_an_unknown_user_is_named():
    with pytest.raises(CommandError, match="nobody"):
        run("nobody")
