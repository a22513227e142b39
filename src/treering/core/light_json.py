"""JSON for the hook process: the C accelerator of the standard library without `re`, whose import costs 12 ms.

Falls back to the `json` package on an interpreter whose accelerator is missing or differs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WHITE_SPACE = " \t\n\r"


def _finite(text: str) -> float | None:
    number = float(text)
    return number if number - number == 0 else None


class _Context:
    """Options of the scanner: NaN and infinity, which are not JSON, become null."""

    strict = False
    object_hook = object_pairs_hook = None
    parse_float = staticmethod(_finite)
    parse_int = int
    parse_constant = staticmethod(lambda name: None)
    memo: dict[str, str] = {}  # noqa: RUF012 - read by the accelerator, which needs a plain attribute


def _not_encodable(value: object) -> object:
    raise TypeError(f"{type(value).__name__} is not JSON")


try:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

    _scan = make_scanner(_Context)  # type: ignore[arg-type]
    _encoders: "dict[bool, Any]" = {
        ascii: make_encoder(None, _not_encodable, quote, None, ":", ",", False, False, False)
        for ascii, quote in ((True, encode_basestring_ascii), (False, encode_basestring))
    }
    _encoders[True]({"a": [1.5, None, True]}, 0)
except (ImportError, TypeError, AttributeError):  # pragma: no cover - CPython has it
    import json

    _decoder = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=lambda name: None)
    _scan = _decoder.scan_once  # type: ignore[attr-defined]
    _encoders = {
        ascii: json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=ascii).iterencode
        for ascii in (True, False)
    }


def loads(text: "str | bytes") -> "Any":
    """The value of a JSON text; ValueError or RecursionError if it is not one. Invalid UTF-8 is replaced."""
    value, end = first_value(text)
    if end is not None:
        raise ValueError("text after the end of the JSON value")
    return value


def first_value(text: "str | bytes") -> "tuple[Any, int | None]":
    """The value at the beginning of a text, and the position of what follows it: None if nothing does."""
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    start = len(text) - len(text.lstrip(_WHITE_SPACE + "\ufeff"))
    try:
        value, end = _scan(text, start)
    except StopIteration:
        raise ValueError("not a JSON value") from None
    return value, (end if text[end:].strip(_WHITE_SPACE) else None)


def dumps(value: object, *, ascii: bool = True) -> str:
    """The JSON text of a value without white space; ValueError or TypeError if it has none."""
    return "".join(_encoders[ascii](value, 0))
