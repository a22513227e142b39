; What JavaScript, TypeScript and TSX have in common. A query is asked about one statement at a time.

; What a file takes from another.
(import_statement source: (string) @source)
(import_statement (import_clause (identifier) @default))
(import_statement (import_clause (namespace_import (identifier) @namespace)))
(import_statement (import_clause (named_imports (import_specifier name: _ @name alias: _? @alias))))

; What a file gives to others.
(export_statement source: (string) @source)
(export_statement decorator: (_) @decorator)
(export_statement "default" @default)
(export_statement declaration: (_) @declaration)
(export_statement value: (_) @value)
(export_statement "*" @everything)
(export_statement (namespace_export (_) @namespace))
(export_statement (export_clause (export_specifier name: _ @name alias: _? @alias)))
