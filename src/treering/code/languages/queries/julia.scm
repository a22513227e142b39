; Definitions and includes of Julia.
(module_definition name: (identifier) @name) @module
(function_definition (signature (call_expression . (_) @name))) @function
(function_definition (signature (typed_expression (call_expression . (_) @name)))) @function
(function_definition (signature (where_expression (call_expression . (_) @name)))) @function
(assignment . (call_expression . (identifier) @name)) @function
(macro_definition (signature (call_expression . (_) @name))) @function
(struct_definition (type_head (identifier) @name)) @class
(struct_definition (type_head (binary_expression . (identifier) @name))) @class
(struct_definition (type_head (binary_expression . (parametrized_type_expression . (identifier) @name)))) @class
(struct_definition (type_head (parametrized_type_expression . (identifier) @name))) @class
(abstract_definition (type_head (identifier) @name)) @interface
(abstract_definition (type_head (binary_expression . (identifier) @name))) @interface
(call_expression . (identifier) @_include (argument_list . (string_literal) @import) (#eq? @_include "include"))
