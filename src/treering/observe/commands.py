"""What a shell command is for, which files it names, and a form of it that stays the same for the same intent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from treering.observe.command_forms import normal_form
from treering.observe.fetching import outside_of_code, outside_of_rest, outside_of_words
from treering.observe.invocations import Invocation, invocations_of
from treering.observe.paths import is_file_name, project_path, without_position
from treering.observe.programs import RANKS, Purpose
from treering.observe.shell import MAX_CHARACTERS
from treering.observe.word_sets import word_set

__all__ = ["Purpose", "ShellCommand", "parse_command"]

_MAX_PATHS = 32
_PATCH_FILE = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b/)?)([^\n\t]{1,1024})", re.MULTILINE
)
_NOT_A_PATH = re.compile(r"[*?{}$`|<>=,;!^\n]|\.\.\.|^[-@~]|^\d|://")
_OPTION_VALUE = re.compile(r"--?[\w-]{1,40}=(.{1,1024})")
_TAKES_ANY_NAME = word_set(
    """
    cat head tail less more bat batcat nl tee touch cp mv rm source vim nano code chmod
    """
)
_SCRIPT_FIRST = word_set("sed awk gawk grep egrep fgrep rg ag ack jq yq perl zgrep ugrep ast-grep sg")
_MODE_FIRST = frozenset({"chmod", "chown", "chgrp"})
_REMOVED_MODE = re.compile(r"-[rwxXst]{1,6}")
_NAME_TESTS = frozenset({"-name", "-iname", "-path", "-ipath", "-regex", "-wholename"})
_INTERPRETERS = word_set("python node ruby php perl deno bun bash sh zsh")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A parsed shell command. Of several in a line, the main one decides `purpose` and `normal`."""

    purpose: Purpose
    normal: str
    paths: tuple[str, ...] = ()
    folder: str = ""  # folder of the project in which the main command runs, if the line changes into one
    pattern: str = ""  # of a search or a listing
    outside: str = ""  # label of outside content that it fetches


_NOTHING = ShellCommand(Purpose.OTHER, "")


def parse_command(text: str, root: str = "") -> ShellCommand:
    """Parse the first 4,096 characters of a shell command. Never raises, executes nothing, reads no file."""
    given: tuple[object, object] = (text, root)
    if not (isinstance(given[0], str) and isinstance(given[1], str)):
        return _NOTHING
    parsed = _parsed(text[:MAX_CHARACTERS], root)
    if len(text) > MAX_CHARACTERS and not parsed.outside and (label := outside_of_rest(text[MAX_CHARACTERS:])):
        return ShellCommand(parsed.purpose, parsed.normal, parsed.paths, parsed.folder, parsed.pattern, label)
    return parsed


@lru_cache(maxsize=1024)
def _parsed(text: str, root: str) -> ShellCommand:
    invocations = invocations_of(text, root)
    if not invocations:
        return _NOTHING
    main = _main(invocations)
    named = [i for i in invocations if i.purpose is main.purpose] if main.purpose is Purpose.EDIT else invocations
    paths = dict.fromkeys(chain.from_iterable(_paths(invocation, root) for invocation in named))
    return ShellCommand(
        purpose=main.purpose,
        normal=normal_form(main, root),
        paths=tuple(paths)[:_MAX_PATHS],
        folder=main.folder or "",
        pattern=_pattern(main),
        outside=next(filter(None, map(_outside, invocations)), ""),
    )


def _main(invocations: Sequence[Invocation]) -> Invocation:
    """The command that the line is about: of the highest rank; the last one of version control, else the first."""
    ranked = [(not i.skipped, not i.filters, RANKS[i.purpose]) for i in invocations]
    highest = max(ranked)
    places = [place for place, rank in enumerate(ranked) if rank == highest]
    return invocations[places[-1 if invocations[places[0]].purpose is Purpose.VCS else 0]]


def _paths(invocation: Invocation, root: str) -> tuple[str, ...]:
    """Files of the project that a command names."""
    if invocation.listed_only:
        return ()
    if invocation.read or invocation.written or invocation.text:
        return tuple(_named_paths(invocation, root))
    return _paths_of_words(
        tuple(invocation.words), invocation.program, invocation.pattern_place, invocation.folder, root
    )


@lru_cache(maxsize=1024)
def _paths_of_words(
    words: tuple[str, ...], program: str, pattern_place: int | None, folder: str | None, root: str
) -> tuple[str, ...]:
    """As `_paths`, of a command without redirections."""
    given = list(words)
    alone = Invocation(given, given, program, Purpose.OTHER, folder, pattern_place=pattern_place)
    return tuple(_named_paths(alone, root))


def _named_paths(invocation: Invocation, root: str) -> Iterator[str]:
    if invocation.folder is None:  # outside the project
        candidates: Iterator[str] = (word for word in _candidates(invocation) if word.startswith(root or "\n"))
    else:
        candidates = _candidates(invocation)
    for word in candidates:
        if (path := project_path(without_position(word), root, invocation.folder or "")) is not None:
            yield path


def _candidates(invocation: Invocation) -> Iterator[str]:
    words, program = invocation.words, invocation.program
    if words[0].startswith("./") and program not in ("gradle", "mvn"):
        yield words[0]
    if program in ("apply_patch", "patch") or (program == "git" and "apply" in words):
        yield from _PATCH_FILE.findall("\n".join((*words, invocation.text)))
    yield from (word for word in (*invocation.read, *invocation.written) if not _NOT_A_PATH.search(word))
    arguments = _file_arguments(invocation)
    if program == "cp":
        arguments = arguments[-1:]
    any_name = program in _TAKES_ANY_NAME
    for word in arguments:
        if word.startswith("-"):
            value = _OPTION_VALUE.fullmatch(word)
            if value and is_file_name(value[1]) and not _NOT_A_PATH.search(value[1]):
                yield value[1]
        elif len(word) <= 1024 and not _NOT_A_PATH.search(plain := without_position(word)):
            named = is_file_name(plain) or (any_name and not plain.endswith(("/", ".")))
            yield from (plain,) if plain and named else ()
    if program in ("curl", "wget"):
        yield from _download_targets(words)
    elif program == "git" and words[1:2] == ["clone"] and len(words) > 3 and ":" in words[-2]:
        yield words[-1]


def _file_arguments(invocation: Invocation) -> Sequence[str]:
    """The arguments that may be files: not the script of `sed`, the pattern of `grep`, or the name of a branch."""
    words, program = invocation.words[1:], invocation.program
    if program in _SCRIPT_FIRST:
        if invocation.pattern_place is not None:
            words = [
                word for place, word in enumerate(invocation.words) if place > 0 and place != invocation.pattern_place
            ]
        return words
    if program == "git":
        if "--" in words:
            return words[list(words).index("--") + 1 :]
        return () if "commit" in words[:3] else words
    if program in ("gh", "glab", "echo", "printf", "curl", "wget", "docker", "export", "ssh"):
        return [word for word in words if word.startswith("-")]
    if program in _INTERPRETERS and ({"-c", "-e"} & set(words[:2])):
        return ()
    return _without_mode(words) if program in _MODE_FIRST else words


def _without_mode(words: Sequence[str]) -> Sequence[str]:
    """The files of `chmod` or `chown`: a mode or an owner comes first, unless it is an option such as `-x`."""
    files = [word for word in words if not word.startswith("-")]
    return files if any(_REMOVED_MODE.fullmatch(word) for word in words) else files[1:]


def _download_targets(words: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(words[:-1]):
        if word in ("-o", "--output", "-O", "--output-document") or re.fullmatch(r"-[a-zA-Z]{1,8}o", word):
            target = words[place + 1]
            if "://" not in target and not target.startswith("-") and not _NOT_A_PATH.search(target):
                yield target
    if words[0].endswith("wget") or any(re.fullmatch(r"-[a-zA-NP-Z]*O|--remote-name", word) for word in words):
        for word in words:
            name = re.split(r"[?#]", word, maxsplit=1)[0].rpartition("/")[2] if "://" in word else ""
            if is_file_name(name):
                yield name


def _pattern(invocation: Invocation) -> str:
    if invocation.purpose is Purpose.SEARCH and invocation.pattern_place is not None:
        return invocation.words[invocation.pattern_place][:500]
    if invocation.purpose is Purpose.LIST:
        for test, value in zip(invocation.words, invocation.words[1:], strict=False):
            if test in _NAME_TESTS:
                return value[:500]
        if invocation.program in ("fd", "fdfind", "locate"):
            return next((word for word in invocation.words[1:] if not word.startswith("-")), "")[:500]
    return ""


def _outside(invocation: Invocation) -> str:
    if label := outside_of_words(invocation.program, invocation.inner[1:]):
        return label
    if invocation.program in _INTERPRETERS:
        return outside_of_code(invocation.program, "\n".join((*invocation.inner, invocation.text)))
    return ""
