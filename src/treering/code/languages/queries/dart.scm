; Definitions and imports of Dart.
(class_definition name: (identifier) @name) @class
(mixin_declaration (identifier) @name) @class
(extension_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @enum
(enum_constant name: (identifier) @name) @constant
(type_alias (type_identifier) @name) @type
(function_signature name: (identifier) @name) @function
(getter_signature name: (identifier) @name) @function
(setter_signature name: (identifier) @name) @function
(constructor_signature name: (identifier) @name) @method
(import_specification (configurable_uri (uri) @import))
(library_export (configurable_uri (uri) @import))
(part_directive (uri) @import)
(factory_constructor_signature (identifier) . (identifier) @name) @method
(operator_signature "operator" . (_) @name) @method
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name) @constant))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @constant))
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name) @constant))
