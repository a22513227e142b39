"""Manifests in TOML: whatever the bytes are, a table or what is wrong with them."""

import tomllib
from typing import Any

from treering.code.facts import Problem


def read_toml(source: bytes) -> dict[str, Any] | Problem:
    try:
        return tomllib.loads(source.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        return Problem(1, f"not readable as TOML: {error}")
