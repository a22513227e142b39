"""Parsing of TOML manifests; invalid input becomes a problem."""

import tomllib
from typing import Any

from treering.code.facts import SyntaxProblem


def read_toml(source: bytes) -> dict[str, Any] | SyntaxProblem:
    try:
        return tomllib.loads(source.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        return SyntaxProblem(1, f"not readable as TOML: {error}")
