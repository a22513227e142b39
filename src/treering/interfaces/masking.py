"""Values of settings without credentials and secrets."""

import re
from typing import Any

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@|(?<=\?)\S+")
"""The user, the password and the query of a URL."""
_MASK = "***"


def masked(value: Any) -> Any:
    """The value without credentials and secrets."""
    from treering.core.secrets import redact

    if isinstance(value, str):
        return redact(_CREDENTIALS.sub(lambda found: f"{_MASK}@" if found[0].endswith("@") else _MASK, value)).text
    if isinstance(value, tuple | list):
        return [masked(each) for each in value]
    return {key: masked(each) for key, each in value.items()} if hasattr(value, "items") else value
