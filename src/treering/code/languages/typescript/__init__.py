"""TypeScript, TSX and JavaScript: read by tree-sitter, resolved as the compiler does it, without running anything."""

from treering.code.languages.typescript.language import TypeScript

LANGUAGE = TypeScript()
