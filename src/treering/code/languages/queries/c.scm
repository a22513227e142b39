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
