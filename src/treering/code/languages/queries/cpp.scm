; Definitions and imports of C++, and of headers.
(function_definition declarator: (function_declarator declarator: (_) @name) (#not-match? @name "^(TYPED_)?TEST(_[FP])?$")) @function
(function_definition declarator: (function_declarator declarator: (identifier) @_macro parameters: (parameter_list . (parameter_declaration type: (_) @name) . (parameter_declaration type: (_) @name) .)) (#any-of? @_macro "TEST" "TEST_F" "TEST_P" "TYPED_TEST" "TYPED_TEST_P")) @function
(function_definition declarator: (_ (function_declarator declarator: (_) @name))) @function
(function_definition declarator: (_ (_ (function_declarator declarator: (_) @name)))) @function
(function_definition declarator: (operator_cast type: (_) @name)) @function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @method
(field_declaration declarator: (_ (function_declarator declarator: (field_identifier) @name))) @method
(class_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)] body: (_)) @class
(struct_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)] body: (_)) @class
(union_specifier name: [(type_identifier) @name (qualified_identifier) @name (template_type name: (_) @name)] body: (_)) @class
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
(type_definition declarator: (reference_declarator (type_identifier) @name)) @type
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
(declaration_list (declaration declarator: (init_declarator declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))]) @constant))
(declaration_list (declaration (storage_class_specifier) @_storage declarator: [(identifier) @name (array_declarator declarator: (identifier) @name) (array_declarator declarator: (array_declarator declarator: (identifier) @name)) (pointer_declarator declarator: (identifier) @name) (pointer_declarator declarator: (array_declarator declarator: (identifier) @name))] (#eq? @_storage "static")) @constant)
