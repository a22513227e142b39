; Definitions and includes of Erlang.
(module_attribute name: (_) @name) @constant
(fun_decl clause: (function_clause name: (_) @name)) @function
(record_decl name: (_) @name) @type
(type_alias name: (type_name name: (_) @name)) @type
(opaque name: (type_name name: (_) @name)) @type
(pp_define lhs: (macro_lhs name: (_) @name)) @constant
(pp_include file: (_) @import)
