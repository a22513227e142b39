"""`go.mod` and `go.work`: the directory of the project for an import path."""

import re

from treering.code.facts import Facts, SyntaxProblem
from treering.code.languages.go.body import GoBody, GoModule, directory_of
from treering.code.languages.paths import joined

_COMMENT = re.compile(r"//.*")
_WORD = re.compile(r'"[^"]*"|`[^`]*`|[^\s"`]+')


def read_manifest(path: str, source: bytes) -> Facts:
    """A `go.mod` without a module directive is a problem and has no content."""
    module, replaced, used = "", [], []
    home = directory_of(path)
    for verb, words in _directives(source.decode("utf-8", "replace")):
        if verb == "module" and words:
            module = words[0]
        elif verb == "use" and words:
            used.append(joined(home, words[0]))
        elif verb == "replace" and "=>" in words:
            target = words[words.index("=>") + 1 :]
            if words[0] != "=>" and target and target[0].startswith(("./", "../")):
                replaced.append((words[0], joined(home, target[0])))
    is_module = path.endswith("go.mod")
    problems = (SyntaxProblem(1, "go.mod names no module"),) if is_module and not module else ()
    return Facts(path, (), GoBody(module=GoModule(module, tuple(replaced), tuple(used))), problems)


def _directives(text: str) -> list[tuple[str, list[str]]]:
    """Return the `verb words` lines, with `verb ( … )` blocks expanded."""
    found, block = [], ""
    for line in text.splitlines():
        words = [word.strip('"`') for word in _WORD.findall(_COMMENT.sub("", line))]
        if not words:
            continue
        if block:
            if words[0] == ")":
                block = ""
            else:
                found.append((block, words))
        elif len(words) > 1 and words[1] == "(":
            block = words[0]
        else:
            found.append((words[0], words[1:]))
    return found
