"""Information encoded in a SCIP symbol string: its name, whether it is a module, whether it is local."""

import re

_LAST = re.compile(r"(?:`((?:[^`]|``)+)`|([\w+$-]+))(?:\([\w+$-]*\)\.|[./#:!])$")
_MODULES = ("/", "/__init__:")
_DIGITS = "0123456789"
_WRITTEN = {"<constructor>": "constructor"}


def name_of(symbol: str) -> str | None:
    """Return the name as written at the definition, or None for parameters and unnamed symbols."""
    found = None if is_local(symbol) else _LAST.search(symbol)
    if found is None:
        return None
    name = found[1].replace("``", "`") if found[1] else found[2]
    return _WRITTEN.get(name, name.removeprefix("<get>").removeprefix("<set>"))


def is_written(symbol: str, text: str) -> bool | None:
    """Whether `text` is the spelling of the symbol at its definition; None if its name does not say.

    Members of anonymous objects are numbered.
    """
    name = name_of(symbol)
    if name is None or is_module(symbol) or not text:
        return None
    if symbol.endswith(":"):
        name, text = name.strip("`").rstrip(_DIGITS), text.rstrip(_DIGITS)
    return text.lstrip("#") == name.lstrip("#")


def module_name(symbol: str) -> str:
    """Return the last part of a module's name: `httpx._client` is imported as `_client`."""
    bare = symbol.removesuffix("__init__:") if symbol.endswith(_MODULES[1]) else symbol
    return (name_of(bare) or "").rsplit(".", 1)[-1]


def is_module(symbol: str) -> bool:
    return symbol.endswith(_MODULES) and not is_local(symbol)


def is_local(symbol: str) -> bool:
    """Whether the symbol is local to its document."""
    return symbol.startswith("local ")
