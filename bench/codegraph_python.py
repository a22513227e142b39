"""What Python itself and a language server say of a folder of packages: imports, definitions, calls.

Imports are read by the standard library's parser and follow the import system's rules; every call is put to
basedpyright as a "go to definition". `python -m bench.codegraph_python FOLDER PACKAGE` prints what grimp says.
"""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from bench.codegraph_scoring import Pair

Named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MODULE = "<module>"
BATCH = 40
"""Questions on their way at once: fewer than a pipe holds."""


class Call(NamedTuple):
    caller: str
    name: str
    line: int
    column: int
    """In bytes, as the parser counts."""
    decorates: str | None
    """The definition that is decorated, where the call stands in a decorator."""


def sources(root: Path) -> dict[str, ast.Module]:
    return {
        path.relative_to(root).as_posix(): ast.parse(path.read_bytes())
        for path in sorted(root.rglob("*.py"))
        if path.is_file()
    }


def modules(files: Iterator[str] | dict[str, ast.Module]) -> dict[str, str]:
    """Files by the name that they are imported under, from a folder of packages."""
    return {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in files}


def imports(trees: dict[str, ast.Module]) -> set[Pair]:
    """Which file's imports reach which files: the submodule where there is one, else the module it is taken from."""
    known = modules(trees)
    reached: set[Pair] = set()
    for path, tree in trees.items():
        for node in ast.walk(tree):
            reached.update((path, known[name]) for name in _imported(node, path, known) if name in known)
    return {(path, target) for path, target in reached if path != target}


def _imported(node: ast.AST, path: str, known: dict[str, str]) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=module, names=names, level=level):
            package = path.split("/")[:-1]
            above = package[: len(package) - level + 1] if level else []
            base = ".".join([*above, *([module] if module else [])])
            for alias in names:
                submodule = f"{base}.{alias.name}"
                yield submodule if submodule in known else base
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            yield name


def definitions(path: str, tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """The id, the kind and the line of everything that is named."""
    waiting: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while waiting:
        node, around, in_class = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Named):
                qualname = f"{around}.{child.name}" if around else child.name
                is_class = isinstance(child, ast.ClassDef)
                yield f"{path}::{qualname}", "class" if is_class else "method" if in_class else "function", child.lineno
                waiting.append((child, qualname, is_class))
            else:
                waiting.append((child, around, in_class))


def calls(path: str, tree: ast.Module) -> Iterator[Call]:
    """Every call of something with a name, and every decorator, which is called without being written as a call.

    What stands in a definition's head is run by the code around it.
    """
    waiting: list[tuple[ast.AST, str, str | None]] = [(tree, MODULE, None)]
    decorators: set[int] = set()
    while waiting:
        node, caller, decorates = waiting.pop()
        called = node.func if isinstance(node, ast.Call) else node if id(node) in decorators else None
        match called:
            case ast.Name(id=name, lineno=line, col_offset=column):
                yield Call(f"{path}::{caller}", name, line, column, decorates)
            case ast.Attribute(attr=name, end_lineno=int(line), end_col_offset=int(end)):
                yield Call(f"{path}::{caller}", name, line, end - len(name.encode()), decorates)
        if not isinstance(node, Named):
            waiting += [(child, caller, decorates) for child in ast.iter_child_nodes(node)]
            continue
        inner = node.name if caller == MODULE else f"{caller}.{node.name}"
        waiting += [(each, caller, f"{path}::{inner}") for each in node.decorator_list]
        body = set(map(id, node.body))
        decorators.update(map(id, node.decorator_list))
        for child in ast.iter_child_nodes(node):
            if id(child) not in decorators:
                waiting.append((child, inner if id(child) in body else caller, decorates))


class LanguageServer:
    """Answers where a name is defined."""

    def __init__(self, programs: Path, root: Path) -> None:
        self._programs, self._root, self._last = programs, root, 0

    def __enter__(self) -> Self:
        command = [str(self._programs / "basedpyright-langserver"), "--stdio"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        folder = {"uri": self._root.as_uri(), "name": self._root.name}
        hello = {
            "processId": os.getpid(),
            "rootUri": folder["uri"],
            "workspaceFolders": [folder],
            "capabilities": {"workspace": {"configuration": True}},
        }
        self._answers([self._ask("initialize", hello)])
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._pipe(self._process.stdin).close()
        self._pipe(self._process.stdout).close()

    def defined(self, path: Path, places: list[tuple[int, int]]) -> list[list[tuple[str, int]]]:
        """For each place (line from 1, column in bytes), the files and lines of what stands there."""
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        document = {"uri": path.as_uri()}
        opened = {**document, "languageId": "python", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})
        found: list[list[tuple[str, int]]] = []
        for start in range(0, len(places), BATCH):
            asked = [
                self._ask(
                    "textDocument/definition",
                    {
                        "textDocument": document,
                        "position": {"line": line - 1, "character": _utf16(lines[line - 1], column)},
                    },
                )
                for line, column in places[start : start + BATCH]
            ]
            found += [_locations(answer) for answer in self._answers(asked)]
        self._send({"method": "textDocument/didClose", "params": {"textDocument": document}})
        return found

    def _ask(self, method: str, params: dict[str, Any]) -> int:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return self._last

    def _answers(self, asked: list[int]) -> list[Any]:
        answers: dict[int, Any] = {}
        while len(answers) < len(asked):
            told = self._receive()
            if "method" not in told:
                answers[told["id"]] = told.get("result")
            elif "id" in told:
                self._send({"id": told["id"], "result": self._settings(told)})
        return [answers[number] for number in asked]

    def _settings(self, told: dict[str, Any]) -> list[dict[str, str]] | None:
        """The server asks back: it reads with an interpreter that has no packages."""
        if told["method"] != "workspace/configuration":
            return None
        python = {"pythonPath": str(self._programs / "python")}
        return [python if item.get("section") == "python" else {} for item in told["params"]["items"]]

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        pipe = self._pipe(self._process.stdin)
        pipe.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        pipe.flush()

    def _receive(self) -> dict[str, Any]:
        pipe, length = self._pipe(self._process.stdout), 0
        while header := pipe.readline().strip():
            name, _, value = header.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise RuntimeError("the language server stopped")
        received: dict[str, Any] = json.loads(pipe.read(length))
        return received

    def _pipe(self, pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def _locations(answer: Any) -> list[tuple[str, int]]:
    listed = answer if isinstance(answer, list) else [answer] if answer else []
    return [(each["uri"], each["range"]["start"]["line"] + 1) for each in listed]


def _utf16(line: str, column: int) -> int:
    return len(line.encode()[:column].decode(errors="ignore").encode("utf-16-le")) // 2


def truth(root: Path, programs: Path) -> str:
    """Everything of a folder of packages, as `codegraph_scoring.read_truth` reads it."""
    trees = sources(root)
    defined = [(path, *each) for path, tree in trees.items() for each in definitions(path, tree)]
    at = {((root / path).as_uri(), line): id for path, id, _, line in defined}
    own = {(root / path).as_uri() for path in trees}
    edges: set[Pair] = set()
    optional: set[Pair] = set()
    sites: list[tuple[str, str, str]] = []
    with LanguageServer(programs, root) as server:
        for path, tree in trees.items():
            asked = list(calls(path, tree))
            found = server.defined(root / path, [(call.line, call.column) for call in asked])
            for call, places in zip(asked, found, strict=True):
                targets = [at[place] for place in places if place in at]
                sites.append((call.caller, call.name, _status(targets, places, own)))
                if call.decorates is not None:
                    optional |= {(origin, target) for origin in (call.caller, call.decorates) for target in targets}
                else:
                    edges |= {(call.caller, target) for target in targets}
    return json.dumps(
        {
            "files": sorted(trees),
            "kinds": {id: kind for _, id, kind, _ in defined},
            "imports": sorted(imports(trees)),
            "calls": sorted(edges),
            "optional": sorted(optional),
            "sites": sites,
        }
    )


def _status(targets: list[str], places: list[tuple[str, int]], own: set[str]) -> str:
    if targets:
        return "in"
    if not places:
        return "none"
    return "var" if any(uri in own for uri, _ in places) else "ext"


def imports_by_grimp(root: Path, package: str) -> set[Pair]:
    """In a process of its own, where the package is found in `root` and not where it may be installed."""
    command = [sys.executable, "-m", "bench.codegraph_python", str(root), package]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(root)}
    )
    return {(origin, target) for origin, target in json.loads(done.stdout)}


def _grimp(root: Path, package: str) -> list[Pair]:
    import grimp

    known = modules(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    graph = grimp.build_graph(package, cache_dir=None)
    return sorted(
        (known[module], known[target])
        for module in graph.modules
        for target in graph.find_modules_directly_imported_by(module)
    )


if __name__ == "__main__":
    print(json.dumps(_grimp(Path(sys.argv[1]), sys.argv[2])))
