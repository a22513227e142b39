"""Splitting of shell commands into segments. Nothing is executed and nothing is expanded."""

import re
from dataclasses import dataclass, field

MAX_CHARACTERS = 4096
_MAX_SEGMENTS = 64

# Possessive quantifiers throughout, so that splitting takes linear time. An unterminated quotation ends with the text.
_SUBSTITUTION = r"[$<>]\((?:[^()'\"]++|'[^']*+'|\"[^\"]*+\"|\((?:[^()]++|\([^()]*+\))*+\))*+(?:\)|$)"
_WORD = rf"""(?:[^\s;|&()<>'"`\\$\#]++|(?<=\S)\#|\\.|\$?'[^']*+(?:'|$)|\$?"(?:[^"\\]++|\\.)*+(?:"|\\?$)
        |{_SUBSTITUTION}|`[^`]*+(?:`|$)|\$\{{[^}}\s]*+\}}?|\$|\\$|[<>](?=\())++"""
# Most tokens are words, so they come first, unless they begin with a character that another token may begin with.
_TOKEN = re.compile(
    rf"""
    (?:[ \t\r\f\v]|\\\n)*+
    (?:(?P<word>(?![\d\#<>]){_WORD})
    |(?P<newline>\n)
    |(?P<comment>(?<![^\s;|&(])\#[^\n]*+)
    |(?P<heredoc><<-?[ \t]*+(?:'(?P<d1>\w++)'|"(?P<d2>\w++)"|\\?(?P<d3>\w++)))
    |(?P<redirect>(?:(?<![^\s;|&(<>])\d)?(?:&>>?|>>|>\||>&|<&|<<<|<>|>(?!\()|<(?!\()))
    |(?P<operator>&&|\|\||;;&?|;|\|&|\||&|\(|\))
    |(?P<other_word>{_WORD})
    |(?P<other>.))
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""\$?'([^']*+)'?|\$?"((?:[^"\\]++|\\.)*+)"?|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r"""\\(["\\$`\n])""")
_NESTED = re.compile(rf"'[^']*+'|(?P<inner>{_SUBSTITUTION})|`(?P<tick>[^`]++)`", re.DOTALL)
_MARKED = frozenset("'\"\\`(")
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]++")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+(?:\[\w*+\])?\+?=")


@dataclass(slots=True)
class CommandSegment:
    """One simple command: its words without quotation marks, and what was around it."""

    words: list[str] = field(default_factory=list)
    after: str = ""  # the operator before it
    group: int = 0  # number of open parentheses
    written: list[str] = field(default_factory=list)  # targets of `>` and `>>`
    read: list[str] = field(default_factory=list)  # sources of `<`
    text: str = ""  # heredoc or here-string
    nested: list[str] = field(default_factory=list)  # commands in substitutions


def is_assignment(word: str) -> bool:
    return "=" in word and _ASSIGNMENT.match(word) is not None


def unquoted(word: str) -> str:
    """The word without its quotation marks and escapes."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    return _QUOTED.sub(_inner, word)


def _inner(found: re.Match[str]) -> str:
    single, double, escaped = found.groups()
    if double is not None:
        return _ESCAPED.sub(r"\1", double)
    return single if single is not None else ("" if escaped == "\n" else escaped)


def split_segments(text: str) -> list[CommandSegment]:
    """The simple commands of a command line, at most 64, of its first 4,096 characters."""
    text = text[:MAX_CHARACTERS]
    now = CommandSegment()
    segments = [now]
    waiting: list[tuple[CommandSegment, str]] = []
    group = 0
    redirect = ""
    tokens = _TOKEN.finditer(text)
    while len(segments) <= _MAX_SEGMENTS and (token := next(tokens, None)) is not None:
        kind = token.lastgroup
        if kind in ("word", "other_word"):
            word = token[kind]
            if not _MARKED.isdisjoint(word):
                if ("`" in word or "(" in word) and len(now.nested) < 8:
                    now.nested.extend(_nested(word))
                word = unquoted(word)
            if redirect:
                _redirected(now, redirect, word)
                redirect = ""
            else:
                now.words.append(word)
        elif kind == "heredoc":
            waiting.append((now, token["d1"] or token["d2"] or token["d3"]))
        elif kind == "redirect":
            redirect = token[kind].lstrip("0123456789")
        elif kind in ("operator", "newline"):
            redirect = ""
            if kind == "newline" and waiting:
                tokens = _TOKEN.finditer(text, _take_heredocs(text, token.end(), waiting))
            operator = ";" if kind == "newline" else token[kind]
            group = max(0, group + (operator == "(") - (operator == ")"))  # `case` closes what was not opened
            if now.words or now.written or now.read:
                now = CommandSegment(after=operator, group=group)
                segments.append(now)
            else:
                now.after, now.group = operator if operator not in "()" else now.after, group
    return [segment for segment in segments if segment.words or segment.written or segment.read]


def _nested(word: str) -> list[str]:
    found = []
    for match in _NESTED.finditer(word.strip('"')):
        inner = match["tick"] or (match["inner"] or "")[2:].removesuffix(")")
        if inner.strip() and inner[0] != "(":
            found.append(inner)
    return found[:4]


def _redirected(segment: CommandSegment, operator: str, target: str) -> None:
    if operator == "<<<":
        segment.text = target
    elif operator in ("<", "<>"):
        segment.read.append(target)
    elif operator in (">", ">>", "&>", "&>>", ">|") and target and not target.startswith(("&", "/dev/")):
        segment.written.append(target)


def _take_heredocs(text: str, place: int, waiting: list[tuple[CommandSegment, str]]) -> int:
    """Move the bodies of the heredocs that start at `place` to their segments."""
    for segment, delimiter in waiting:
        begin = place
        while place < len(text):
            end = text.find("\n", place)
            line, after = (text[place:end], end + 1) if end >= 0 else (text[place:], len(text))
            if line.strip("\t ") == delimiter:
                segment.text = text[begin:place]
                place = after
                break
            place = after
        else:
            segment.text = text[begin:]
    waiting.clear()
    return place


def quoted_word(word: str) -> str:
    """The word as one word of a command line."""
    return word if _PLAIN_WORD.fullmatch(word) else "'" + word.replace("'", "'\\''") + "'"
