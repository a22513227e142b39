; Definitions and imports of Perl.
(package_statement name: (package) @name) @constant
(subroutine_declaration_statement name: (bareword) @name) @function
(method_declaration_statement name: (bareword) @name) @function
(class_statement name: (package) @name) @class
(use_statement module: (package) @import)
