"""Paths of the project that tool calls, commands and error messages name. Purely lexical: no file is looked at."""

import re
from functools import lru_cache

from treering.core.values import PATH_BYTES
from treering.observe.word_sets import word_set

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_POSITION = re.compile(r"(?<=\w)(?:::.*+|:\d++(?:[:-]\d++)*+:?|\(\d++(?:,\s?\d++)?\):?|#L\d++(?:-L?\d++)?)$")

FILE_NAMES = word_set(
    """
    Makefile makefile GNUmakefile Dockerfile Containerfile Jenkinsfile Vagrantfile Procfile Rakefile Gemfile Justfile
    justfile Taskfile Brewfile Tiltfile Earthfile Caddyfile Podfile Pipfile Fastfile BUILD WORKSPACE LICENSE LICENCE
    README CHANGELOG NOTICE AUTHORS CODEOWNERS VERSION
    """
)
"""Names of files without an extension."""

EXTENSIONS = word_set(
    """
    astro adoc asm avsc awk bash bat bazel bib bicep bzl c cc cfg cjs clj cljs cmake cmd conf cpp cs cshtml
    csproj css csv cts cu cxx d dart db diff dockerfile dtd ejs el elm eml env erb erl ex exs f90 feature fish
    fs fsproj fsx gif gleam go gohtml gotmpl gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm html
    http hxx iml ini ipynb j2 jar java jinja jinja2 jl jpeg jpg js json json5 jsonc jsonl jsp jsx kt kts less
    lean liquid lock log lua m make mako md mdc mdx mermaid mjs mk ml mli mm mod move mts mustache nim nix njk
    nomad odt org out patch pdf php pl plist pm png po pom pot prisma properties proto ps1 psm1 pug puml py pyi
    pyx qml r rb rbs rego res resx rkt rmd ron rs rst sass sbt scala scm scss sh sln sol sql sqlite styl sum sv
    svelte svg swift tcl templ tex text tf tfvars thrift tmpl toml tpl ts tsbuildinfo tsv tsx twig txt typ v vb
    vbproj vhd vim vue wasm webp work wsdl xaml xhtml xml xsd xsl yaml yml zig zsh
    """
)
"""Extensions by which a word of a command is recognised as a file."""


@lru_cache(maxsize=4096)
def _resolved(path: str, root: str, folder: str) -> str | None:
    path, root = _with_slashes(path), _with_slashes(root).rstrip("/")
    if path.startswith("/") or _DRIVE.match(path):
        if not root:
            return None
        inside = path.removeprefix(root)
        if inside is path or not inside.startswith("/"):
            if not (_DRIVE.match(path) and path.lower().startswith(f"{root.lower()}/")):
                return None
            inside = path[len(root) :]
        steps: list[str] = []
    else:
        inside = path
        steps = folder.split("/") if folder else []
    for step in inside.split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    plain = "/".join(steps)
    if not plain or plain[0] == "~" or "\\" in plain or not plain.isprintable() or _DRIVE.match(f"{plain}/"):
        return None
    return plain if len(plain.encode("utf-8", "replace")) <= PATH_BYTES else None


def _with_slashes(path: str) -> str:
    """Windows paths with forward slashes; a backslash in another path is part of a name."""
    return path.replace("\\", "/") if _DRIVE.match(path) or "/" not in path else path


def project_path(path: object, root: str, folder: str = "") -> str | None:
    """The path relative to `root`, None if it is not a path inside it. Relative paths start at `folder`."""
    if not isinstance(path, str) or not 0 < len(path) <= 2 * PATH_BYTES or len(root) > 2 * PATH_BYTES:
        return None
    path = path.strip()
    if path.startswith("file://"):
        path = path[7:]
    return _resolved(path, root, folder) if path and path.isprintable() and "://" not in path else None


def without_position(path: str) -> str:
    """The path without a line, a column or the name of a test (`a.py:12`, `a.ts(3,4)`, `a.py::test_x`)."""
    return _POSITION.sub("", path) if ":" in path or "(" in path or "#" in path else path


def is_file_name(word: str) -> bool:
    """Does the last part of the word look like a file name, by its extension or as a known name?"""
    name = word.rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    if dot:
        return extension.lower() in EXTENSIONS if stem else len(extension) > 1 and extension[0].isalpha()
    return name in FILE_NAMES
