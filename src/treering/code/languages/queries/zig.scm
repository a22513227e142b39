; Definitions and imports of Zig.
(Decl (FnProto function: (IDENTIFIER) @name)) @function
(Decl (VarDecl . variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "struct")))))) @class
(Decl (VarDecl . variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "union")))))) @class
(Decl (VarDecl . variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "opaque")))))) @class
(Decl (VarDecl . variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "enum")))))) @enum
(Decl (VarDecl . variable_type_function: (IDENTIFIER) @name (ErrorUnionExpr (SuffixExpr (ErrorSetDecl))))) @type
(TestDecl (STRINGLITERALSINGLE) @name) @function
(SuffixExpr (BUILTINIDENTIFIER) @_import (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @import))) (#eq? @_import "@import"))
(TestDecl (IDENTIFIER) @name) @function
