; Definitions and imports of Lua.
(function_declaration name: [(identifier) (dot_index_expression)] @name) @function
(function_declaration name: (method_index_expression table: (_) @name method: (_) @name)) @function
(assignment_statement (variable_list . name: [(identifier) (dot_index_expression) (bracket_index_expression field: (string))] @name) (expression_list . value: (function_definition))) @function
(field name: (identifier) @name value: (function_definition)) @function
(function_call name: (identifier) @_require arguments: (arguments . (string content: (_) @import)) (#eq? @_require "require"))
