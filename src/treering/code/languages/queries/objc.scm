; Definitions and imports of Objective-C.
(class_interface . "@interface" . (identifier) @name) @class
(class_implementation . "@implementation" . (identifier) @name) @class
(protocol_declaration . "@protocol" . (identifier) @name) @interface
(method_declaration (identifier) @name) @method
(method_definition (identifier) @name) @method
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (_ (function_declarator declarator: (identifier) @name))) @function
(struct_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @function
(preproc_include path: (string_literal) @import)
