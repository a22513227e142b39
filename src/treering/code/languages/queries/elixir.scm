; Modules and functions of Elixir.
(call target: (identifier) @_keyword (arguments . (alias) @name) (do_block) (#any-of? @_keyword "defmodule" "defprotocol")) @module
(call target: (identifier) @_keyword (arguments . (alias) @name) (#eq? @_keyword "defimpl")) @class
(call target: (identifier) @_keyword (arguments . (identifier) @name) (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop" "defguard" "defdelegate")) @function
(call target: (identifier) @_keyword (arguments . (call target: (identifier) @name)) (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate")) @function
(call target: (identifier) @_keyword (arguments . (binary_operator left: (call target: (identifier) @name) operator: "when")) (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp")) @function
(call target: (identifier) @_keyword (arguments . (binary_operator left: (identifier) @name operator: "when")) (#any-of? @_keyword "def" "defp" "defmacro" "defmacrop")) @function
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments . (binary_operator left: [(call target: (identifier) @name) (identifier) @name] operator: "::"))) (#any-of? @_attribute "type" "typep" "opaque")) @type
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute (arguments . (binary_operator left: (call target: (identifier) @name) operator: "::"))) (#any-of? @_attribute "callback" "macrocallback")) @function
(call target: (identifier) @_keyword (arguments . (string (quoted_content) @name)) (do_block) (#any-of? @_keyword "test" "describe")) @function
