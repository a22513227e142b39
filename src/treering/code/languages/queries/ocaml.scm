; Definitions of OCaml.
(module_definition (module_binding (module_name) @name)) @module
(module_type_definition (module_type_name) @name) @interface
(value_definition (let_binding pattern: (value_name) @name)) @function
(type_definition (type_binding name: (type_constructor) @name)) @type
(class_definition (class_binding (class_name) @name)) @class
(method_definition name: (method_name) @name) @method
(exception_definition (constructor_declaration (constructor_name) @name)) @type
(external (value_name) @name) @function
