; Definitions and imports of Protocol Buffers.
(message (message_name) @name) @class
(enum (enum_name) @name) @enum
(service (service_name) @name) @interface
(rpc (rpc_name) @name) @method
(import path: (string) @import)
