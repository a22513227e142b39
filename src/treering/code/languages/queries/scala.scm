; Definitions and imports of Scala.
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(package_object name: (_) @name) @module
(trait_definition name: (_) @name) @trait
(enum_definition name: (_) @name) @enum
(simple_enum_case name: (_) @name) @constant
(full_enum_case name: (_) @name) @class
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(type_definition name: (_) @name) @type
(compilation_unit (val_definition pattern: (identifier) @name) @constant)
(template_body (val_definition pattern: (identifier) @name) @constant)
(enum_body (val_definition pattern: (identifier) @name) @constant)
(compilation_unit (var_definition pattern: (identifier) @name) @constant)
(template_body (var_definition pattern: (identifier) @name) @constant)
(enum_body (var_definition pattern: (identifier) @name) @constant)
(val_declaration name: (identifier) @name) @constant
(given_definition name: (_) @name) @constant
(import_declaration) @import
(class_parameter name: (identifier) @name) @constant
