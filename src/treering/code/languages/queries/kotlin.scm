; Definitions and imports of Kotlin.
(class_declaration "class" (type_identifier) @name) @class
(class_declaration "interface" (type_identifier) @name) @interface
(object_declaration (type_identifier) @name) @class
(companion_object (type_identifier) @name) @class
(function_declaration (simple_identifier) @name) @function
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
(enum_class_body (property_declaration (variable_declaration (simple_identifier) @name)) @constant)
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @constant
(enum_entry (simple_identifier) @name) @constant
(type_alias (type_identifier) @name) @type
(import_header (identifier) @import)
