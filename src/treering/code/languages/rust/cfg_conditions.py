"""`#[cfg(…)]`: whether an item is excluded on the reference platform, 64-bit Linux with tests."""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r'[A-Za-z_][\w-]*|"[^"]*"|[(),=]')
_CONDITION = re.compile(r"#!?\[\s*cfg\s*\((.*)\)\s*\]\s*$", re.DOTALL)
_MAX_DEPTH = 20

_REFERENCE_VALUES = {
    "target_os": {"linux"},
    "target_family": {"unix"},
    "target_arch": {"x86_64"},
    "target_pointer_width": {"64"},
    "target_env": {"gnu"},
    "target_endian": {"little"},
    "panic": {"unwind"},
}
_BARE = {
    "unix": True,
    "test": True,
    "debug_assertions": True,
    "windows": False,
    "miri": False,
    "loom": False,
    "fuzzing": False,
    "kani": False,
    "doc": False,
    "docsrs": False,
    "wasm": False,
}


def is_excluded(attribute: str) -> bool:
    """Whether the attribute excludes its item; feature conditions never do."""
    matched = _CONDITION.match(attribute.strip())
    return matched is not None and _ConditionParser(_TOKEN.findall(matched.group(1))).predicate(0) is False


class _ConditionParser:
    """Predicates are true, false, or `None` if they depend on the build."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._place = 0

    def predicate(self, depth: int) -> bool | None:
        name = self._take()
        if self._peek() == "(" and depth < _MAX_DEPTH:
            self._take()
            inside: list[bool | None] = []
            while self._peek() not in {")", ""}:
                if self._peek() == ",":
                    self._take()
                    continue
                inside.append(self.predicate(depth + 1))
            self._take()
            return _combined(name, inside)
        if self._peek() == "=":
            self._take()
            value = self._take().strip('"')
            return value in _REFERENCE_VALUES[name] if name in _REFERENCE_VALUES else None
        return _BARE.get(name)

    def _peek(self) -> str:
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._place += 1
        return token


def _combined(name: str, inside: Sequence[bool | None]) -> bool | None:
    if name == "not":
        return None if not inside or inside[0] is None else not inside[0]
    decisive = name == "any"
    if decisive in inside:
        return decisive
    return None if None in inside else not decisive
