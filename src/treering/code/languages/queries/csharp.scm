; Definitions of C#. Imports name namespaces, which are not files.
(namespace_declaration name: (_) @name) @module
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(enum_member_declaration name: (identifier) @name) @constant
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(destructor_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(property_declaration name: (identifier) @name) @constant
(event_declaration name: (identifier) @name) @constant
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @constant
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @constant
(indexer_declaration "this" @name) @method
(operator_declaration operator: _ @name) @method
(conversion_operator_declaration "operator" @name) @method
(record_declaration (parameter_list (parameter name: (identifier) @name) @constant))
