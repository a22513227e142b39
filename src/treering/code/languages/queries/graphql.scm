; Definitions of GraphQL schemas and operations.
(object_type_definition (name) @name) @class
(interface_type_definition (name) @name) @interface
(input_object_type_definition (name) @name) @class
(enum_type_definition (name) @name) @enum
(union_type_definition (name) @name) @type
(scalar_type_definition (name) @name) @type
(directive_definition (name) @name) @function
(field_definition (name) @name) @constant
(operation_definition (name) @name) @function
(fragment_definition (fragment_name (name) @name)) @function
