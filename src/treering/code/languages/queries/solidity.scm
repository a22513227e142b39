; Definitions and imports of Solidity.
(contract_declaration name: (identifier) @name) @class
(library_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(struct_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @enum
(function_definition name: (identifier) @name) @function
(modifier_definition name: (identifier) @name) @function
(event_definition name: (identifier) @name) @type
(error_declaration name: (identifier) @name) @type
(import_directive source: (string) @import)
