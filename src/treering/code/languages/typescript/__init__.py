"""TypeScript, TSX and JavaScript: parsed with tree-sitter and resolved like the compiler does, without running code."""

from treering.code.languages.typescript.language import TypeScript

LANGUAGE = TypeScript()
