; Definitions of Swift. Imports name modules, which are not files.
(class_declaration declaration_kind: ["class" "struct" "actor" "extension"] name: (_) @name) @class
(class_declaration declaration_kind: "enum" name: (_) @name) @enum
(protocol_declaration name: (_) @name) @interface
(function_declaration "func" . name: _ @name) @function
(protocol_function_declaration name: (_) @name) @method
(init_declaration name: "init" @name) @method
(deinit_declaration "deinit" @name) @method
(subscript_declaration "subscript" @name) @method
(enum_entry name: (simple_identifier) @name) @constant
(typealias_declaration "typealias" . name: (_) @name) @type
(associatedtype_declaration name: (_) @name) @type
(source_file (property_declaration name: (pattern (simple_identifier) @name)) @constant)
(class_body (property_declaration name: (pattern (simple_identifier) @name)) @constant)
(enum_class_body (property_declaration name: (pattern (simple_identifier) @name)) @constant)
(protocol_property_declaration name: (pattern (simple_identifier) @name)) @constant
