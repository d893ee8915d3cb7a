"""Both storages, each with a data folder of its own."""

import pytest

from tests.memory.notes.world import STORAGES, World


@pytest.fixture
def notes_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return tmp_path


@pytest.fixture(params=STORAGES)
def storage_name(request, settings, notes_folder):
    settings.NOTES_STORAGE = request.param
    return request.param


@pytest.fixture
def world(db, storage_name) -> World:
    return World()


@pytest.fixture
def files(db, settings, notes_folder) -> World:
    settings.NOTES_STORAGE = "files"
    return World()
