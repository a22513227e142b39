; All nodes of a Python file that extraction needs: definitions, bindings, branches and calls.

(decorated_definition) @decorated
(function_definition) @function
(class_definition) @class
(lambda) @lambda

(call) @call
(attribute) @attribute
(expression_statement (call) @discarded)
(expression_statement (await (call) @discarded))

(assignment) @assignment
(augmented_assignment) @augmented
(named_expression) @walrus
(type_alias_statement) @alias
(for_statement) @for
(for_in_clause) @comprehended
(if_clause) @guard
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(with_item value: (as_pattern)) @with
(with_item value: (_) @context)
(except_clause) @except
(import_statement) @import
(import_from_statement) @from
(global_statement) @global
(nonlocal_statement) @nonlocal

(if_statement) @if
(elif_clause) @elif
(else_clause) @else
(while_statement) @while
(try_statement) @try
(case_clause) @case
(assert_statement) @assert
(conditional_expression (call function: (identifier) @_test (#eq? @_test "isinstance"))) @choice
(boolean_operator (call function: (identifier) @_test (#eq? @_test "isinstance"))) @both

(raise_statement) @raise
(return_statement) @return
(yield) @yield
