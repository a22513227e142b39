; Rules, mixins, functions and imports of SCSS.
(rule_set (selectors (_) @name)) @type
(keyframes_statement (keyframes_name) @name) @type
(mixin_statement name: (identifier) @name) @function
(function_statement name: (identifier) @name) @function
(import_statement (string_value) @import)
(use_statement (string_value) @import)
(forward_statement (string_value) @import)
