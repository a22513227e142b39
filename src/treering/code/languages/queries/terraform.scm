; Blocks of Terraform: resources, variables, modules.
(block (identifier) @_kind . (string_lit (template_literal) @name) . (string_lit (template_literal) @name) (#any-of? @_kind "resource" "data")) @class
(block (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) (#any-of? @_kind "variable" "output")) @constant
(block (identifier) @_kind . (string_lit (template_literal) @name) . (block_start) (#any-of? @_kind "module" "provider")) @module
