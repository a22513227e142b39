; Definitions and imports of Ruby.
(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name) @method
(alias name: (_) @name) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @import)) (#any-of? @_require "require" "require_relative" "load"))
