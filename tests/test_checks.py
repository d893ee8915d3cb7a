"""Settings that would hurt are found at the start."""

import pytest

from chat.checks import check_settings


def ids(settings, **values: object) -> list[str]:
    for name, value in ({"DEBUG": False, "HOST": "127.0.0.1", "ALLOWED_HOSTS": ["localhost", "127.0.0.1"]} | values).items():
        setattr(settings, name, value)
    return [message.id for message in check_settings(None)]


def test_the_defaults_are_good(settings):
    assert ids(settings) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_debugging_on_this_machine_is_good(settings, host):
    assert ids(settings, DEBUG=True, HOST=host) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::"])
def test_debugging_for_everybody_is_an_error(settings, host):
    assert "chat.E001" in ids(settings, DEBUG=True, HOST=host)


def test_any_name_at_all_is_warned_of(settings):
    assert ids(settings, ALLOWED_HOSTS=["*"]) == ["chat.W001"]


def test_an_open_address_without_its_name_is_warned_of(settings):
    assert ids(settings, HOST="0.0.0.0") == ["chat.W002"]
    assert ids(settings, HOST="0.0.0.0", ALLOWED_HOSTS=["chat.example.org"]) == []
