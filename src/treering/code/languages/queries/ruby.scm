; Definitions and imports of Ruby.
(module name: (_) @name) @module
(class name: (_) @name) @class
(method name: (_) @name) @function
(singleton_method name: (_) @name) @method
(alias name: (_) @name) @function
(assignment left: (constant) @name) @constant
(call method: (identifier) @_require arguments: (argument_list . (string (string_content) @import)) (#any-of? @_require "require" "require_relative" "load"))
(call method: (identifier) @_method arguments: (argument_list (simple_symbol) @name @method) (#any-of? @_method "attr_reader" "attr_writer" "attr_accessor"))
(call method: (identifier) @_method arguments: (argument_list . (simple_symbol) @name) (#any-of? @_method "alias_method" "define_method")) @method
