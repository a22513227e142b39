; Definitions and imports of C++, and of headers.
(function_definition declarator: (function_declarator declarator: (_) @name)) @function
(function_definition declarator: (_ (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (_ (_ (function_declarator declarator: (_) @name)))) @function
(function_definition declarator: (operator_cast type: (_) @name)) @function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @method
(field_declaration declarator: (_ (function_declarator declarator: (field_identifier) @name))) @method
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(namespace_definition name: (_) @name) @module
(concept_definition name: (identifier) @name) @interface
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(alias_declaration name: (type_identifier) @name) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @function
(preproc_include path: (string_literal) @import)
