"""Migrations run here instead of being copied from a template."""

import pytest

from tests.sqlite_template import create_empty
from treering.adapters.sql import sqlite


@pytest.fixture(autouse=True)
def migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_create_for_this_user_only", create_empty)
