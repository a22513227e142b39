"""Head of a shell command: the program and its verb, such as "git commit", "pytest", "npm run test".

Parsing is tolerant: a command that no shell would accept still has a head. Every rule reads the text once.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

# The beginning of a command says what it does; data follow.
_MAX_CHARACTERS = 2_000
_MAX_WORD = 40

_WORDS = {
    name: frozenset(words)
    for name, words in tomllib.loads((files(__package__) / "commands.toml").read_text("utf-8")).items()
}

_WITH_VERB = _WORDS["with_verb"]
_WITH_NAME = _WORDS["with_name"]
_WRAPPERS = _WORDS["wrappers"]
_WRAPPING_VERBS = frozenset(tuple(words.split()) for words in _WORDS["wrapping_verbs"])
_SHELLS = _WORDS["shells"]
_INTERPRETERS = _WORDS["interpreters"]
_PREPARES = _WORDS["prepares"]
_KEYWORDS = _WORDS["keywords"]
_LOOKS = _WORDS["looks"]
_LOOKING_VERBS = frozenset(tuple(words.split()) for words in _WORDS["looking_verbs"])
_VALUED = _WORDS["valued_options"]

_HEREDOC = re.compile(r"<<-?[ \t]*+(['\"]?)(\w++)\1([^\n]*+)\n(?:.*\n)*?[ \t]*+\2(?!\w)")
_CONTINUED = re.compile(r"\\\r?\n")
_PART = re.compile(
    r"(?P<redirection>\d*+(?:&>>?|>>?|<{1,3})(?:&\d|&-|[ \t]*+[^\s;&|()<>]++)?)"
    r"|(?P<operator>&&|\|\||[;|&\n()])"
    r"|(?P<space>[ \t\r\f\v]++)"
    r"|(?P<comment>(?<![^\s;&|])\#[^\n]*+)"
    r"|(?P<single>'[^']*+'?)"
    r"|(?P<double>\"(?:[^\"\\]|\\.)*+\"?)"
    r"|(?P<substituted>\$\((?:[^()]|\([^()]*+\))*+\))"
    r"|(?P<escaped>\\.?)"
    r"|(?P<bare>(?:[^\s'\"\\;&|()<>$]|\$(?!\())++|\$)",
    re.DOTALL,
)
_IN_WORDS = frozenset(("single", "double", "substituted", "escaped", "bare"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*+\+?=")
_PLAIN = re.compile(r"[A-Za-z][\w:-]*+")
_VERSION = re.compile(r"(?<=[a-z])[\d.]+$")
_DURATION = re.compile(r"\d[\d.]*+[smhd]?")

Words = tuple[str, ...]


@lru_cache(maxsize=20_000)
def command_head(command: str) -> Words:
    """The program and its verb; empty if there is no command.

    Of a chain, the last command that changes something, since those before it prepare it; of a pipe, the first.
    """
    heads = list(_heads(command[:_MAX_CHARACTERS]))
    acting = [head for head in heads if head[0] not in _LOOKS and head[:2] not in _LOOKING_VERBS]
    return acting[-1] if acting else heads[0] if heads else ()


def _heads(command: str) -> Iterator[Words]:
    """Heads of the commands of a chain."""
    passed_over, skipped = False, False
    for operator, words in _parts(command):
        skipped = (operator == "|" and not passed_over) or operator == "||" or (skipped and operator == "|")
        head = () if skipped else _head(words)
        passed_over = not head
        if head:
            yield head


def _parts(command: str) -> Iterator[tuple[str, list[str]]]:
    """Simple commands, each with the operator before it."""
    text = _HEREDOC.sub(r"\3\n", _CONTINUED.sub(" ", command))
    words, word, operator = list[str](), None, "\n"
    for found in _PART.finditer(text):
        kind, part = found.lastgroup, found[0]
        if kind in _IN_WORDS:
            word = (word or "") + _unquoted(kind, part)
            continue
        if word is not None:
            words.append(word)
            word = None
        if kind == "operator":
            if words:
                yield operator, words
            words, operator = [], part if words or part in ("|", "||") else operator
    if word is not None:
        words.append(word)
    if words:
        yield operator, words


def _unquoted(kind: str | None, part: str) -> str:
    if kind in ("single", "double"):
        return part[1:].removesuffix(part[0])
    # Before a letter, a backslash is the separator of a Windows path or an escape without effect.
    return part[1:] if kind == "escaped" and not part[1:].isalnum() else part


def _head(words: list[str]) -> Words:
    """Head of one simple command, without assignments and wrappers such as sudo."""
    place = 0
    while place < len(words):
        word = words[place]
        program = _program(word)
        if word in _KEYWORDS or _ASSIGNMENT.match(word):
            place += 1
        elif program in _WRAPPERS:
            place = _after_options(words, place + 1)
        elif program in _SHELLS and (script := _script(words[place + 1 :])):
            return command_head(script)
        elif (program, words[place + 1] if place + 1 < len(words) else "") in _WRAPPING_VERBS:
            place = _after_options(words, place + 2)
        else:
            return () if program in _PREPARES or not program else _named(program, words[place + 1 :])
    return ()


def _after_options(words: list[str], place: int) -> int:
    while place < len(words) and (words[place].startswith("-") or _DURATION.fullmatch(words[place])):
        place += 1
    return place


def _script(arguments: list[str]) -> str:
    """The script passed to `sh -c`."""
    for place, word in enumerate(arguments[:-1]):
        if not word.startswith(("-", "/c", "/C")):
            return ""
        if word.casefold() in ("-command", "/c") or (word[:1] == "-" and word[1:2] != "-" and word.endswith("c")):
            return arguments[place + 1]
    return ""


def _program(word: str) -> str:
    """The program's name without folder, version and suffix."""
    name = re.split(r"[\\/]", word)[-1].removesuffix(".exe")
    known = _VERSION.sub("", name)
    bare = known if known in _INTERPRETERS or known in _WITH_VERB else name
    return "".join(char for char in bare[:_MAX_WORD] if char.isprintable() and char != "$").strip("`\"'")


def _named(program: str, arguments: list[str]) -> Words:
    if program in _INTERPRETERS and program not in _WITH_VERB:
        return _interpreted(program, arguments)
    if program not in _WITH_VERB:
        return (program,)
    verbs = list(_plain(arguments))
    if not verbs:
        return (program,)
    deeper = verbs[0] in _WITH_NAME and len(verbs) > 1
    return (program, *verbs[: 2 if deeper else 1])


def _interpreted(program: str, arguments: list[str]) -> Words:
    """A module run with -m counts as the program; a file is named by its type."""
    for place, word in enumerate(arguments):
        if word == "-m" and program == "python" and place + 1 < len(arguments):
            return _named(_program(arguments[place + 1]), arguments[place + 2 :])
        if word in ("-c", "-e"):
            return (program, word)
        if not word.startswith("-"):
            suffix = word.rpartition(".")[2]
            return (program, f"*.{suffix}") if "." in word and suffix.isalnum() and len(suffix) <= 8 else (program,)
    return (program,)


def _plain(arguments: list[str]) -> Iterator[str]:
    """The words after the program that look like names, not like data."""
    places = iter(arguments)
    for word in places:
        if word in _VALUED:
            next(places, None)
        elif not word.startswith("-"):
            if not _PLAIN.fullmatch(word) or len(word) > _MAX_WORD:
                return
            yield word
