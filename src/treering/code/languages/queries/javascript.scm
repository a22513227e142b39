; Nodes that differ between the JavaScript and the TypeScript grammar.

(class_heritage (expression) @base)
