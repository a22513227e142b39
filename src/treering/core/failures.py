"""Signatures of failures that ignore paths, numbers, addresses and temporary names.

Codes of exits, statuses and errors are kept, because they identify the failure. Every rule starts only at the beginning
of a word and does not backtrack, so that matching takes linear time.
"""

import re
from collections.abc import Callable, Iterator
from hashlib import blake2b

from treering.core.episodes import Episode, OutcomeStatus

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_MAX_CHARACTERS = 2_000
_SPACE = re.compile(r"\s+")
_VARYING = re.compile(r"<[a-z]+>")
# Digits of a code are shielded until all other numbers are replaced.
_SHIELDED = {ord(digit): 0xE000 + place for place, digit in enumerate("0123456789")}
_UNSHIELDED = {shielded: chr(digit) for digit, shielded in _SHIELDED.items()}
# A quoted path may contain spaces: it begins like a path or ends like a file.
_PATH_BEGINS = re.compile(r"[A-Za-z]:[\\/]|(?:~\w*+|\.{1,2})?[\\/][^\\/]++[\\/]")
_FILE_ENDS = re.compile(r"[\\/][^\\/]*\.\w{1,8}$")
_ASSIGNED = r"""["']?[\s:=#(\[]{1,3}"""
_CODED = (
    r"(?:(?:(?:return|exit|error|status)?code|status|errno|exit(?:ed)?|signal|http(?:/\d(?:\.\d)?)?)"
    rf"(?:{_ASSIGNED}(?:with|of|was|is|code|status|error|number)){{0,3}}{_ASSIGNED}"
    r"|error[\s#(\[]{1,3})"
    r"(?P<code>-?(?:0x[0-9a-f]{1,8}|\d{1,10}))"
)
_IPV6 = (
    r"(?=[0-9a-f:]{0,40}\d)(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"
    r"|(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?::(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?)"
    r"(?:(?:\.\d{1,3}){3})?(?:%\w{1,20})?"
)
# Numbers in these names tell types and algorithms apart.
_TYPES = r"(?:u?int|float|complex|[iuf]|utf-?|sha-?|base|amd|arm|aes-?|es)(?:8|16|32|64|128|256|384|512)"
_UNIT = r"(?:ns|us|µs|ms|s|sec|secs|m|min|mins|h|hrs?|d|[kKMGT]?i?[bB]|[kKMGT])"


def _shield(found: re.Match[str]) -> str:
    return found[0].translate(_SHIELDED)


def _shield_code(found: re.Match[str]) -> str:
    """Shield only the code: the text before it may contain a version (HTTP/1.1)."""
    return found[0].removesuffix(found["code"]) + found["code"].translate(_SHIELDED)


def _without_path(found: re.Match[str]) -> str:
    text = found[0]
    inside = text[1:-1]
    is_path = _PATH_BEGINS.match(inside) or _FILE_ENDS.search(inside)
    # A text with a colon is a message about a path, not a path.
    return f"{text[0]}<path>{text[-1]}" if is_path and ": " not in inside else text


def _without_number(found: re.Match[str]) -> str:
    """One digit may be part of a name (utf8); two make a name that was counted up (worker-12)."""
    name = found[0].rstrip("-")
    return "<number>" + found[0][len(name) :] if sum(map(str.isdigit, name)) > 1 else found[0]


# The order matters: earlier rules replace what later ones would split.
_RULES: tuple[Rule, ...] = tuple(
    (re.compile(pattern), by)
    for pattern, by in (
        (r"\x1b\[[0-9;]*+[A-Za-z]", ""),
        (r"(?i)(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*+://[^\s\"'`<>]++", "<url>"),
        (r"(?i)\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "<id>"),
        (rf"(?i)(?<![a-z]){_CODED}(?!\w|[.,:/-]\d)", _shield_code),
        (r"(?i)(?<![a-z])sqlstate[\s:=(\[]{0,3}[0-9a-z]{5}(?!\w)", _shield),
        (r"(?<![\w/\\.-])(?:[A-Z]{1,6}\d{3,6}|(?:ORA|PLS|TNS|DPI|DPY)-\d{3,5})(?![\w/\\-]|\.\w)", _shield),
        (rf"(?<![\w/\\.-]){_TYPES}(?![\w/\\-])", _shield),
        (r"(?<!\w)(?:\"[^\"\n]++\"|'[^'\n]++'|`[^`\n]++`)", _without_path),
        (r"(?i)\b0x[0-9a-f]++\b", "<address>"),
        (r"(?i)(?<![\w:])(?:[0-9a-f]{2}:){5}[0-9a-f]{2}(?![\w:])", "<address>"),
        (r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d++)?)?(?:Z|[+-]\d{2}:?\d{2})?", "<time>"),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d++)?\b", "<time>"),
        (rf"(?i)(?<![\w:.])(?:\[{_IPV6}\](?::\d{{1,5}})?|{_IPV6}(?![\w:]))", "<host>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d++)?\b", "<host>"),
        (r"(?i)(?<![a-z0-9.-])(?:localhost|[a-z0-9-]++(?:\.[a-z0-9-]++)++):\d++\b", "<host>"),
        (r"(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.]++", "<mail>"),
        (
            r"(?:(?<!\w)[A-Za-z]:)?(?:[\\/][^\s\\/:\"'`,;()\[\]]++){2,}+[\\/]?"
            r"|(?<![\w.-])[\w.-]++(?:[\\/][\w.-]++)++[\\/]?",
            "<path>",
        ),
        (r"(?i)\b(?:(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}+|[0-9a-f]{12,}+)\b", "<id>"),
        (rf"(?<![\w.-])(?:\d++(?:[.,]\d++)*+{_UNIT}?)++(?!\w|-\w)", "<number>"),
        (r"\w[\w-]*+", _without_number),
        (r"\d++", "<number>"),
    )
)


def normalised_failure(message: str) -> str:
    """The constant part of an error message; empty if there is none."""
    text = message[:_MAX_CHARACTERS]
    for pattern, by in _RULES:
        text = pattern.sub(by, text)
    return _SPACE.sub(" ", text).strip().casefold().translate(_UNSHIELDED)


def failure_signature(message: str) -> str:
    """Signature that is equal for equal failures; empty for a message without content."""
    normal = normalised_failure(message)
    return blake2b(normal.encode("utf-8", "replace"), digest_size=12).hexdigest() if normal else ""


def failure_messages(episode: Episode) -> Iterator[str]:
    """Errors of the trace, failures of the reflection, and the output of a failed outcome."""
    for entry in episode.execution.trace:
        if entry.is_error:
            yield entry.output or entry.action
    yield from map(str, episode.reflection.failures)
    if episode.outcome.status is OutcomeStatus.FAILURE:
        yield episode.outcome.output


def failure_signatures(episode: Episode) -> tuple[str, ...]:
    """Signatures of all failures; messages of several lines also by their last line, where tools put the error."""
    messages = (
        form[:_MAX_CHARACTERS] for message in failure_messages(episode) for form in (message, _last_line(message))
    )
    # Called inside a write transaction, so each distinct message is normalised once.
    return tuple(dict.fromkeys(filter(None, map(failure_signature, dict.fromkeys(messages)))))


def significant_lines(message: str) -> tuple[str, ...]:
    """The last and the first line, which usually name the error, without varying parts."""
    lines = [line for line in message.splitlines() if line.strip()]
    return tuple(dict.fromkeys(filter(None, map(without_varying, (*lines[-1:], *lines[:1])))))


def without_varying(message: str) -> str:
    """The words of a message without varying parts."""
    return _VARYING.sub(" ", normalised_failure(message)).strip()


def _last_line(message: str) -> str:
    return next((line for line in reversed(message.strip().splitlines()) if line.strip()), "")
