; Definitions and imports of C.
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator (pointer_declarator (function_declarator declarator: (identifier) @name)))) @function
(struct_specifier name: (type_identifier) @name body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(enumerator name: (identifier) @name) @constant
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @function
(preproc_include path: (string_literal) @import)
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @type
; Variables of a file: with a value, or static.
(translation_unit (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @constant))
(translation_unit (declaration (storage_class_specifier) @_storage declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] (#eq? @_storage "static")) @constant)
(preproc_ifdef (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @constant))
(preproc_ifdef (declaration (storage_class_specifier) @_storage declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] (#eq? @_storage "static")) @constant)
(preproc_if (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @constant))
(preproc_if (declaration (storage_class_specifier) @_storage declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] (#eq? @_storage "static")) @constant)
(preproc_else (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @constant))
(preproc_else (declaration (storage_class_specifier) @_storage declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] (#eq? @_storage "static")) @constant)
