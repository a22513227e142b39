"""The programs that a command line runs, without the wrappers around them, each with its purpose."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from treering.observe.paths import project_path
from treering.observe.programs import (
    MANAGER_VERBS,
    PACKAGE_MANAGERS,
    PROGRAMS,
    RANKS,
    RUNNERS,
    SUBCOMMANDS,
    TASK_RUNNERS,
    VALUE_OPTIONS,
    Purpose,
    purpose_of_name,
)
from treering.observe.shell import CommandSegment, is_assignment, split_segments
from treering.observe.word_sets import word_set

_MAX_DEPTH = 3
_MAX_INVOCATIONS = 64
_MAX_WRAPPERS = 16

_SKIPPED = word_set(
    """
    cd pushd popd export source . set unset alias echo printf true false sleep wait test [ [[ exit : clear date
    pwd read local declare typeset shopt ulimit trap type hash umask return break continue done fi esac for case
    select function } kill pkill jobs history tput whoami hostname uname id env
    """
)
_FILTERS = word_set(
    """
    tail head grep egrep fgrep rg ag awk gawk sed wc sort uniq tee cat less more jq yq cut tr column nl tac fold
    xargs perl xxd fmt paste
    """
)
_KEYWORDS = word_set(
    """
    then do else if elif while until ! { nohup exec command builtin caffeinate unbuffer setsid
    """
)
_VENV = re.compile(r"(?:^|/)(?:\.?v?env[\w.-]*|\.tox/[\w.-]+|node_modules)/(?:\.?bin|Scripts)/([\w.-]+)$")
_VERSIONED = re.compile(r"(python|pip|node|ruby|php|lua|gcc|g\+\+|clang)\d[\d.]*$")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_RUN_TASKS = frozenset({"mise", "hatch", "pdm"})
_SHELL_CODE = re.compile(r"-[a-z]*c$")
_WRAPPER_VALUES = {
    "sudo": frozenset({"-u", "-g", "-C", "-h", "-p"}),
    "doas": frozenset({"-u"}),
    "env": frozenset({"-u", "-C", "-S"}),
    "timeout": frozenset({"-k", "-s", "--signal", "--kill-after"}),
    "gtimeout": frozenset({"-k", "-s", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-o", "-e", "-i"}),
    "xargs": word_set("-n -I -P -L -d -s -a -E"),
    "xvfb-run": frozenset({"-s", "-n"}),
    "flock": frozenset({"-w"}),
    "arch": frozenset(),
    "time": frozenset({"-f", "-o"}),
}
_WRAPPER_OPERANDS = {"timeout": 1, "gtimeout": 1, "flock": 1}
_PATTERN_VALUES = word_set(
    """
    -A -B -C -m -g -t -T --type --type-not --glob --iglob --include --exclude --exclude-dir -d --max-depth -M
    --max-count --context --after-context --before-context -j --threads --sort
    """
)
_BY_WORD: Mapping[str, Mapping[str, Purpose]] = {
    "rg": {"--files": Purpose.LIST},
    "node": {"--test": Purpose.TEST},
    "git": {"grep": Purpose.SEARCH, "ls-files": Purpose.LIST},
}
_ALIASES = {
    "gradlew": "gradle",
    "./gradlew": "gradle",
    "./mvnw": "mvn",
    "mvnw": "mvn",
    "pip3": "pip",
    "nodejs": "node",
}
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|-i.{1,8}|--in-place.{0,10}")


class Invocation(NamedTuple):
    """One program with its arguments. `inner` are the words of the command that a runner such as `uv run` runs."""

    words: Sequence[str]
    inner: Sequence[str]
    program: str  # of the inner command
    purpose: Purpose
    folder: str | None  # inside the project; None: outside it
    skipped: bool = False  # only prepares others (`cd`, `export`, `echo`)
    filters: bool = False  # only shortens the output of others (`| tail`)
    written: Sequence[str] = ()
    read: Sequence[str] = ()
    text: str = ""  # heredoc
    pattern_place: int | None = None  # of a pattern or a script, in `words`
    listed_only: bool = False  # of a substitution: only its outside content counts


def invocations_of(text: str, root: str) -> list[Invocation]:
    """The programs of a command line in order, at most 64."""
    found: list[Invocation] = []
    _collect(text, root, "", 0, found)
    return found[:_MAX_INVOCATIONS]


def _collect(
    text: str, root: str, folder: str | None, depth: int, found: list[Invocation], *, nested: bool = False
) -> None:
    folders: list[str | None] = []
    for segment in split_segments(text):
        if len(found) >= _MAX_INVOCATIONS:
            return
        while len(folders) < segment.group:
            folders.append(folder)
        while len(folders) > max(0, segment.group):  # a parenthesis may be closed that was not opened
            folder = folders.pop()
        if depth < _MAX_DEPTH:
            for inner in segment.nested:
                _collect(inner, root, folder, depth + 1, found, nested=True)
        words = _unwrapped(segment.words)
        code = _shell_code(words)
        if code is not None and depth < _MAX_DEPTH:
            _collect(code, root, folder, depth + 1, found, nested=nested)
            continue
        if not words:
            if not (segment.written or segment.read) or segment.words:
                continue
            words = ["cat"]
        if words[0] in ("cd", "pushd"):
            folder = _changed(folder, words, root)
        found.append(_invocation(segment, words, folder, root, nested=nested))


def _changed(folder: str | None, words: Sequence[str], root: str) -> str | None:
    target = next((word for word in words[1:] if not word.startswith("-")), "~")
    if target.rstrip("/") == root.rstrip("/") or target in ("$CLAUDE_PROJECT_DIR", "$(git rev-parse --show-toplevel)"):
        return ""
    if target == ".":
        return folder
    if folder is None and not target.startswith("/"):
        return None
    inside = project_path(target, root, folder or "")
    if inside is None and folder and not target.startswith(("/", "~", "$")):
        steps = target.rstrip("/").split("/")
        if all(step == ".." for step in steps) and len(steps) == len(folder.split("/")):
            return ""
    return None if inside is None or "$" in target else inside


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """The words without assignments, keywords and wrappers such as `sudo` and `timeout 30`."""
    place = 0
    for _ in range(_MAX_WRAPPERS):
        while place < len(words) and (words[place] in _KEYWORDS or is_assignment(words[place])):
            place += 1
        if place >= len(words):
            break
        name = words[place].rpartition("/")[2]
        values = _WRAPPER_VALUES.get(name)
        if values is None or (name == "env" and place + 1 == len(words)):
            break
        place += 1
        place = _after_options(words, place, values)
        while name == "env" and place < len(words) and is_assignment(words[place]):
            place += 1
        place += _WRAPPER_OPERANDS.get(name, 0)
    return words[place:] if place else words


def _after_options(words: Sequence[str], place: int, values: frozenset[str]) -> int:
    while place < len(words) and words[place].startswith("-"):
        if words[place] == "--":
            return place + 1
        place += 2 if words[place] in values else 1
    return place


def _shell_code(words: Sequence[str]) -> str | None:
    """The code of `bash -lc '…'` and `eval …`."""
    if not words:
        return None
    if words[0] == "eval":
        return " ".join(words[1:])
    if words[0].rpartition("/")[2] in _SHELLS:
        for place, word in enumerate(words[1:6], start=1):
            if _SHELL_CODE.match(word) and place + 1 < len(words):
                return words[place + 1]
    return None


@lru_cache(maxsize=512)
def program_name(word: str) -> str:
    """The name of a program without its folder, if that is a virtual environment or absolute, and without a version."""
    if found := _VENV.search(word):
        word = found[1]
    elif word.startswith("/") or word.count("/") == 0:
        word = word.rpartition("/")[2]
    word = word.removesuffix(".exe")
    if found := _VERSIONED.match(word):
        word = found[1]
    return _ALIASES.get(word, word)


def _invocation(
    segment: CommandSegment, words: Sequence[str], folder: str | None, root: str, *, nested: bool
) -> Invocation:
    inner, program, purpose, pattern_place = _described(tuple(words))
    written = [
        target
        for target in segment.written
        if project_path(target, root, folder or "") is not None and folder is not None
    ]
    skipped = program in _SKIPPED
    filters = segment.after in ("|", "|&") and program in _FILTERS and purpose is not Purpose.EDIT
    if (written or (segment.text and segment.written)) and (
        skipped or purpose in (Purpose.READ, Purpose.SEARCH, Purpose.LIST, Purpose.OTHER)
    ):
        purpose, skipped, filters = Purpose.EDIT, False, False
    return Invocation(
        words=words,
        inner=inner,
        program=program,
        purpose=purpose,
        folder=folder,
        skipped=skipped or nested,
        filters=filters,
        written=written,
        read=segment.read,
        text=segment.text,
        pattern_place=pattern_place,
        listed_only=nested,
    )


@lru_cache(maxsize=1024)  # lines that differ often share commands, such as `cd …` and `tail -20`
def _described(words: tuple[str, ...]) -> tuple[Sequence[str], str, Purpose, int | None]:
    """The inner command, its program and purpose, and the place of a pattern in the words."""
    given = list(words)
    inner = inner_command(given)
    program = program_name(inner[0]) if inner else ""
    return inner, program, purpose_of_words(inner), _pattern_place(program, given)


def inner_command(words: Sequence[str]) -> Sequence[str]:
    """The command that runners such as `uv run`, `npx` and `docker exec` run; the words if there is none."""
    for _ in range(_MAX_DEPTH):
        name = program_name(words[0]) if words else ""
        rest = words[1:]
        if name == "docker" and rest[:1] == ["compose"]:
            name, rest = "docker-compose", rest[1:]
        verbs = RUNNERS.get(name)
        if verbs is None:
            return _module(words, name)
        values = VALUE_OPTIONS.get(name, frozenset())
        place = _after_options(rest, 0, values)
        if verbs:
            if place >= len(rest) or rest[place] not in verbs:
                return words
            place = _after_options(rest, place + 1, values)
        if name in ("docker", "docker-compose", "podman", "kubectl", "direnv") and rest[place - 1 : place] != ["--"]:
            place = _after_options(rest, place + 1, values)
        if name == "nix" and place < len(rest) and rest[place] in ("-c", "--command"):
            place += 1
        if place >= len(rest):
            return words
        words = rest[place:]
        if (code := _shell_code(words)) is not None:
            first = next((s for s in split_segments(code) if s.words and s.words[0] not in _SKIPPED), None)
            words = first.words if first else words
    return _module(words, program_name(words[0]) if words else "")


def _module(words: Sequence[str], name: str) -> Sequence[str]:
    """`python -m pytest …` is `pytest …`."""
    if name in ("python", "py", "pypy") and "-m" in words[1:5]:
        place = list(words).index("-m") + 1
        if place < len(words):
            return [words[place].split(".")[0], *words[place + 1 :]]
    if name == "coverage" and len(words) > 3 and words[1:3] == ["run", "-m"]:
        return words[3:]
    return words


def purpose_of_words(words: Sequence[str]) -> Purpose:
    """The purpose of a command without runners around it."""
    if not words:
        return Purpose.OTHER
    name = program_name(words[0])
    rest = words[1:]
    for rule in (_by_option, _by_manager, _by_subcommand, _by_target, _by_script):
        if (purpose := rule(name, rest)) is not None:
            return purpose
    return PROGRAMS.get(name.rpartition("/")[2], Purpose.OTHER)


def _by_option(name: str, rest: Sequence[str]) -> Purpose | None:
    """Options that change what a program does."""
    if name in ("sed", "perl") and any(_IN_PLACE.fullmatch(word) for word in rest[:6]):
        return Purpose.EDIT
    if name == "find" and ("-delete" in rest or "-exec" in rest or "-execdir" in rest):
        exec_place = next((place for place, word in enumerate(rest) if word in ("-exec", "-execdir")), None)
        inner = rest[exec_place + 1 :] if exec_place is not None else ["rm"]
        return purpose_of_words(inner) if inner and inner[0] != "find" else Purpose.LIST
    by_word = _BY_WORD.get(name)
    return next((purpose for word, purpose in by_word.items() if word in rest[:4]), None) if by_word else None


def _by_manager(name: str, rest: Sequence[str]) -> Purpose | None:
    """Package managers of JavaScript: their own verbs, and scripts by name."""
    if name not in PACKAGE_MANAGERS:
        return None
    verb, rest = _first_operand(name, rest)
    if verb in ("run", "run-script", "workspace", "workspaces", "foreach", "recursive"):
        verb, rest = _first_operand(name, rest)
        if verb == "run":
            verb, rest = _first_operand(name, rest)
        return _script_purpose(verb) if verb else Purpose.RUN
    if not verb:
        return Purpose.INSTALL
    return MANAGER_VERBS.get(verb) or PROGRAMS.get(verb) or _script_purpose(verb)


def _by_subcommand(name: str, rest: Sequence[str]) -> Purpose | None:
    if name == "docker" and rest[:1] == ["compose"]:
        name, rest = "docker-compose", rest[1:]
    if name in ("python", "php", "ruby") and rest and rest[0].rpartition("/")[2] in ("manage.py", "artisan", "rails"):
        name, rest = rest[0].rpartition("/")[2], rest[1:]
    elif name.rpartition("/")[2] in ("manage.py", "rails", "artisan"):
        name = name.rpartition("/")[2]
    elif name == "go" and rest[:1] == ["tool"] and "cover" in rest:
        return Purpose.READ
    subcommands = SUBCOMMANDS.get(name)
    if subcommands is None and name not in _RUN_TASKS:
        return None
    verb, after = _first_operand(name, rest)
    if name == "deno" and verb == "task":
        return _script_purpose(_first_operand(name, after)[0])
    if name in _RUN_TASKS and verb in ("run", "r"):
        return _script_purpose(_first_operand(name, after)[0])
    return subcommands.get(verb) if subcommands else None


def _by_target(name: str, rest: Sequence[str]) -> Purpose | None:
    """Targets and tasks: `make test`, `just lint`, `gradle :app:test`, `mvn verify`."""
    if name.removeprefix("./") not in TASK_RUNNERS and name not in ("nox", "tox"):
        return None
    values = VALUE_OPTIONS.get(name, frozenset())
    targets = []
    place = 0
    while place < len(rest):
        word = rest[place]
        if word.startswith("-"):
            place += 2 if word in values and name not in ("nox", "tox") else 1
            continue
        if not is_assignment(word):
            targets.append(word)
        place += 1
    if not targets:
        return Purpose.TEST if name in ("nox", "tox") else Purpose.BUILD
    purposes = [purpose_of_name(target.rpartition(":")[2] if name == "gradle" else target) for target in targets[:8]]
    purpose = max(purposes, key=lambda purpose: RANKS[purpose])
    return Purpose.TEST if purpose is Purpose.RUN and name in ("nox", "tox") else purpose


def _by_script(name: str, rest: Sequence[str]) -> Purpose | None:
    """Scripts by their names: `./scripts/test.sh`, `python tools/migrate.py`."""
    if name in ("python", "node", "ruby", "php", "bash", "sh", "zsh", "tsx", "ts-node", "deno", "perl"):
        script = next((word for word in rest[:6] if not word.startswith("-")), "")
        if {"-c", "-e", "-p", "-"} & set(rest[:3]) or not script:
            return Purpose.RUN
        return _script_purpose(script)
    if "/" in name:
        return PROGRAMS.get(name.rpartition("/")[2]) or _script_purpose(name)
    return None


def _script_purpose(name: str) -> Purpose:
    return purpose_of_name(name.rpartition("/")[2].partition(".")[0])


def _first_operand(name: str, rest: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The first word that is neither an option nor the value of one, and the words after it."""
    place = _after_options(rest, 0, VALUE_OPTIONS.get(name, frozenset()))
    return (rest[place], rest[place + 1 :]) if place < len(rest) else ("", ())


_SEARCHES = word_set("grep egrep fgrep rg ag ack zgrep ugrep git sed awk gawk jq yq perl ast-grep sg")


def _pattern_place(program: str, words: Sequence[str]) -> int | None:
    """Place of the pattern of a search or the script of a filter."""
    if program not in _SEARCHES or (program == "git" and "grep" not in words[1:4]):
        return None
    place = list(words).index("grep") + 1 if program == "git" else 1
    while place < len(words):
        word = words[place]
        if word in ("-e", "--regexp", "--expression", "-p", "--pattern"):
            return place + 1 if place + 1 < len(words) else None
        if word in _PATTERN_VALUES:
            place += 2
        elif word.startswith("-") and len(word) > 1:
            if program == "sed" and word in ("-i", "-E") and place + 1 < len(words) and words[place + 1] == "":
                place += 1
            place += 1
        else:
            return place
    return None
