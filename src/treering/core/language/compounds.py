"""Words of names, paths, addresses, versions and numbers: the whole and its searchable parts."""

import re
from collections.abc import Callable, Iterable

from treering.core.language.folding import fold

Read = Callable[[str], Iterable[str]]

# Longer ones are data and not parsed.
_MAX_CHARACTERS = 200
_PREFIX = "-./~`"
_JOINT = re.compile(r"::|->|[.'/\\@:,+#-]")
_ALNUM = re.compile(r"[^\W_]+")
_CAMEL_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th|er|ere|eme)")
# Parts before and after an apostrophe without a meaning of their own: l'école, dell'arte, Mel's, we've.
_ELIDED = frozenset((
    "l", "d", "j", "m", "n", "s", "t", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu",
    "un", "dell", "all", "nell", "sull", "dall", "quell", "quest", "bell", "sant", "com", "dov",
))  # fmt: skip
_CLITIC = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))


def read_compound(raw: str) -> Iterable[str]:
    """Distinct folded words of a run of letters, digits and joining signs, the whole first."""
    if raw.isalnum():
        return _name(raw)
    if len(raw) > _MAX_CHARACTERS:
        return _ALNUM.findall(fold(raw))
    body = fold(raw.lstrip(_PREFIX))
    for sign, shape, read in _SHAPES:
        if sign in body and shape.fullmatch(body):
            return dict.fromkeys(read(raw))
    return _parts(raw)


def read_url(raw: str) -> Iterable[str]:
    """The address without its scheme, its host, and the words of both."""
    address = re.split(r"://", raw, maxsplit=1)[-1].rstrip(".!?:/*_").removeprefix("www.")
    host = re.split(r"[/?#:]", address, maxsplit=1)[0]
    labels = host.rsplit(".", 1)[0]
    words = [fold(address), fold(host)]
    for part in re.split(r"[^\w]+", labels + " " + address[len(host) :]):
        words += _name(part)
    return dict.fromkeys(words)


def _parts(raw: str) -> list[str]:
    return [word for part in _JOINT.split(raw.strip("`")) for word in _name(part)]


def _each(raw: str, joint: str) -> list[str]:
    return [word for part in re.split(joint, raw.lstrip(_PREFIX)) if part for word in read_compound(part)]


def _name(part: str) -> list[str]:
    """`token_store` and `tokenStore` as a whole and in words; a number without leading zeros."""
    folded = fold(part).strip("_")
    if folded.isdecimal():
        return _integer(folded)
    if found := _ORDINAL.fullmatch(folded):
        return _integer(found[1])
    words = [word for section in part.split("_") if section for word in _camel_parts(section)]
    return words if len(words) == 1 or not folded else list(dict.fromkeys((folded, *words)))


def _camel_parts(section: str) -> list[str]:
    folded = fold(section)
    if section.islower() or section.isupper() or section.istitle() or not section.isascii():
        return [folded]
    camel_parts = _CAMEL_PART.findall(section)
    if len(camel_parts) < 2 or _ACRONYMS.fullmatch(section):
        return [folded]
    return [folded, *(part.lower() for part in camel_parts if len(part) > 1)]


def _integer(digits: str) -> list[str]:
    """`05` as 5; longer numbers with leading zeros are codes and unchanged."""
    return [digits.lstrip("0") or "0"] if len(digits) == 2 else [digits]


def _decimal(raw: str) -> list[str]:
    """`3.50` as 3.5 and as written, because it may be a version."""
    number = fold(raw.lstrip(_PREFIX))
    return [number.rstrip("0").rstrip(".") if "." in number else number, number]


def _grouped(raw: str) -> list[str]:
    return _decimal(raw.replace(",", ""))


def _comma_decimal(raw: str) -> list[str]:
    return _decimal(raw.replace(",", "."))[:1]


def _dotted_groups(raw: str) -> list[str]:
    return [fold(raw.lstrip(_PREFIX)).replace(".", "")]


def _year(raw: str) -> list[str]:
    """The year only: day and month mean nothing alone, and the date is a word of its own (see `dates`)."""
    return re.findall(r"\d{4}", fold(raw))[:1]


def _whole(raw: str) -> list[str]:
    return [fold(raw.lstrip(_PREFIX))]


def _version(raw: str) -> list[str]:
    version = fold(raw.lstrip(_PREFIX))
    return [version, version.removeprefix("v")]


def _email(raw: str) -> list[str]:
    address = raw.lstrip(_PREFIX)
    name, host = address.rsplit("@", 1)
    return [fold(address), fold(host), *_parts(name), *_parts(host.rsplit(".", 1)[0])]


def _path(raw: str) -> list[str]:
    """`and/or` is two words; a path is rooted, deep, or ends in a file."""
    path = raw.strip("`").replace("\\", "/")
    steps = [step for step in path.split("/") if step.strip(".~")]
    words = [word for step in steps for word in read_compound(step)]
    if path[0] in "/.~" or path.count("/") > 1 or "." in steps[-1] or "_" in path:
        return [fold("/".join(steps)), fold(steps[-1]), *words]
    return words


def _dotted(raw: str) -> list[str]:
    return [fold(raw.lstrip(_PREFIX)), *_parts(raw)]


def _initials(raw: str) -> list[str]:
    whole = fold(raw.lstrip(_PREFIX))
    return [whole, whole.replace(".", "")]


def _hyphened(raw: str) -> list[str]:
    """`well-known` is two words; a flag, or letters with digits (CVE-2024-1234), is a name."""
    whole = fold(raw.strip(_PREFIX))
    named = raw[0] in "-`" or (any(map(str.isdecimal, whole)) and any(map(str.isalpha, whole)))
    return [*([whole] if named and "-" in whole else ()), *_each(raw, "-")]


def _apostrophe(raw: str) -> list[str]:
    parts = [fold(part) for part in raw.lstrip(_PREFIX).split("'")]
    if parts[-1] == "t" and parts[-2].endswith("n"):
        return ["".join(parts)]
    remaining = parts[1:] if parts[0] in _ELIDED else parts
    remaining = remaining[:-1] if len(remaining) > 1 and remaining[-1] in _CLITIC else remaining
    return ["".join(remaining), *(part for part in remaining if len(part) > 1)]


def _split_at(joint: str) -> Read:
    return lambda raw: _each(raw, joint)


# A sign that must occur (cheap to test), the shape, and its reader. The first match wins.
_SHAPES: tuple[tuple[str, re.Pattern[str], Read], ...] = tuple(
    (sign, re.compile(shape), read)
    for sign, shape, read in (
        ("'", r"[^\W\d_]+(?:'[^\W\d_]+)+", _apostrophe),
        (",", r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", _grouped),
        (",", r"\d+,\d{1,2}", _comma_decimal),
        (".", r"\d+\.\d+", _decimal),
        ("", r"[12]\d{3}([-/.])\d{1,2}\1\d{1,2}(?:t\d{1,2}(?::\w+)*)?|\d{1,2}([-/.])\d{1,2}\2[12]\d{3}", _year),
        (":", r"\d{1,2}(?::\d{2}){1,2}(?:am|pm)?", _whole),
        (".", r"\d{1,3}(?:\.\d{3}){2,}", _dotted_groups),
        (".", r"(?:v\d+(?:\.\d+)+|\d+(?:\.\d+){2,})(?:[-.]?[a-z]+\.?\d*)?", _version),
        ("+", r"[a-z]\+\+", _whole),
        ("#", r"[a-z]#", _whole),
        ("@", r"[\w.'-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}", _email),
        ("@", r".*", _split_at("@")),
        (":", r".*[^:]:[^:].*", _split_at("(?<!:):(?!:)")),
        ("/", r".*", _path),
        ("\\", r".*", _path),
        (".", r"[a-z](?:\.[a-z])+", _initials),
        (".", r".*", _dotted),
        (">", r".*", _dotted),
        (":", r".*", _dotted),
        ("-", r".*", _hyphened),
    )
)
