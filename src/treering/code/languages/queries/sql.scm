; Objects that SQL creates.
(create_table (object_reference) @name) @class
(create_view . (_)* (object_reference) @name) @class
(create_materialized_view (object_reference) @name) @class
(create_function . (_)* (object_reference) @name) @function
(create_type (object_reference) @name) @type
(create_index column: (_)? . (identifier)? @name) @constant
(create_trigger . (_)* (object_reference) @name) @function
(create_schema (identifier) @name) @constant
(create_sequence (object_reference) @name) @constant
