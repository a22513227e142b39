; Definitions and imports of shell scripts.
(function_definition name: (word) @name) @function
(command name: (command_name (word) @_command) . argument: [(word) (string) (raw_string)] @import (#any-of? @_command "source" "." "load"))
(command name: (command_name (word) @_command) . argument: (string) @name (#eq? @_command "@test")) @function
