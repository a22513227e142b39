"""Failures of compilers, type checkers, linters and formatters, which name a file and a position."""

import re
from collections.abc import Mapping

from treering.observe.errors.findings import Finding

_DIAGNOSTIC = re.compile(
    r"^\s{0,4}(?P<file>[^\s:()'\"<>|][^:()'\"<>|\n]{0,250}?\.(?P<kind>\w{1,8}))"
    r"(?::\d+(?::\d+)?(?:-\d+)?|\(\d+(?:,\d+)?(?:,\d+,\d+)?\)):?(?: -)? (?P<message>\S[^\n]*)$",
    re.MULTILINE,
)
_SEVERE = re.compile(
    r"(?:fatal |syntax |internal compiler )?error\b(?: ?(?:\w{2,6}\d{3,5}|\[\w+\]))?: ?", re.IGNORECASE
)
_MILD = re.compile(r"(?:warning|note|info|information|hint|help|style|refactor|convention)\b", re.IGNORECASE)
_CODE = re.compile(r"(?:\[?[A-Z]{1,5}\d{2,5}\]?:? |\[[\w.-]{2,40}\] )(?:\[\*\] )?")
_LINTER = re.compile(r" \([\w-]{2,40}\)$")
_RUFF = re.compile(r"^([A-Z]{1,5}\d{3,4}|invalid-syntax):? (?:\[\*\] )?([^\n]+)\n\s{1,8}--> ", re.MULTILINE)
_TY = re.compile(r"^error\[([a-z-]{3,60})\]: ([^\n]+)", re.MULTILINE)
_ESLINT = re.compile(r"^\s{1,8}\d+:\d+\s+error\s+(\S[^\n]{0,400}?)(?:\s{2,}([@\w/-]{2,60}))?$", re.MULTILINE)
_BIOME = re.compile(r"^\S+:\d+:\d+ ((?:lint|parse|format|assist)/?[\w/]{0,60}) ", re.MULTILINE)
_FORMAT = re.compile(
    r"^(?:would reformat|Would reformat:|error: would reformat|\[(?:warn|error)\]) (\S[^\n]*)$|^(Diff in \S+)",
    re.MULTILINE,
)
_FORMAT_COUNT = re.compile(r"Code style issues found|files? would be reformatted|would be reformatted|run `?\w+ fmt")
_LINK = re.compile(
    r"undefined reference to [^\n]{1,200}|undefined symbols? for [^\n]{1,200}|cannot find -l\w+"
    r"|ld: [^\n]{1,200}not found[^\n]{0,80}",
    re.IGNORECASE,
)
_CMAKE = re.compile(r"^CMake Error(?: at [^\n:]{1,200}:\d+)?[^\n:]{0,80}:?\s*\n?\s*([^\n]+)", re.MULTILINE)
_MAVEN = re.compile(
    r"^\[ERROR\] (?!(?:-> |To see|Re-run|For more|After correcting|COMPILATION|Tests run|Failures: ?$|Errors: ?$"
    r"|Help|\[Help))(\S[^\n]*)$",
    re.MULTILINE,
)
_MAVEN_TEST = re.compile(r"^\[ERROR\]\s+(?:Failures:|Errors:)?\s*([\w$.]+\.\w+):\d+ (\S[^\n]*)$", re.MULTILINE)
_MAVEN_POSITION = re.compile(r"^\S+\.\w+:\[\d+,\d+\] (?:error: )?")
_GRADLE = re.compile(r"^\* What went wrong:\n([^\n]+)(?:\n\s*> ([^\n]+))?", re.MULTILINE)
_GRADLE_TEST = re.compile(r"^(\w[\w.$]+ > [^\n]{1,200}?) FAILED\n\s+(\S[^\n]*)", re.MULTILINE)
_KOTLIN = re.compile(r"^e: (?:file://)?\S+?(?::\d+:\d+|: \(\d+, \d+\):?) ([^\n]+)$", re.MULTILINE)
_JAVA = re.compile(
    r"^(?:Exception in thread \"[^\"\n]{0,100}\" |Caused by: )?((?:javax?|org|com|kotlinx?|scala|io|net"
    r"|jakarta)\.(?:\w+\.)*[A-Z]\w*(?:Exception"
    r"|Error)(?:: [^\n]*)?)$",
    re.MULTILINE,
)
_RUBY = re.compile(r"^\S+\.rb:\d+:in [`'][^'\n]{1,200}': ([^\n]+)$", re.MULTILINE)
_RSPEC = re.compile(r"^\s{2}1\) ([^\n]{1,300})\n\s+(?:Failure/Error: [^\n]*\n(?:\s*\n)?)?\s*(\S[^\n]*)", re.MULTILINE)
_PHP = re.compile(
    r"^(?:PHP )?(?:Fatal error|Parse error|Uncaught \w+):\s+([^\n]+?)(?: in \S+(?: on line \d+|:\d+))?$", re.MULTILINE
)
_PHPUNIT = re.compile(r"^1\) ([\w\\]+::\w+[^\n]{0,200})\n([^\n]+)", re.MULTILINE)

_BY_KIND: Mapping[str, str] = {
    **dict.fromkeys(("ts", "tsx", "mts", "cts", "vue", "svelte", "astro"), "typescript"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("py", "pyi"), "python lint"),
    **dict.fromkeys(("c", "cc", "cpp", "cxx", "h", "hpp", "m", "mm", "cu"), "c"),
    **dict.fromkeys(("java", "kt", "kts", "scala"), "java"),
    **dict.fromkeys(("cs", "fs", "vb", "csproj", "fsproj"), "dotnet"),
    "go": "go lint",
    "rs": "rust",
    "swift": "swift",
}


def find_diagnostic(text: str) -> Finding | None:
    """The first error with a file and a position; a warning only if there is no error."""
    mild: Finding | None = None
    for found in _DIAGNOSTIC.finditer(text):
        dialect = _BY_KIND.get(found["kind"].lower())
        message = found["message"]
        if dialect is None:
            if not _SEVERE.match(message):
                continue
            dialect = "lint"
        if not (_SEVERE.match(message) or _CODE.match(message) or _LINTER.search(message)):
            continue
        if _MILD.match(message):
            mild = mild or Finding(dialect, message, at=found.start())
            continue
        return Finding(dialect, _plain(message), at=found.start())
    return mild


def _plain(message: str) -> str:
    """The message without its severity, with its code."""
    return message[6:].lstrip(": ") if message.lower().startswith("error:") else message.replace(" [*]", "", 1)


def find_lint(text: str) -> Finding | None:
    """Errors of linters whose lines do not begin with a file."""
    if found := _RUFF.search(text) or _TY.search(text):
        return Finding("python lint", f"{found[1]} {found[2]}", at=found.start())
    if found := _ESLINT.search(text):
        return Finding("eslint", f"{found[1]} ({found[2]})" if found[2] else found[1], at=found.start())
    if found := _BIOME.search(text):
        return Finding("javascript", found[1], at=found.start())
    return None


def find_format(text: str) -> Finding | None:
    """Files that a formatter would change. Which ones does not matter: the fix is to run it."""
    found = _FORMAT.search(text)
    if found is None and _FORMAT_COUNT.search(text) is None:
        return None
    tool = "Prettier" if "[warn]" in text else "rustfmt" if found and found[2] else "formatter"
    return Finding("format", f"files are not formatted ({tool})", at=found.start() if found else 0, minor=True)


def find_native(text: str) -> Finding | None:
    """Errors of linkers and of CMake."""
    if found := _LINK.search(text):
        return Finding("c", found[0], at=found.start())
    found = _CMAKE.search(text)
    return Finding("cmake", found[1], at=found.start()) if found else None


def find_java(text: str) -> Finding | None:
    """Failures of Gradle, Maven and the Java virtual machine."""
    if found := _GRADLE_TEST.search(text):
        return Finding("gradle", found[2], (found[1],), found.start(), general=True)
    if found := _KOTLIN.search(text):
        return Finding("java", found[1], at=found.start())
    if found := _MAVEN_TEST.search(text):
        return Finding("maven", found[2], (found[1],), found.start(), general=True)
    if found := _MAVEN.search(text):
        return Finding("maven", _MAVEN_POSITION.sub("", found[1]), at=found.start())
    if found := _GRADLE.search(text):
        return Finding("gradle", found[2] or found[1], at=found.start())
    found = _JAVA.search(text)
    return Finding("java", found[1], at=found.start()) if found else None


def find_ruby(text: str) -> Finding | None:
    if found := _RSPEC.search(text):
        return Finding("rspec", found[2], (found[1].strip(),), found.start(), general=True)
    found = _RUBY.search(text)
    return Finding("ruby", found[1], at=found.start()) if found else None


def find_php(text: str) -> Finding | None:
    if found := _PHPUNIT.search(text):
        return Finding("phpunit", found[2], (found[1].strip(),), found.start(), general=True)
    found = _PHP.search(text)
    return Finding("php", found[1], at=found.start()) if found else None
