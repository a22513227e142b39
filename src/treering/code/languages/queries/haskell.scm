; Definitions and imports of Haskell.
(header module: (module) @name) @constant
(function name: (variable) @name) @function
(bind name: (variable) @name) @function
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synomym name: (_) @name) @type
(class name: (_) @name) @interface
(import module: (module) @import)
