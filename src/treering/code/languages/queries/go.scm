; All nodes of a Go file that extraction needs, in one pass.

; Scopes: each opens at its start and closes at its end.
[
  (function_declaration)
  (method_declaration)
  (func_literal)
  (block)
  (for_statement)
  (expression_switch_statement)
  (type_switch_statement)
  (expression_case)
  (type_case)
  (default_case)
  (communication_case)
] @scope
(if_statement initializer: (_)) @scope

; Bindings of names to values or types.
[
  (short_var_declaration)
  (range_clause)
  (receive_statement)
  (var_spec)
  (const_spec)
  (type_spec)
  (type_alias)
] @binding
(type_switch_statement alias: (_) value: (_) @switched)

; Values that functions keep in variables of the package.
(assignment_statement) @kept

; `f[T](x)` with one argument parses as a conversion to the generic type `f[T]`.
(call_expression) @call
(type_conversion_expression type: (generic_type)) @call

[
  (expression_statement (call_expression) @unused)
  (go_statement (call_expression) @unused)
  (defer_statement (call_expression) @unused)
]

; Types that are named, and names and members that are used as values.
(type_identifier) @typed
(qualified_type) @outside_type
(argument_list (identifier) @named)
(literal_element (identifier) @named)
(expression_list (identifier) @named)
(index_expression operand: (identifier) @named)
(range_clause right: (identifier) @named)
(unary_expression operand: (identifier) @named)
(binary_expression (identifier) @named)
(selector_expression operand: (identifier) @named)
(argument_list (selector_expression) @selected)
(literal_element (selector_expression) @selected)
(expression_list (selector_expression) @selected)

; Commands of cobra and urfave/cli are values of a type called Command.
(composite_literal type: (qualified_type name: (type_identifier) @_type) (#match? @_type "^Command$")) @command
