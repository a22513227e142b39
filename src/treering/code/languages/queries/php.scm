; Definitions and imports of PHP.
(namespace_definition name: (namespace_name) @name body: (_)) @module
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @constant
(method_declaration name: (name) @name) @method
(function_definition name: (name) @name) @function
(const_element . (name) @name) @constant
(property_element name: (variable_name (name) @name)) @constant
(namespace_use_clause (qualified_name) @import)
(require_expression (string (string_content) @import))
(require_once_expression (string (string_content) @import))
(include_expression (string (string_content) @import))
(include_once_expression (string (string_content) @import))
(property_promotion_parameter name: (variable_name (name) @name)) @constant
