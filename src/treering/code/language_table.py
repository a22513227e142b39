"""The languages and text formats of files: names, suffixes, grammars and import rules. Data only."""

from enum import StrEnum
from typing import NamedTuple

from treering.code.tsconfig_names import TSCONFIG_NAMES


class ContentKind(StrEnum):
    """What a file holds."""

    CODE = "code"
    PROSE = "prose"
    CONFIGURATION = "configuration"
    DATA = "data"


class LanguageInfo(NamedTuple):
    """A language whose definitions, imports, calls and types are resolved by a package of its own."""

    name: str
    suffixes: tuple[str, ...]
    manifests: tuple[str, ...]


class ImportRule(NamedTuple):
    """How the text of an import leads to a file of the project; the first candidate that exists is taken.

    A candidate is the text with `separator` replaced by a slash, completed by one of `endings`.
    """

    endings: tuple[str, ...] = ("",)
    separator: str = "/"
    beside: bool = True
    """Whether the path is tried relative to the importing file first."""
    anywhere: bool = True
    """Whether it may be the end of any path of the project, if only one file has it."""
    extra_head: int = 0
    """Leading parts that may name something other than a folder, such as the root namespace."""
    extra_tail: int = 0
    """Trailing parts that may name something inside the file, such as a member of a class."""
    prefix: str = ""
    """Beginning of the text that does not belong to the path."""


class DefinitionLanguage(NamedTuple):
    """A language of which definitions and imports are read, with `queries/NAME.scm`; calls are not."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str
    """Name of the grammar in tree-sitter-language-pack."""
    imports: ImportRule | None = None
    names: tuple[str, ...] = ()
    """Names of files that have none of the suffixes."""
    shares_names_with: str = ""
    """Another language whose definitions are used here by name, and the other way round."""

    @property
    def name_group(self) -> str:
        """The language that stands for all those with which this one shares names."""
        return self.shares_names_with or self.name


class TextFormat(NamedTuple):
    """A format without definitions; its files are searched, but are not part of the graph."""

    name: str
    kind: ContentKind
    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


PROJECT_FILES = (
    *("CMakeLists.txt", "Gemfile", "Package.swift", "build.gradle", "build.gradle.kts", "build.sbt", "build.zig"),
    *("composer.json", "mix.exs", "pom.xml", "pubspec.yaml", "rebar.config"),
)
"""Files that mark the root of a project in a language without manifests of its own: build output is beside them."""

LANGUAGES = (
    LanguageInfo("go", (".go",), ("go.mod", "go.work")),
    LanguageInfo("python", (".py", ".pyi"), ("pyproject.toml",)),
    LanguageInfo("rust", (".rs",), ("Cargo.toml",)),
    LanguageInfo(
        "typescript",
        (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"),
        (*TSCONFIG_NAMES, "package.json"),
    ),
)

_INCLUDE = ImportRule()
_BESIDE = ImportRule(anywhere=False)
_CLASS_PATH = ImportRule((".java", ".kt", ".scala"), ".", beside=False, extra_tail=2)

DEFINITION_LANGUAGES = (
    DefinitionLanguage(
        "bash",
        (".sh", ".bash", ".zsh", ".ksh", ".bats"),
        "bash",
        ImportRule(("", ".bash", ".sh")),
        (".bashrc", ".zshrc"),
    ),
    DefinitionLanguage("c", (".c",), "c", _INCLUDE),
    # Headers are read as C++, whose grammar also accepts C.
    DefinitionLanguage(
        "cpp",
        (".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp", ".inl", ".cu", ".cuh", ".ino"),
        "cpp",
        _INCLUDE,
        shares_names_with="c",
    ),
    DefinitionLanguage("csharp", (".cs", ".csx"), "csharp"),
    DefinitionLanguage("css", (".css",), "css", _BESIDE),
    DefinitionLanguage("dart", (".dart",), "dart", ImportRule(prefix="package:", extra_head=1)),
    DefinitionLanguage("elixir", (".ex", ".exs"), "elixir"),
    DefinitionLanguage("erlang", (".erl", ".hrl"), "erlang", _INCLUDE),
    DefinitionLanguage("graphql", (".graphql", ".gql"), "graphql"),
    DefinitionLanguage("haskell", (".hs",), "haskell", ImportRule((".hs",), ".", beside=False)),
    DefinitionLanguage("html", (".html", ".htm"), "html", _BESIDE, shares_names_with="css"),
    DefinitionLanguage("java", (".java",), "java", _CLASS_PATH),
    DefinitionLanguage("julia", (".jl",), "julia", _INCLUDE),
    DefinitionLanguage("kotlin", (".kt", ".kts"), "kotlin", _CLASS_PATH, shares_names_with="java"),
    DefinitionLanguage("lua", (".lua", ".rockspec"), "lua", ImportRule((".lua", "/init.lua"), ".", beside=False)),
    DefinitionLanguage("objc", (".m", ".mm"), "objc", _INCLUDE, shares_names_with="c"),
    DefinitionLanguage("ocaml", (".ml",), "ocaml"),
    DefinitionLanguage("perl", (".pl", ".pm", ".t"), "perl", ImportRule((".pm",), "::", beside=False)),
    DefinitionLanguage("php", (".php", ".phtml"), "php", ImportRule(("", ".php"), "\\", extra_head=2)),
    DefinitionLanguage("powershell", (".ps1", ".psm1"), "powershell"),
    DefinitionLanguage("proto", (".proto",), "proto", _INCLUDE),
    DefinitionLanguage("r", (".r", ".R"), "r", _INCLUDE),
    DefinitionLanguage("ruby", (".rb", ".rake", ".gemspec"), "ruby", ImportRule((".rb", "")), ("Gemfile", "Rakefile")),
    DefinitionLanguage(
        "scala", (".scala", ".sc", ".sbt"), "scala", _CLASS_PATH._replace(prefix="import "), shares_names_with="java"
    ),
    DefinitionLanguage("scss", (".scss",), "scss", ImportRule((".scss", ""), anywhere=False), shares_names_with="css"),
    DefinitionLanguage("solidity", (".sol",), "solidity", _INCLUDE),
    DefinitionLanguage("sql", (".sql", ".ddl"), "sql"),
    DefinitionLanguage("swift", (".swift",), "swift"),
    DefinitionLanguage("terraform", (".tf",), "terraform"),
    DefinitionLanguage("zig", (".zig",), "zig", _BESIDE),
)

_PROSE, _CONFIGURATION, _DATA = ContentKind.PROSE, ContentKind.CONFIGURATION, ContentKind.DATA

TEXT_FORMATS = (
    TextFormat("asciidoc", _PROSE, (".adoc", ".asciidoc")),
    TextFormat("markdown", _PROSE, (".md", ".mdx", ".markdown", ".mdc")),
    TextFormat("org", _PROSE, (".org",)),
    TextFormat("restructuredtext", _PROSE, (".rst",)),
    TextFormat("text", _PROSE, (".txt",), ("README", "CHANGELOG", "CONTRIBUTING", "AUTHORS", "NEWS", "TODO", "NOTICE")),
    TextFormat("cmake", _CONFIGURATION, (".cmake",), ("CMakeLists.txt",)),
    TextFormat("dockerfile", _CONFIGURATION, (".dockerfile",), ("Dockerfile", "Containerfile")),
    TextFormat("env", _CONFIGURATION, (), (".env.example", ".env.sample", ".env.template", ".env.dist")),
    TextFormat("ini", _CONFIGURATION, (".ini", ".cfg", ".conf", ".properties"), (".editorconfig", "CODEOWNERS")),
    TextFormat("gradle", _CONFIGURATION, (".gradle",)),
    TextFormat("makefile", _CONFIGURATION, (".mk", ".mak"), ("Makefile", "makefile", "GNUmakefile", "justfile")),
    TextFormat("nix", _CONFIGURATION, (".nix",)),
    TextFormat("toml", _CONFIGURATION, (".toml",)),
    TextFormat("yaml", _CONFIGURATION, (".yaml", ".yml")),
    TextFormat("csv", _DATA, (".csv", ".tsv")),
    TextFormat("json", _DATA, (".json", ".jsonc", ".json5", ".jsonl", ".ndjson", ".webmanifest")),
    TextFormat("xml", _DATA, (".xml", ".xsd", ".xsl", ".xslt", ".plist", ".csproj", ".fsproj", ".vcxproj", ".props")),
)

UNREAD_LANGUAGES = {
    "ada": (".adb", ".ads"),
    "apex": (".cls", ".trigger"),
    "assembly": (".s", ".S", ".asm"),
    "astro": (".astro",),
    "clojure": (".clj", ".cljs", ".cljc", ".edn"),
    "cobol": (".cob", ".cbl", ".cpy"),
    "coffeescript": (".coffee",),
    "common lisp": (".lisp", ".lsp"),
    "crystal": (".cr",),
    "cython": (".pyx", ".pxd"),
    "d": (".d",),
    "elm": (".elm",),
    "emacs lisp": (".el",),
    "f#": (".fs", ".fsi", ".fsx"),
    "fish": (".fish",),
    "fortran": (".f", ".for", ".f90", ".f95", ".f03", ".f08"),
    "gdscript": (".gd",),
    "glsl": (".glsl", ".vert", ".frag"),
    "groovy": (".groovy",),
    "hack": (".hack",),
    "handlebars": (".hbs", ".handlebars"),
    "haxe": (".hx",),
    "hlsl": (".hlsl",),
    "jinja": (".j2", ".jinja", ".jinja2"),
    "jq": (".jq",),
    "jupyter notebook": (".ipynb",),
    "latex": (".tex", ".sty"),
    "less": (".less",),
    "liquid": (".liquid",),
    "m4": (".m4", ".ac", ".am"),
    "matlab": (".mlx",),
    "metal": (".metal",),
    "mustache": (".mustache",),
    "nim": (".nim",),
    "ocaml interface": (".mli",),
    "pascal": (".pas", ".pp", ".dpr"),
    "prisma": (".prisma",),
    "purescript": (".purs",),
    "racket": (".rkt",),
    "sass": (".sass",),
    "scheme": (".scm", ".ss"),
    "smarty": (".tpl",),
    "starlark": (".bzl", ".star"),
    "svelte": (".svelte",),
    "tcl": (".tcl",),
    "teal": (".tl",),
    "template of elixir": (".eex", ".heex", ".leex"),
    "template of php": (".blade",),
    "template of ruby": (".erb", ".haml", ".slim"),
    "twig": (".twig",),
    "v": (".vsh",),
    "vala": (".vala",),
    "verilog": (".v", ".sv", ".svh", ".vh"),
    "vhdl": (".vhd", ".vhdl"),
    "vim script": (".vim",),
    "visual basic": (".vb", ".vbs", ".bas"),
    "vue": (".vue",),
    "webassembly": (".wat", ".wast"),
    "wgsl": (".wgsl",),
    "windows batch": (".bat", ".cmd"),
    "yacc and lex": (".y", ".l", ".yy", ".ll"),
}
"""Suffixes of languages without a reader: their files are counted, so that a report shows what was left out."""
