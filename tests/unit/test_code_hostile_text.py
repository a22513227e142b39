"""Expressions over the text of a file take linear time, whatever it repeats."""

from collections.abc import Callable

import pytest

from tests.growth import LINEAR, growth
from treering.code.languages.definitions_only.simplification import variants_of
from treering.code.languages.definitions_only.sql import sql_definitions
from treering.code.languages.rust.items import calls_in_macro

TEXTS: dict[str, Callable[[int], str]] = {
    "sql unclosed comments": lambda count: "/* " * count,
    "sql unclosed string": lambda count: "'" + "\\'" * count,
    "sql unclosed bodies": lambda count: "".join(f"$a{number}$ " for number in range(count)),
    "sql statements": lambda count: "CREATE TABLE a;\n" * count,
    "dart modifiers": lambda count: "base mixin " * count,
    "zig declarations": lambda count: "const a, " * count,
    "zig types": lambda count: "const a: " * count,
    "cpp nested branches": lambda count: "#if a\n#else\n" * count + "#endif\n" * count,
    "cpp conditions": lambda count: "#if a\n" * count,
    "rust path": lambda count: "crate::" * count,
}


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_takes_linear_time(name: str) -> None:
    language = name.partition(" ")[0]

    def read(source: bytes) -> object:
        if language == "sql":
            return list(sql_definitions(source))
        return calls_in_macro(source.decode()) if language == "rust" else list(variants_of(language, source))

    small, large = (TEXTS[name](count).encode() for count in (1_500, 6_000))
    assert growth(read, small, large) < LINEAR
