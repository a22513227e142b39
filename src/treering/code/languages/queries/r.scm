; Functions and sourced files of R.
(binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"] rhs: (function_definition)) @function
(binary_operator lhs: (string) @name operator: ["<-" "="] rhs: (function_definition)) @function
(call function: (identifier) @_source arguments: (arguments . argument: (argument value: (string) @import)) (#eq? @_source "source"))
