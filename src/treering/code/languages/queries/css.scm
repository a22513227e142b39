; Rules and imports of CSS.
(rule_set (selectors (_) @name)) @type
(keyframes_statement (keyframes_name) @name) @type
(import_statement (string_value) @import)
(import_statement (call_expression (arguments (string_value) @import)))
