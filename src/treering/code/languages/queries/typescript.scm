; Nodes that only TypeScript and TSX have, or that differ from JavaScript.

(import_statement (import_require_clause (identifier) @required source: (string) @source))

; A class extends one class and implements any number of types; an interface extends any number.
(class_heritage (extends_clause . value: (_) @base . type_arguments: (_)? @given))
(class_heritage (implements_clause (_) @interface))
(interface_declaration (extends_type_clause type: (_) @base))
