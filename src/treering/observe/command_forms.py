"""The normal form of a command: what is left when everything that varies between runs of it is removed."""

import re
from collections.abc import Mapping, Sequence

from treering.observe.fetching import host_of
from treering.observe.invocations import Invocation, program_name
from treering.observe.paths import project_path
from treering.observe.programs import Purpose
from treering.observe.word_sets import word_set

_MAX_CHARACTERS = 200
_MAX_WORD = 80

_NOISE = word_set(
    """
    -v -vv -vvv -q -qq --verbose --quiet --silent -s -x --color --no-color --colors --colour --nocapture
    --show-output --no-header --no-summary --bail --exitfirst --ff --lf --last-failed --failed-first --progress
    --no-progress -ra -rA -rf --full-trace --durations --no-cov --forceExit --no-coverage --ci
    --detectOpenHandles --no-daemon --console=plain --stacktrace --info --batch-mode -B --offline --no-pager
    --no-audit --no-fund --prefer-offline -l -ls -sv -vs -xvs -vx -xv -xq -qx -xvv -svx --show-locals
    --showlocals -i -k -n --keep-going --no-print-directory
    """
)
_NOISE_VALUES = re.compile(
    r"-(?:count|timeout|parallel|p|cpu|json|test\.v)=.*|--(?:color|colors|colour|tb|durations|maxfail|timeout|reporter"
    r"|reporters|output-format|message-format|format|max-warnings|maxWorkers|workers|jobs|parallel|retries|log-level"
    r"|capture|cov-report|junitxml|testTimeout|pool|cache-dir|output|message)=.*|-[jn]\d++|-D?[jT]\d++\w?|-?-maxfail\d*+"
)
_TAKEN_VALUES = word_set(
    """
    --tb --maxfail --timeout -timeout -count -cpu -parallel --reporter --reporters --max-warnings --maxWorkers
    --workers --jobs --retries --log-level --durations --testTimeout -j --output-format --message-format
    --junitxml
    """
)
# Options that mean something else to these programs than to most.
_KEPT: Mapping[str, frozenset[str]] = {
    "pytest": frozenset({"-k", "-n", "-i"}),
    "nox": frozenset({"-s", "-k", "-l"}),
    "make": frozenset({"-B", "-n"}),
    "go": frozenset({"-x"}),
    "sed": frozenset({"-i", "-n", "-s"}),
    "perl": frozenset({"-i", "-n"}),
    "curl": frozenset({"-k", "-i"}),
    "cargo": frozenset({"-p"}),
    "gradle": frozenset({"-x"}),
    "kubectl": frozenset({"-n", "-k"}),
    "ls": frozenset({"-l"}),
}
_WITH_VALUE: Mapping[str, frozenset[str]] = {
    "go": word_set("-run -bench -tags -skip -fuzz -ldflags -C -o -coverpkg"),
    "pytest": word_set("-k -m -p -c -o -n --cov --ignore --deselect --rootdir --confcutdir"),
    "jest": frozenset(["-t", "--testNamePattern", "-c", "--config", "--testPathPattern", "--selectProjects"]),
    "vitest": frozenset(["-t", "--testNamePattern", "-c", "--config", "--project", "--dir"]),
    "cargo": word_set("-p --package --test --bin --features --manifest-path --example --lib-name"),
    "dotnet": frozenset(["--filter", "-c", "--configuration", "-f", "--framework", "--project"]),
    "mypy": frozenset(["-p", "-m", "--config-file"]),
    "ruff": frozenset(["--select", "--ignore", "--config"]),
    "eslint": frozenset(["-c", "--config", "--ext"]),
    "tsc": frozenset(["-p", "--project"]),
}
_REORDERED = frozenset({Purpose.TEST, Purpose.LINT, Purpose.TYPECHECK, Purpose.FORMAT, Purpose.BUILD})
_SCRIPTED = frozenset(["sed", "awk", "gawk", "perl", "jq", "yq"])
_COUNT = re.compile(r"-n?\d++|\+\d++|-[nc]")
_MESSAGE = re.compile(r"--(?:message|title|body|body-file|notes|description|author|date)(?:=.*)?|-[a-z]{0,3}m|-F|-b|-t")
_VCS_FLAGS = re.compile(
    r"--(?:amend|force|force-with-lease|hard|soft|staged|cached|no-verify|rebase|continue|abort|skip|no-edit|all|tags"
    r"|prune|stat|oneline|squash|delete|no-ff|merge|fixup|theirs|ours|detach|recursive|init|fill|draft|web|admin)|-b|-d|-D|-u|-p|-f"
)
_VCS_WORDS = word_set(
    """
    main master develop origin upstream HEAD pop push list apply drop add remove update prune set-url get-url
    start good bad reset view create merge checkout diff checks edit comment close reopen ready review run
    download api status watch rerun clone
    """
)
_TEMPORARY = re.compile(r"/tmp\b|/var/(?:tmp|folders)\b|/private/(?:tmp|var)\b|\$\{?TMPDIR\b|/dev/shm\b|%TEMP%")
_IDENTIFIER = re.compile(
    r"(?i)\b(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}|\d{5,40})\b"
)
_INVARIABLE = re.compile(r"[A-Za-z_.,:=+@-]{1,35}")  # most words: options, subcommands and names without digits
_DIGIT = re.compile(r"\d")
_UUID = 36  # characters; shorter identifiers have a digit


def normal_form(invocation: Invocation, root: str) -> str:
    """The command without wrappers, redirections, display options and varying arguments, at most 200 characters."""
    words = _words(invocation, root)
    if invocation.written and invocation.purpose is Purpose.EDIT:
        words += [">", *(_plain(word, root, invocation.folder) for word in invocation.written[:2])]
    elif invocation.text and len(words) == 1:
        words.append("-")
    text = " ".join(words)
    return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1].rstrip()}…"


def _words(invocation: Invocation, root: str) -> list[str]:
    first = _plain(program_name(invocation.words[0]), root, invocation.folder)
    if invocation.purpose is Purpose.VCS:
        return [first, *_of_version_control(invocation.words[1:])]
    if invocation.purpose is Purpose.NETWORK:
        return [first, *_of_download(invocation.words[1:])]
    if invocation.words[0] != invocation.inner[0] or len(invocation.words) != len(invocation.inner):
        # `uv run pytest …`: options after the runner's own words belong to the inner program.
        outer = len(invocation.words) - len(invocation.inner)
        head = [_plain(program_name(word), root, invocation.folder) for word in invocation.words[1:outer]]
        return (
            [first, *head, *_arguments(invocation, outer, root)]
            if outer > 0
            else [first, *_arguments(invocation, 1, root)]
        )
    return [first, *_arguments(invocation, 1, root)]


def _arguments(invocation: Invocation, begin: int, root: str) -> list[str]:
    program, words = invocation.program, invocation.words
    kept, valued = _KEPT.get(program, frozenset()), _WITH_VALUE.get(program, frozenset())
    reordered = invocation.purpose in _REORDERED and bool(valued)
    operands: list[str] = []
    options: list[str] = []
    place = begin
    while place < len(words):
        word = words[place]
        place += 1
        if word in _TAKEN_VALUES:
            place += 1
            continue
        if word.startswith("-") and len(word) > 1:
            if program in ("head", "tail") and _COUNT.fullmatch(word):
                place += word in ("-n", "-c")
                continue
            if (word in _NOISE and word not in kept) or _is_noise_value(word):
                continue
            target = options if reordered else operands
            target.append(_plain(word, root, invocation.folder))
            if word in valued and place < len(words):
                target.append(_plain(words[place], root, invocation.folder))
                place += 1
            if word == "--":
                target.extend(_plain(rest, root, invocation.folder) for rest in words[place:] if rest not in _NOISE)
                break
        elif place - 1 == invocation.pattern_place and program in _SCRIPTED:
            continue
        else:
            operands.append(_plain(word, root, invocation.folder))
    while options[-1:] == ["--"] or operands[-1:] == ["--"]:
        (options if options[-1:] == ["--"] else operands).pop()
    return [*operands, *options]


def _is_noise_value(word: str) -> bool:
    may_be = "=" in word or word[1] in "jnDT" or "maxfail" in word  # most options are neither
    return may_be and _NOISE_VALUES.fullmatch(word) is not None


def _plain(word: str, root: str, folder: str | None) -> str:
    """A word without what varies: files of the project relative, others shortened."""
    if _INVARIABLE.fullmatch(word) and not (root and word.startswith(root)):
        return word
    if "\n" in word or len(word) > _MAX_WORD or "$(" in word or "`" in word or ("://" in word and " " in word):
        if (path := project_path(word, root)) is None or "\n" in word:
            return "<text>"
        return path
    if "://" in word:
        return f"<url {host_of(word)}>" if host_of(word) else "<url>"
    if _TEMPORARY.search(word):
        return "<tmp>"
    if root and word.startswith(root):
        word = project_path(word, root) or "."
    if len(word) >= _UUID or _DIGIT.search(word):  # most words have no identifier
        word = _IDENTIFIER.sub("<id>", word)
    return f"'{word}'" if " " in word or not word else word


def _of_version_control(words: Sequence[str]) -> list[str]:
    """The subcommand and what changes its effect; names of branches and files, messages and numbers vary."""
    kept: list[str] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word == "--":
            break
        if word in ("-C", "-c", "-R", "--repo"):
            place += 1
        elif _MESSAGE.fullmatch(word) and len(kept) > 0:
            if word == "-b" and kept[:1] in (["checkout"], ["switch"]):
                kept.append(word)
                continue
            place += "=" not in word
        elif word.startswith("-"):
            if _VCS_FLAGS.fullmatch(word):
                kept.append(word)
        elif not kept or (word in _VCS_WORDS and len(kept) < 6):
            kept.append(word)
    return kept


def _of_download(words: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for place, word in enumerate(words):
        if word in ("-X", "--request") and place + 1 < len(words):
            kept += ["-X", words[place + 1][:10]]
        elif "://" in word or (not word.startswith("-") and "/" in word and "." in word.partition("/")[0]):
            path = re.split(r"[?#]", word.partition("://")[2] or word, maxsplit=1)[0]
            kept.append(_IDENTIFIER.sub("<id>", path[:_MAX_WORD]))
        elif word.startswith("localhost"):
            kept.append(word[:_MAX_WORD])
    return kept[:4]
