; Patterns shared by JavaScript, TypeScript and TSX. The query runs on one statement at a time.

; Imports.
(import_statement source: (string) @source)
(import_statement (import_clause (identifier) @default))
(import_statement (import_clause (namespace_import (identifier) @namespace)))
(import_statement (import_clause (named_imports (import_specifier name: _ @name alias: _? @alias))))

; Exports.
(export_statement source: (string) @source)
(export_statement decorator: (_) @decorator)
(export_statement "default" @default)
(export_statement declaration: (_) @declaration)
(export_statement value: (_) @value)
(export_statement "*" @everything)
(export_statement (namespace_export (_) @namespace))
(export_statement (export_clause (export_specifier name: _ @name alias: _? @alias)))
